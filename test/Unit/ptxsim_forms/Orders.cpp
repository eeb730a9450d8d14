// What ld.acquire, st.release and the orders of atom and red order: a thread
// writes data, then a flag; another one sees the flag and reads the data. That
// is a race unless the flag is released and acquired with scopes that have both
// threads. The forms' values have tests in Load.cpp, Store.cpp and Atomic.cpp.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Message.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;
using testing::HasSubstr;

namespace {

struct Order {
  std::string name;
  bool orders;
};

/// Every way of a form to set (or get) the flag, in all scopes; the other side
/// does it rightly.
void expectOrders(const std::string &op, const std::vector<Order> &orders,
                  bool writes) {
  const Flag flags[] = {
      {"", false},      {"global", false},     {"", true},
      {"shared", true}, {"shared::cta", true}, {"shared::cluster", true}};
  for (const Flag &flag : flags)
    for (const Order &order : orders)
      for (const std::string scope : {"", "cta", "cluster", "gpu", "sys"})
        for (const Apart apart : {Apart::Warps, Apart::Ctas, Apart::Clusters}) {
          // ld and st have scopes, or they are weak.
          if (op.size() == 2 && scope.empty())
            continue;
          if (flag.shared && (apart == Apart::Clusters ||
                              (apart == Apart::Ctas && !flag.space.empty() &&
                               flag.space != "shared::cluster")))
            continue;
          const auto dotted = [](const std::string &word) {
            return word.empty() ? word : "." + word;
          };
          std::string form =
              op + dotted(order.name) + dotted(scope) + dotted(flag.space);
          const std::string space = dotted(flag.space);
          if (op == "ld")
            form += ".b32 %r, [%flag];";
          else if (op == "st")
            form += ".b32 [%flag], 1;";
          else if (op == "red")
            form += ".add.u32 [%flag], 1;";
          else
            form += ".add.u32 %r, [%flag], " + std::string(writes ? "1" : "0") +
                    ";";
          const std::string said = message(
              apart, flag,
              writes ? form : "st.release.sys" + space + ".b32 [%flag], 1;",
              writes ? "ld.acquire.sys" + space + ".b32 %r, [%flag];" : form);
          // Without a scope it is .gpu.
          if (order.orders && inScope(scope, apart))
            EXPECT_EQ(said, "") << form << " " << int(apart);
          else
            EXPECT_THAT(said, HasSubstr("race")) << form << " " << int(apart);
        }
}

} // namespace

TEST(Orders, OfLoads) {
  expectOrders("ld", {{"relaxed", false}, {"acquire", true}}, false);
}

TEST(Orders, OfStores) {
  expectOrders("st", {{"relaxed", false}, {"release", true}}, true);
}

TEST(Orders, OfReductions) {
  expectOrders("red", {{"", false}, {"relaxed", false}, {"release", true}},
               true);
}

TEST(Orders, OfAtomics) {
  expectOrders("atom",
               {{"", false},
                {"relaxed", false},
                {"acquire", false},
                {"release", true},
                {"acq_rel", true}},
               true);
  expectOrders("atom",
               {{"", false},
                {"relaxed", false},
                {"acquire", true},
                {"release", false},
                {"acq_rel", true}},
               false);
}

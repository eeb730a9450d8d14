// What ld.acquire, st.release and the orders of atom and red order: a thread
// writes data, then a flag; another one sees the flag and reads the data. That
// is a race unless the flag is released and acquired with scopes that have both
// threads. The forms' values have tests in Load.cpp, Store.cpp and Atomic.cpp.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim;
using namespace ptxsim::forms;
using testing::HasSubstr;

namespace {

enum class Apart { Warps, Ctas, Clusters };

/// Where the flag is, and by which kind of address it is reached.
struct Flag {
  std::string space; ///< of the forms; empty: generic
  bool shared;
};

/// What a run says in which `write` sets the flag and `read` gets it, as
/// statements with %flag, its address, and %r.
std::string message(Apart apart, const Flag &flag, const std::string &write,
                    const std::string &read) {
  DeviceOptions options;
  options.checks.globalRaces = true;
  const bool warps = apart == Apart::Warps, cluster = apart == Apart::Ctas;
  std::string setFlag = "  ld.param.u64 %flag, [flag];\n";
  if (flag.shared) {
    setFlag = "  mov.u64 %flag, inShared;\n";
    // The reader's way to the flag of the writer's CTA.
    if (cluster)
      setFlag += "  mapa.shared::cluster.u64 %flag, %flag, 0;\n";
    if (flag.space.empty())
      setFlag += std::string("  cvta.shared") + (cluster ? "::cluster" : "") +
                 ".u64 %flag, %flag;\n";
  }
  const std::string meet = cluster ? "  barrier.cluster.arrive;\n"
                                     "  barrier.cluster.wait;\n"
                           : warps ? "  barrier.sync 0;\n"
                                   : "";
  Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out)
)" + std::string(cluster ? ".reqnctapercluster 2, 1, 1\n" : "") +
                      R"({
  .shared .b32 inShared;
  .reg .b32 %me, %r, %i; .reg .b64 %data, %flag, %out; .reg .pred %p, %q;
  ld.param.u64 %data, [data];
  ld.param.u64 %out, [out];
)" + setFlag +
                      (warps
                           ? "  mov.u32 %me, %tid.x;\n  shr.u32 %me, %me, 5;\n"
                           : "  mov.u32 %me, %ctaid.x;\n") +
                      R"(  mov.u32 %r, %tid.x;
  setp.eq.u32 %q, %r, 0;
  @%q st.shared.b32 [inShared], 0;
)" + meet + R"(
  and.b32 %r, %r, 31;
  setp.ne.u32 %p, %r, 0;
  @%p bra END;
  setp.ne.u32 %p, %me, 0;
  @%p bra READER;
  st.global.b32 [%data], 42;
  )" + write + R"(
  bra END;
READER:
  mov.u32 %i, 0;
AGAIN:
  add.u32 %i, %i, 1;
  setp.gt.u32 %p, %i, 10000;
  @%p bra END;
  mov.u32 %r, 0;
  )" + read + R"(
  setp.eq.u32 %p, %r, 0;
  @%p bra AGAIN;
  ld.global.b32 %r, [%data];
  st.global.b32 [%out], %r;
END:
)" + (cluster ? meet : "") +
                      "  ret;\n}\n",
                  options);
  EXPECT_EQ(program.loadError, "") << write << read;
  if (!program.module)
    return "";
  const uint64_t data = program.buffer("data", std::vector<uint32_t>(1));
  const uint64_t at = program.buffer("flag", std::vector<uint32_t>(1));
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(1));
  const Status status = program.run({data, at, out}, {warps ? 64u : 32u, 1, 1},
                                    {warps ? 1u : 2u, 1, 1});
  if (status.ok())
    EXPECT_EQ(program.read<uint32_t>(out, 1)[0], 42u) << write << read;
  return status.message();
}

bool inScope(const std::string &scope, Apart apart) {
  return apart == Apart::Warps ||
         (apart == Apart::Ctas ? scope != "cta"
                               : scope != "cta" && scope != "cluster");
}

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

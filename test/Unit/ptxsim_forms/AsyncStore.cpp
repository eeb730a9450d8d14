// st.async and red.async: one thread stores to, or reduces in, the shared
// memory of another CTA, whose mbarrier tells that it is there.

#include "test/Unit/ptxsim_forms/Deliveries.h"
#include "test/Unit/ptxsim_forms/Reduction.h"

using namespace ptxsim::forms;

namespace {

/// `n` elements of in0, as operand, to byte 80; the memory then.
Words deliver(const std::string &name, const std::string &space, unsigned bytes,
              unsigned n, const Setup &setup) {
  std::string before, operand;
  for (unsigned i = 0; i < n; ++i) {
    const std::string element =
        (bytes == 8 ? "%d2" : "%r2") + std::to_string(i);
    before += "ld.global.b" + std::to_string(bytes * 8) + " " + element +
              ", [%d1+" + std::to_string(i * bytes) + "];\n";
    operand += (i ? ", " : "") + element;
  }
  if (n > 1)
    operand = "{" + operand + "}";
  return deliver(
      {To::Other, name, operand, "", 80, n * bytes, 256, space.empty(), before},
      setup);
}

void store(const std::string &name, const std::string &space, unsigned bytes,
           unsigned n) {
  Setup setup;
  setup.in0 = numbers(8, 31), setup.in1 = numbers(64, 32);
  Words expected = setup.in1, received = setup.in1;
  std::copy_n(setup.in0.begin(), n * bytes / 4, received.begin() + 20);
  expected.insert(expected.end(), received.begin(), received.end());
  EXPECT_EQ(deliver(name, space, bytes, n, setup), expected);
}

void reduce(const std::string &name, const std::string &space,
            const std::string &op, const std::string &type) {
  std::mt19937_64 random(op.size());
  const unsigned bytes = reductionBytes(type);
  for (unsigned i = 0; i < 8; ++i) {
    const uint64_t m = pickOperand(op, type, random),
                   s = i == 7 ? m : pickOperand(op, type, random);
    Setup setup;
    setup.in0.resize(2);
    put(setup.in0, 0, s, bytes);
    setup.in1 = numbers(64, 33);
    put(setup.in1, 80, m, bytes);
    Words expected = setup.in1, received = setup.in1;
    put(received, 80, reduced(op, type, m, s), bytes);
    expected.insert(expected.end(), received.begin(), received.end());
    EXPECT_EQ(deliver(name, space, bytes, 1, setup), expected);
  }
}

} // namespace

FORMS(asyncStore) {
  const std::string arrives = ".mbarrier::complete_tx::bytes";
  for (const char *space : {"", ".shared::cluster"}) {
    for (const char *weak : {"", ".weak"})
      for (unsigned n : {1, 2, 4})
        for (const char *type :
             {"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
          const unsigned bytes = reductionBytes(type);
          if (n * bytes > 16)
            continue;
          const std::string name =
              std::string("st.async") + weak + space + arrives +
              (n > 1 ? ".v" + std::to_string(n) : "") + "." + type;
          form(name, [=] { store(name, space, bytes, n); });
        }
    const std::string types[][2] = {
        {"inc", "u32"}, {"dec", "u32"}, {"min", "u32"}, {"min", "s32"},
        {"max", "u32"}, {"max", "s32"}, {"add", "u32"}, {"add", "s32"},
        {"add", "u64"}, {"add", "s64"}, {"and", "b32"}, {"or", "b32"},
        {"xor", "b32"}};
    for (const auto &[op, type] : types) {
      const std::string name = std::string("red.async.relaxed.cluster") +
                               space + arrives + "." + op + "." + type;
      form(name, [=, op = op, type = type] { reduce(name, space, op, type); });
    }
  }
}

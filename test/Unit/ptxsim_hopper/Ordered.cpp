#include "test/Unit/ptxsim_hopper/Ordered.h"

using namespace ptxsim;

namespace hopper {

std::string fault(const std::string &body, uint32_t threads, uint32_t ctas,
                  bool spins, Checks checks) {
  std::string first;
  bool isFirst = true;
  for (Schedule schedule : {Schedule::RoundRobin, Schedule::Reverse,
                            Schedule::Random, Schedule::Greedy})
    for (bool lazy : {false, true}) {
      if (spins && schedule == Schedule::Greedy)
        continue;
      DeviceOptions options;
      options.schedule = schedule, options.seed = 3;
      options.async = lazy ? Async::Lazy : Async::Eager;
      options.threads = 1;
      options.checks = checks;
      Program program(kernel(body), options);
      uint64_t out = program.buffer(std::vector<uint32_t>(1024), "out"),
               in = program.buffer(std::vector<uint32_t>(1024, 7), "in0");
      const std::string text =
          program.run(threads, out, in, 0, {}, {ctas, 1, 1}, Dim3{ctas, 1, 1});
      if (std::exchange(isFirst, false))
        first = text;
      else
        EXPECT_EQ(text.empty(), first.empty()) << text << first << body;
    }
  return first;
}

std::string begin(int count) {
  return R"(
    setp.eq.u32 %p0, %r0, 0;
    setp.lt.u32 %p1, %r0, 32;
    and.b32 %r5, %r0, 31;
    setp.eq.u32 %p3, %r5, 0;
    mad.lo.u32 %r2, %r0, 4, %r1;
    add.u32 %r2, %r2, 1024;
    xor.b32 %r3, %r2, 128;
    xor.b32 %r4, %r2, 4;
    mov.u32 %r6, 0;
    st.shared.b32 [%r2], %r6;
    @%p0 mbarrier.init.shared.b64 [%r1], )" +
         std::to_string(count) + R"(;
    @%p0 mbarrier.init.shared.b64 [%r1+8], 1;
    bar.sync 0;
)";
}

std::string waitFor(const std::string &guard, int parity,
                    const std::string &modifiers, int offset) {
  static int number = 0;
  const std::string label = "W" + std::to_string(number++);
  return (guard.empty() ? "" : guard + " bra E" + label + ";\n") + label +
         ": mbarrier.try_wait.parity" + modifiers + " %p2, [%r1+" +
         std::to_string(offset) + "], " + std::to_string(parity) +
         ";\n@!%p2 bra " + label + ";\nE" + label + ":\n";
}

} // namespace hopper

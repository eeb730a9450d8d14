#include "test/Unit/ptxsim_forms/Deliveries.h"

namespace ptxsim::forms {

unsigned ctas(To to) { return to == To::Own ? 1 : to == To::Other ? 2 : 4; }

bool receives(To to, unsigned cta) {
  return to == To::Own || (to == To::Other ? cta == 1 : cta != 2);
}

namespace {

const char *policy = "createpolicy.fractional.L2::evict_last.b64 %d8, 1.0;\n";

} // namespace

Words deliver(const Delivery &d, Setup setup) {
  const unsigned n = ctas(d.to);
  setup.cluster = n;
  setup.options.async = Async::Lazy;
  setup.out.assign(n * d.window / 4, 0);
  const std::string window = std::to_string(d.window),
                    bytes = std::to_string(d.bytes), at = std::to_string(d.at);
  // %p1: this CTA receives; %p3: this thread copies.
  std::string body = fillShared(d.window) + policy + R"(
  mov.b64 %d5, %d1;
  mov.u32 %r10, %cluster_ctarank;
  setp.eq.u32 %p0, %r0, 0;
)" + d.before + R"(
  add.u32 %r2, %r1, 49152;
  @%p0 mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
)";
  body += n > 1 ? meet() : "bar.sync 0;\n";
  body += d.to == To::Own     ? "setp.eq.u32 %p1, %r0, %r0;\n"
          : d.to == To::Other ? "setp.eq.u32 %p1, %r10, 1;\n"
                              : "setp.ne.u32 %p1, %r10, 2;\n";
  body += "and.pred %p2, %p0, %p1;\n@%p2 "
          "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " +
          bytes + ";\n";
  std::string destination = "%r1", barrier = "%r2";
  if (d.to == To::Other) {
    // The transactions must be expected when they complete.
    body += meet() + "mapa.shared::cluster.u32 %r11, %r1, 1;\n"
                     "mapa.shared::cluster.u32 %r12, %r2, 1;\n";
    destination = "%r11", barrier = "%r12";
    if (d.generic) {
      body += "cvt.u64.u32 %d11, %r1;\ncvta.shared.u64 %d11, %d11;\n"
              "mapa.u64 %d11, %d11, 1;\nadd.u64 %d12, %d11, 49152;\n";
      destination = "%d11", barrier = "%d12";
    }
  } else if (d.to == To::Several) {
    body += meet() + "mov.b16 %h1, 11;\n";
  }
  body += "setp.eq.and.u32 %p3, %r10, " +
          std::string(d.to == To::Several ? "1" : "0") + ", %p0;\n@%p3 " +
          d.name + " [" + destination + "+" + at + "], " + d.source + ", [" +
          barrier + "]" + (d.to == To::Several ? ", %h1" : "") + d.last +
          ";\n@!%p1 bra ELSEWHERE;\n" + await("%r2") + "ELSEWHERE:\n";
  if (n > 1)
    body += meet();
  body += "mul.lo.u32 %r13, %r10, " + window + ";\n" +
          dumpShared(d.window, 32, "%r13");
  return launch(body, setup).out;
}

Words send(const std::string &copy, Setup setup) {
  setup.options.async = Async::Lazy;
  return launch(fillShared(unsigned(setup.in1.size()) * 4) + policy + R"(
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra SENT;
)" + copy + R"(
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
SENT:
)",
                setup)
      .in0;
}

} // namespace ptxsim::forms

#include "test/Unit/ptxsim_forms/Message.h"
#include "test/Unit/ptxsim_forms/Form.h"

namespace ptxsim::forms {

std::string message(Apart apart, const Flag &flag, const std::string &write,
                    const std::string &read, const std::string &behind) {
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
  )" + behind + R"(
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

} // namespace ptxsim::forms

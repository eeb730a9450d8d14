// cvta, isspacep: addresses of every space as generic ones and back, and the
// windows in which a generic address lies. The window of .param is in that of
// .global, that of .shared::cta in that of .shared::cluster.

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

using namespace ptxsim::forms;

namespace {

/// Runs two CTAs of a cluster with one thread each, which has the address of a
/// word in %global, %const, %shared, %peer (the other CTA's), %local and
/// %param, and the same as generic addresses in %gglobal and so on. In each of
/// the words is its index in that list. Results are `count` words of CTA 0.
std::vector<uint32_t> inAllSpaces(const std::string &body, size_t count) {
  const std::string text = R"(.version 8.7
.target sm_90a
.address_size 64
.global .b32 inGlobal = 0;
.const .b32 inConst = 1;
.visible .entry k(.param .u64 out, .param .u64 inParam)
.reqnctapercluster 2, 1, 1
{
  .shared .b32 inShared[2];
  .local .b32 inLocal[2];
  .reg .b32 %w, %rank;
  .reg .pred %p;
  .reg .b64 %out, %global, %const, %shared, %peer, %local, %param;
  .reg .b64 %gglobal, %gconst, %gshared, %gpeer, %glocal, %gparam, %x;
  ld.param.b64 %out, [out];
  mov.u32 %rank, %ctaid.x;
  mov.u64 %global, inGlobal;
  mov.u64 %const, inConst;
  mov.u64 %shared, inShared+4;
  mov.u64 %local, inLocal+4;
  mov.u64 %param, inParam;
  mapa.shared::cluster.u64 %peer, %shared, 1;
  cvta.global.u64 %gglobal, %global;
  cvta.const.u64 %gconst, %const;
  cvta.shared.u64 %gshared, %shared;
  cvta.shared::cluster.u64 %gpeer, %peer;
  cvta.local.u64 %glocal, %local;
  cvta.param.u64 %gparam, %param;
  add.u32 %w, %rank, 2;
  st.shared.b32 [inShared+4], %w;
  st.local.b32 [inLocal+4], 4;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.ne.u32 %p, %rank, 0;
  @%p bra END;
)" + body + R"(
END:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)";
  Program program(text);
  EXPECT_EQ(program.loadError, "");
  if (!program.module)
    return std::vector<uint32_t>(count);
  const uint64_t out = program.buffer("out", std::vector<uint32_t>(count, 77));
  EXPECT_EQ(program.run({out, 5}, {1, 1, 1}, {2, 1, 1}).message(), "");
  return program.read<uint32_t>(out, count);
}

const char *const places[] = {"global", "const", "shared",
                              "peer",   "local", "param"};

/// Which of the places the window has; -1 where the ISA does not say.
std::vector<int> window(const std::string &space) {
  if (space == "global")
    return {1, -1, 0, 0, 0, 1};
  if (space == "const")
    return {0, 1, 0, 0, 0, 0};
  if (space == "shared" || space == "shared::cta")
    return {0, 0, 1, 0, 0, 0};
  if (space == "shared::cluster")
    return {0, 0, 1, 1, 0, 0};
  if (space == "local")
    return {0, 0, 0, 0, 1, 0};
  return {0, 0, 0, 0, 0, 1};
}

void testIsspacep(const std::string &space) {
  std::string body;
  for (unsigned i = 0; i < std::size(places); ++i)
    body += "  setp.eq.u32 %p, %rank, " + std::to_string(i % 2) +
            ";\n  isspacep." + space + " %p, %g" + places[i] +
            ";\n  selp.b32 %w, 1, 0, %p;\n  st.global.b32 [%out+" +
            std::to_string(4 * i) + "], %w;\n";
  const std::vector<uint32_t> got = inAllSpaces(body, std::size(places));
  const std::vector<int> expected = window(space);
  for (unsigned i = 0; i < std::size(places); ++i)
    if (expected[i] >= 0)
      EXPECT_EQ(got[i], unsigned(expected[i]))
          << "isspacep." << space << " of an address in " << places[i];
}

/// The places whose addresses the space has.
std::vector<unsigned> placesOf(const std::string &space) {
  std::vector<unsigned> those;
  const std::vector<int> in = window(space);
  for (unsigned i = 0; i < in.size(); ++i)
    if (in[i] == 1 && !(space == "global" && i == 5))
      those.push_back(i);
  return those;
}

/// The generic address reads what was stored, and only a generic load does.
void testCvta(const std::string &name, const std::string &space) {
  for (unsigned place : placesOf(space)) {
    const std::vector<uint32_t> got =
        inAllSpaces("  mov.u64 %x, 0;\n  " + name + " %x, %" + places[place] +
                        ";\n  ld.b32 %w, [%x];\n  st.global.b32 [%out], %w;\n",
                    1);
    EXPECT_EQ(got[0], place) << name << " of an address in " << places[place];
  }
}

/// Back: the space's own load reads what was stored.
void testCvtaTo(const std::string &name, const std::string &space) {
  for (unsigned place : placesOf(space)) {
    const std::vector<uint32_t> got = inAllSpaces(
        "  mov.u64 %x, 0;\n  " + name + " %x, %g" + places[place] + ";\n  ld." +
            space + ".b32 %w, [%x];\n  st.global.b32 [%out], %w;\n",
        1);
    EXPECT_EQ(got[0], place) << name << " of an address in " << places[place];
  }
}

} // namespace

FORMS(addresses) {
  for (const char *space :
       {"global", "const", "shared", "shared::cta", "shared::cluster", "local",
        "param", "param::entry"}) {
    const std::string name = std::string("cvta.") + space + ".u64";
    const std::string back = std::string("cvta.to.") + space + ".u64";
    form(name, [=] { testCvta(name, space); });
    form(back, [=] { testCvtaTo(back, space); });
    form(std::string("isspacep.") + space, [=] { testIsspacep(space); });
  }
}

#include "test/Unit/ptxsim_forms/Slots.h"

#include "test/Unit/ptxsim_forms/Form.h"
#include "test/Unit/ptxsim_forms/Names.h"

#include <cstring>

namespace ptxsim::forms {

namespace {

/// The statement `preferred`, or `other` if the former is the form under test.
std::string avoiding(const std::string &form, const std::string &preferred,
                     const std::string &other) {
  return form == preferred ? other : preferred;
}

std::string constants(const std::vector<uint8_t> &bytes) {
  std::string text = ".const .align 16 .b32 area[" +
                     std::to_string(bytes.size() / 4) + "] = {";
  for (size_t at = 0; at < bytes.size(); at += 4)
    text += (at ? "," : "") + std::to_string(numberAt(bytes, at, 4));
  return text + "};\n";
}

std::string spaceOf(Place place) {
  switch (place) {
  case Place::Global:
    return "global";
  case Place::Shared:
    return "shared";
  case Place::Peer:
    return "shared::cluster";
  case Place::Local:
    return "local";
  case Place::Const:
    return "const";
  case Place::Param:
    return "param";
  }
  return "";
}

} // namespace

std::vector<Reach> reachesOf(const std::vector<std::string> &words,
                             bool constant) {
  if (hasWord(words, "global"))
    return {{Place::Global}};
  if (hasWord(words, "shared") || hasWord(words, "shared::cta"))
    return {{Place::Shared}};
  if (hasWord(words, "shared::cluster"))
    return {{Place::Peer}, {Place::Shared}};
  if (hasWord(words, "local"))
    return {{Place::Local}};
  if (hasWord(words, "const"))
    return {{Place::Const}};
  if (hasWord(words, "param") || hasWord(words, "param::entry"))
    return {{Place::Param}};
  bool global = hasWord(words, "mmio"), weak = true;
  for (const std::string &word : words) {
    global |= word.starts_with("L1::") || word.starts_with("L2::");
    for (const char *strong : {"volatile", "relaxed", "acquire", "release"})
      weak &= word != strong;
  }
  std::vector<Reach> reaches{{Place::Global, true}};
  if (!global)
    reaches.insert(reaches.end(), {{Place::Shared, true}, {Place::Peer, true}});
  if (!global && weak && words.front() != "atom" && words.front() != "red")
    reaches.push_back({Place::Local, true});
  if (!global && weak && constant)
    reaches.insert(reaches.end(), {{Place::Const, true}, {Place::Param, true}});
  return reaches;
}

std::vector<uint8_t> patternBytes(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> pattern(bytes);
  uint32_t state = seed * 2654435761u + 12345;
  for (uint8_t &byte : pattern) {
    state = state * 1664525 + 1013904223;
    byte = uint8_t(state >> 23);
  }
  return pattern;
}

uint64_t numberAt(const std::vector<uint8_t> &bytes, size_t at, unsigned size) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  return number;
}

void setNumberAt(std::vector<uint8_t> &bytes, size_t at, unsigned size,
                 uint64_t number) {
  std::memcpy(bytes.data() + at, &number, size);
}

size_t SlotRun::slotOf(size_t thread) const {
  if (uniform)
    return commonSlot(thread);
  const size_t slot = (thread * 5 + 3) % 32;
  return reach.place == Place::Peer ? (thread / 32 ? slot : 32 + slot) : slot;
}

size_t SlotRun::commonSlot(size_t thread) const {
  return reach.place == Place::Peer ? (thread / 32 ? 7 : 32 + 7) : 7;
}

bool SlotRun::run() {
  const bool peer = reach.place == Place::Peer;
  const bool shared = peer || reach.place == Place::Shared;
  const bool copied = shared || reach.place == Place::Local;
  const std::string space = spaceOf(reach.place);
  const std::string own = shared ? "shared" : space;
  const size_t bytes = 32 * slotBytes; // of one CTA
  slots.resize(threads() * slotBytes);
  values.resize(std::max<size_t>(values.size(), 1));

  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n";
  if (reach.place == Place::Const)
    text += constants(slots);
  text += ".visible .entry k(.param .u64 out, .param .u64 slots, .param .u64 "
          "values";
  if (reach.place == Place::Param)
    text += ", .param .align 16 .b8 area[" + std::to_string(bytes) + "]";
  text += peer ? ")\n.reqnctapercluster 2, 1, 1\n{\n" : ")\n{\n";
  if (copied)
    text +=
        "  ." + own + " .align 16 .b8 area[" + std::to_string(bytes) + "];\n";
  text += R"(  .reg .b32 %t, %rank, %thread, %slot, %peer;
  .reg .b64 %a, %common, %out, %slots, %values, %from, %to, %offset;
  .reg .b32 %w<4>;
  ld.param.u64 %out, [out];
  ld.param.u64 %slots, [slots];
  ld.param.u64 %values, [values];
  mov.u32 %t, %tid.x;
  mov.u32 %rank, %ctaid.x;
  mad.lo.u32 %thread, %rank, 32, %t;
  mul.wide.u32 %offset, %thread, )" +
          std::to_string(words * 8) + R"(;
  add.s64 %out, %out, %offset;
  mad.lo.u32 %slot, %t, 5, 3;
  and.b32 %slot, %slot, 31;
  mul.wide.u32 %offset, %slot, 64;
)";
  text += reach.place == Place::Global ? "  mov.u64 %common, %slots;\n"
                                       : "  mov.u64 %common, area;\n";

  // What is to be in shared or local memory comes from the buffer: each thread
  // copies its slot, and to local memory the first one besides.
  std::string copyIn, copyOut, copyFirst;
  for (unsigned at = 0; at < slotBytes; at += 16) {
    const std::string offset = "+" + std::to_string(at) + "]";
    const std::string registers = "{%w0, %w1, %w2, %w3}";
    copyIn += "  ld.global.nc.v4.u32 " + registers + ", [%from" + offset +
              ";\n  " +
              avoiding(form, "st." + own + ".v4.u32", "st." + own + ".v4.b32") +
              " [%to" + offset + ", " + registers + ";\n";
    copyFirst += "  ld.global.nc.v4.u32 " + registers + ", [%slots" + offset +
                 ";\n  st.local.v4.b32 [%common" + offset + ", " + registers +
                 ";\n";
    copyOut +=
        "  " +
        avoiding(form, "ld." + own + ".v4.u32", "ld." + own + ".v4.b32") + " " +
        registers + ", [%to" + offset + ";\n  st.global.v4.u32 [%from" +
        offset + ", " + registers + ";\n";
  }
  if (reach.place == Place::Local)
    text += copyFirst;
  if (copied) {
    text += "  mad.wide.u32 %from, %rank, " + std::to_string(bytes) +
            ", %slots;\n  add.s64 %from, %from, %offset;\n"
            "  add.s64 %to, %common, %offset;\n" +
            copyIn;
  }
  if (peer)
    text += "  barrier.cluster.arrive.aligned;\n"
            "  barrier.cluster.wait.aligned;\n"
            "  xor.b32 %peer, %rank, 1;\n"
            "  mapa.shared::cluster.u64 %common, %common, %peer;\n";
  else if (shared)
    text += "  bar.sync 0;\n";
  if (reach.generic && reach.place != Place::Global)
    text += "  cvta." + space + ".u64 %common, %common;\n";
  text += "  add.s64 %a, %common, %offset;\n  add.s64 %common, %common, 448;\n";
  if (uniform)
    text += "  mov.u64 %a, %common;\n";
  text += body;
  if (peer)
    text += "  barrier.cluster.arrive.aligned;\n"
            "  barrier.cluster.wait.aligned;\n";
  else if (shared)
    text += "  bar.sync 0;\n";
  if (copied)
    text += copyOut;
  text += "  ret;\n}\n";

  DeviceOptions options;
  if (lazy)
    options.async = Async::Lazy;
  Program program(text, options);
  EXPECT_EQ(program.loadError, "");
  if (!program.module)
    return false;
  const uint64_t outBuffer =
      program.buffer("out", std::vector<uint64_t>(threads() * words));
  const uint64_t slotBuffer = program.buffer("slots", slots);
  const uint64_t valueBuffer = program.buffer("values", values);
  const void *arguments[] = {&outBuffer, &slotBuffer, &valueBuffer,
                             slots.data()};
  const Status status = program.device.launch(
      *program.module, program.module->kernels().front(),
      {peer ? 2u : 1u, 1, 1}, {32, 1, 1}, 0, arguments, nullptr);
  EXPECT_EQ(status.message(), "");
  out = program.read<uint64_t>(outBuffer, threads() * words);
  slots = program.read<uint8_t>(slotBuffer, slots.size());
  return status.ok();
}

} // namespace ptxsim::forms

// What an instruction costs, read from its opcode and modifiers as written.

#include "runtime/ptxsim/OpFacts.h"

#include "runtime/ptxsim/Program.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

using namespace ptxsim;

std::string_view ptxsim::opClassName(OpClass c) {
  constexpr std::string_view names[opClasses] = {
      "fp32", "fp16x2",           "fp64", "int32",   "mufu",
      "cvt",  "cvt_fp32_to_half", "lsu",  "shuffle", "tensor",
      "bulk", "control",          "sync", "move",    "other"};
  return names[unsigned(c)];
}

namespace {

/// An opcode with its modifiers, taken apart.
struct Form {
  std::string_view base;
  std::vector<std::string_view> parts;
  std::vector<Type> types; ///< as they are named

  explicit Form(std::string_view text) {
    for (size_t at = 0; at <= text.size();) {
      const size_t dot = std::min(text.find('.', at), text.size());
      const std::string_view part = text.substr(at, dot - at);
      if (!at)
        base = part;
      else
        parts.push_back(part);
      if (at)
        if (auto type = parseType(part))
          types.push_back(*type);
      at = dot + 1;
    }
  }
  bool has(std::string_view name) const {
    return std::find(parts.begin(), parts.end(), name) != parts.end();
  }
  bool any(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(),
                       [this](std::string_view n) { return has(n); });
  }
  bool is(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), base) != names.end();
  }
  Type type() const { return types.empty() ? Type::None : types.back(); }
  unsigned vector() const {
    return has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1;
  }
};

bool isHalf(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F16x2 ||
         t == Type::BF16x2;
}

OpClass arithmetic(const Form &f) {
  const Type t = f.type();
  if (t == Type::F64)
    return OpClass::Fp64;
  const bool multiplies = f.is({"add", "sub", "mul", "fma", "mad"});
  if (multiplies && isHalf(t))
    return OpClass::Fp16x2;
  return multiplies && t == Type::F32 ? OpClass::Fp32 : OpClass::Int32;
}

unsigned resultsOf(const Form &f) {
  if (f.any({"f16x2", "bf16x2", "e4m3x2", "e5m2x2"}))
    return 2;
  const Type t = f.type();
  return t == Type::U64 || t == Type::S64 || t == Type::B64 ? 2 : 1;
}

TensorType tensorType(Type t) {
  switch (t) {
  case Type::F16:
  case Type::BF16:
    return TensorType::F16;
  case Type::TF32:
    return TensorType::Tf32;
  case Type::E4M3:
  case Type::E5M2:
    return TensorType::Fp8;
  case Type::S8:
  case Type::U8:
    return TensorType::Int8;
  default:
    return TensorType::None;
  }
}

/// m16n8k16
void readShape(std::string_view name, OpFacts &facts) {
  uint32_t *numbers[] = {&facts.m, &facts.n, &facts.k};
  const char *at = name.data(), *end = at + name.size();
  for (uint32_t *number : numbers) {
    if (at == end)
      return;
    at = std::from_chars(at + 1, end, *number).ptr;
  }
  facts.shape = name;
}

void tensorFacts(const Form &f, OpFacts &facts) {
  facts.kind = OpClass::Tensor;
  facts.wgmma = f.base == "wgmma";
  for (std::string_view part : f.parts)
    if (part.starts_with("m") && part.find('n') != part.npos &&
        part.find('k') != part.npos)
      readShape(part, facts);
  // Types of D, A, B (and C); wmma on f16 names those of D and C alone (and
  // those of 4 and 1 bits are no types of registers).
  facts.tensor =
      f.base == "wmma" && f.types.size() == 2 && f.type() != Type::S32
          ? TensorType::F16
      : f.types.size() > 1 ? tensorType(f.types[1])
                           : TensorType::None;
  if (facts.wgmma)
    facts.m /= 4; // four warps share the instruction
  if (f.base == "mma" && f.has("m8n8k4") && facts.tensor == TensorType::F16)
    facts.m *= 4; // four products, of a quarter of the warp each
}

void memoryFacts(const Form &f, OpFacts &facts) {
  facts.kind = OpClass::Lsu;
  facts.bytes = bitsOf(f.type()) / 8 * f.vector();
  const bool load = f.is({"ld", "ldu"});
  if (load || f.base == "st") {
    if (f.any({"param", "param::entry"})) {
      facts.kind = OpClass::Move;
      return;
    }
    facts.memory = load ? MemoryKind::Load : MemoryKind::Store;
    facts.strong = f.any({"volatile", "relaxed", "acquire", "release", "mmio"});
    facts.cached =
        load && !facts.strong && !f.any({"cg", "cs", "cv", "L1::no_allocate"});
  } else if (f.is({"ldmatrix", "stmatrix"})) {
    facts.memory =
        f.base == "ldmatrix" ? MemoryKind::LoadMatrix : MemoryKind::StoreMatrix;
    facts.bytes = 16;
  } else {
    facts.memory = f.base == "red" ? MemoryKind::Reduction : MemoryKind::Atomic;
    facts.strong = true;
  }
}

/// wmma.load and wmma.store
void wmmaFacts(const Form &f, OpFacts &facts) {
  const bool load = f.has("load");
  facts.kind = OpClass::Lsu;
  facts.memory = load ? MemoryKind::Load : MemoryKind::Store;
  facts.cached = load, facts.tellsItself = true;
}

/// prefetch, prefetchu, discard, applypriority, tensormap
void hintFacts(const Form &f, OpFacts &facts) {
  facts.kind = OpClass::Other;
  if (f.base == "tensormap") {
    // .replace reads the map and writes it back, .cp_fenceproxy copies it.
    facts.memory = MemoryKind::Store;
    facts.bytes = 128;
    facts.tellsItself = true;
  } else if (f.is({"prefetch", "prefetchu"})) {
    facts.memory = MemoryKind::Prefetch;
    facts.bytes = 128;
    facts.prefetchesL1 = f.has("L1");
  } else {
    facts.uncounted = f.base == "discard";
  }
}

/// Opcodes whose class depends on more than a list.
void copyFacts(const Form &f, OpFacts &facts) {
  if (f.has("bulk")) {
    const bool copies = !f.any({"commit_group", "wait_group"});
    facts.kind = copies ? OpClass::Bulk : OpClass::Sync;
    facts.tellsItself = copies;
  } else if (f.any({"ca", "cg"})) {
    facts.kind = OpClass::Lsu;
    facts.memory = MemoryKind::AsyncLoad;
    facts.tellsItself = true;
    facts.cached = f.has("ca");
  } else {
    facts.kind = OpClass::Sync;
    facts.group = f.has("mbarrier")       ? CopyGroup::Arrive
                  : f.has("commit_group") ? CopyGroup::Commit
                  : f.has("wait_group")   ? CopyGroup::Wait
                                          : CopyGroup::WaitAll;
  }
}

OpFacts factsOfForm(std::string_view text, const Op &op) {
  const Form f(text);
  OpFacts facts;
  if (f.base == "mma" || (f.base == "wmma" && f.has("mma")))
    tensorFacts(f, facts);
  else if (f.base == "wmma")
    wmmaFacts(f, facts);
  else if (f.base == "wgmma")
    f.has("mma_async") ? tensorFacts(f, facts)
                       : void(facts.kind = OpClass::Sync);
  else if (f.is({"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix"}))
    memoryFacts(f, facts);
  else if (f.base == "cp")
    copyFacts(f, facts);
  else if (f.is({"bra", "brx", "call", "ret", "exit"})) {
    facts.kind = OpClass::Control;
    facts.branch = f.is({"bra", "brx"});
    facts.conditional = facts.branch && op.guard;
    facts.indexed = f.base == "brx";
  } else if (f.base == "shfl")
    facts.kind = OpClass::Shuffle;
  else if (f.base == "cvt") {
    const bool half = f.types.size() > 1 && isHalf(f.types.front());
    facts.kind = half && f.type() == Type::F32 ? OpClass::CvtFloatToHalf
                 : f.any({"f64"})              ? OpClass::Fp64
                                               : OpClass::Cvt;
    facts.results = uint8_t(resultsOf(f));
  } else if (f.is({"ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt",
                   "sqrt"}) ||
             (f.base == "div" && f.type() == Type::F32)) {
    facts.kind = f.type() == Type::F64 ? OpClass::Fp64 : OpClass::Mufu;
    facts.results = uint8_t(resultsOf(f));
  } else if (f.is({"bar", "barrier", "mbarrier", "fence", "membar", "vote",
                   "match", "redux", "activemask", "elect", "nanosleep",
                   "griddepcontrol", "setmaxnreg"})) {
    facts.kind = OpClass::Sync;
    facts.clusterBarrier = f.base == "barrier" && f.has("cluster");
    facts.ctaBarrier =
        f.is({"bar", "barrier"}) && !facts.clusterBarrier && !f.has("warp");
    facts.mbarrierArrive =
        f.base == "mbarrier" &&
        f.any({"arrive", "arrive_drop", "expect_tx", "complete_tx"});
    facts.mbarrierWait =
        f.base == "mbarrier" && f.any({"test_wait", "try_wait"});
    facts.mbarrierOther =
        f.base == "mbarrier" && !facts.mbarrierWait && !f.has("pending_count");
    facts.gridDependency = f.base == "griddepcontrol";
  } else if (f.is({"mov", "cvta", "mapa", "getctarank", "movmatrix"})) {
    facts.kind = f.base == "movmatrix" ? OpClass::Shuffle : OpClass::Move;
  } else if (f.is({"prefetch", "prefetchu", "discard", "applypriority",
                   "tensormap"})) {
    hintFacts(f, facts);
  } else if (f.is({"createpolicy", "trap", "brkpt"})) {
    facts.kind = OpClass::Other;
  } else {
    facts.kind = arithmetic(f);
    facts.results = uint8_t(resultsOf(f));
  }
  facts.writesFirst =
      facts.kind != OpClass::Control && facts.kind != OpClass::Bulk &&
      facts.memory != MemoryKind::Store &&
      facts.memory != MemoryKind::Reduction &&
      facts.memory != MemoryKind::StoreMatrix &&
      facts.memory != MemoryKind::AsyncLoad &&
      facts.memory != MemoryKind::Prefetch &&
      !(f.base == "st" || f.is({"bar", "barrier", "fence", "membar"}));
  return facts;
}

} // namespace

std::vector<OpFacts> ptxsim::factsOf(const Function &function) {
  // How many ops name each register row: an atom whose result nothing else
  // names becomes a red.
  std::unordered_map<uint32_t, uint32_t> named;
  auto rowsOf = [&](size_t i) {
    const size_t last = function.operandStart.size() - 1;
    return std::pair(function.operandStart[std::min(i, last)],
                     function.operandStart[std::min(i + 1, last)]);
  };
  for (size_t i = 0; i < function.ops.size(); ++i) {
    const auto [begin, end] = rowsOf(i);
    for (uint32_t r = begin; r < end; ++r)
      ++named[function.operandRows[r]];
  }
  std::vector<OpFacts> facts;
  facts.reserve(function.ops.size());
  for (size_t i = 0; i < function.ops.size(); ++i) {
    const Op &op = function.ops[i];
    OpFacts &f = facts.emplace_back(factsOfForm(function.infos[i].form, op));
    f.registersA = f.wgmma && op.c;
    if (f.memory != MemoryKind::Atomic)
      continue;
    // The result comes first among the operands; vectors of results are op.list
    // behind the values.
    uint32_t own = 0, others = 0;
    const auto [begin, end] = rowsOf(i);
    auto count = [&](uint32_t row) {
      for (uint32_t r = begin; r < end; ++r)
        own += function.operandRows[r] == row;
      others += named.contains(row) ? named.at(row) : 0;
    };
    if (op.list && op.count)
      for (unsigned e = 0; e < op.count; ++e)
        count(op.list[op.count + e]);
    else
      count(op.d);
    if (own == others && own <= std::max<uint32_t>(op.count, 1))
      f.memory = MemoryKind::Reduction;
  }
  return facts;
}

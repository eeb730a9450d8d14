// Which registers may be read before they are written, and which instructions
// their values can reach. Everything else runs as without the check.

#include "runtime/ptxsim/FunctionBuilder.h"

#include <algorithm>
#include <memory>

using namespace ptxsim;

namespace {

std::string_view baseOf(std::string_view form) {
  return form.substr(0, form.find('.'));
}

bool isIntegerType(std::string_view s) {
  return s == "u8" || s == "s8" || s == "u16" || s == "s16" || s == "u32" ||
         s == "s32" || s == "u64" || s == "s64";
}

/// cvt between integers without saturation: moves bits.
bool isIntegerConversion(std::string_view form) {
  const size_t last = form.rfind('.');
  if (last == form.npos || form.find(".sat") != form.npos ||
      form.find(".pack") != form.npos)
    return false;
  const size_t before = form.rfind('.', last - 1);
  return before != form.npos && isIntegerType(form.substr(last + 1)) &&
         isIntegerType(form.substr(before + 1, last - before - 1));
}

UndefinedStep::Kind kindOf(std::string_view form) {
  using enum UndefinedStep::Kind;
  const std::string_view base = baseOf(form);
  const bool predicate = form.ends_with(".pred");
  static constexpr std::pair<std::string_view, UndefinedStep::Kind> kinds[] = {
      {"and", Logic},
      {"or", Logic},
      {"xor", Union},
      {"not", Union},
      {"lop3", Union},
      {"prmt", Execute},
      {"bfe", Execute},
      {"bfi", Execute},
      {"shl", Execute},
      {"shr", Execute},
      {"shf", Execute},
      {"selp", Execute},
      {"shfl", Shuffle},
      {"vote", Warp},
      {"match", Warp},
      {"redux", Warp},
      {"movmatrix", Warp},
      {"wgmma", Wgmma},
      {"st", Store},
      {"ld", Report},
      {"ldu", Report},
      {"atom", Report},
      {"red", Report},
      {"cp", Report},
      {"mbarrier", Report},
      {"bar", Report},
      {"barrier", Report},
      {"bra", Report},
      {"brx", Report},
      {"ret", Report},
      {"exit", Report},
      {"trap", Report},
      {"ldmatrix", Report},
      {"stmatrix", Store},
      {"fence", Report},
      {"membar", Report},
      {"elect", Report},
      {"tensormap", Report},
      {"setmaxnreg", Report},
      {"griddepcontrol", Report},
      {"call", Ignore},
      {"prefetch", Ignore},
      {"prefetchu", Ignore},
      {"nanosleep", Ignore},
      {"createpolicy", Ignore},
      {"applypriority", Ignore},
      {"discard", Ignore},
  };
  if (base == "mov")
    return predicate ? LogicPredicate : Execute;
  if (base == "cvt")
    return isIntegerConversion(form)  ? Execute
           : form.ends_with("x2.f32") ? Pair
                                      : Any;
  if (form.starts_with("st.async"))
    return Report;
  if (base == "wmma")
    return form.starts_with("wmma.load") ? Report : Ignore;
  if (base == "mma")
    return form.find(".m16n8k") != form.npos && !form.ends_with(".f64")
               ? Mma
               : Ignore;
  static constexpr std::string_view halves[] = {
      "add", "sub", "mul", "fma", "neg", "abs", "min", "max", "ex2", "tanh"};
  if (form.ends_with("16x2") &&
      std::find(std::begin(halves), std::end(halves), base) != std::end(halves))
    return Packed;
  for (const auto &[name, kind] : kinds)
    if (name == base)
      return predicate && (kind == Logic || kind == Union) ? LogicPredicate
                                                           : kind;
  return Any;
}

/// Which of a, b, c of an Execute, Logic or Union hold data.
unsigned dataFields(std::string_view base) {
  if (base == "prmt" || base == "shf" || base == "selp" || base == "bfi" ||
      base == "and" || base == "or" || base == "xor")
    return 3;
  return base == "lop3" ? 7 : 1;
}

} // namespace

bool FunctionBuilder::isRegister(uint32_t row) const {
  for (const RegisterName &n : f.registerNames)
    if (row >= n.row && row - n.row < n.stride * std::max(n.count, 1u))
      return true;
  return false;
}

/// Registers that are live where the function begins: on some path they are
/// read before they are written.
std::vector<uint32_t> FunctionBuilder::maybeUndefined() const {
  const uint32_t blockCount = uint32_t(blocks.size());
  std::vector<uint32_t> killed(f.registerBytes / 4, ~0u),
      exposed(f.registerBytes / 4, ~0u);
  std::vector<std::pair<uint32_t, uint32_t>> reads; // row, block
  // By register a list of the blocks that write it first.
  struct Kill {
    uint32_t block, next;
  };
  std::vector<Kill> kills{{}};
  std::vector<uint32_t> killsOf(f.registerBytes / 4, 0);
  const auto readAt = [&](uint32_t row, uint32_t b) {
    if (killed[row / 4] == b || exposed[row / 4] == b)
      return;
    exposed[row / 4] = b;
    reads.push_back({row, b});
  };
  for (uint32_t b = 0; b < blockCount; ++b)
    for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      const Op &op = f.ops[i];
      if (op.guard)
        readAt(op.guard, b);
      for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u)
        if (uses[u].role != RegisterUse::Writes)
          readAt(uses[u].row, b);
      if (!op.guard)
        for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u)
          if (uses[u].role == RegisterUse::Writes &&
              killed[uses[u].row / 4] != b) {
            killed[uses[u].row / 4] = b;
            kills.push_back({b, killsOf[uses[u].row / 4]});
            killsOf[uses[u].row / 4] = uint32_t(kills.size() - 1);
          }
    }
  std::vector<std::vector<uint32_t>> predecessors(blockCount);
  for (uint32_t b = 0; b < blockCount; ++b)
    for (uint32_t s : blocks[b].successors)
      predecessors[s].push_back(b);
  std::sort(reads.begin(), reads.end());
  std::vector<uint32_t> live, todo, seen(blockCount, ~0u),
      kill(blockCount, ~0u);
  for (size_t i = 0; i < reads.size();) {
    const uint32_t row = reads[i].first;
    bool atEntry = false;
    for (uint32_t k = killsOf[row / 4]; k; k = kills[k].next)
      kill[kills[k].block] = row;
    const auto add = [&](uint32_t b) {
      if (seen[b] == row)
        return;
      seen[b] = row;
      atEntry |= b == 0;
      todo.push_back(b);
    };
    for (; i < reads.size() && reads[i].first == row; ++i)
      add(reads[i].second);
    while (!todo.empty() && !atEntry) {
      const uint32_t b = todo.back();
      todo.pop_back();
      for (uint32_t p : predecessors[b])
        if (kill[p] != row)
          add(p);
    }
    todo.clear();
    if (atEntry)
      live.push_back(row);
  }
  return live;
}

/// Parameters in registers are written by the call.
void FunctionBuilder::noteParameters() {
  std::unordered_map<uint32_t, const CallSite *> sites;
  for (const CallEdge &e : callEdges)
    sites[e.op] = e.site;
  if (sites.empty())
    return;
  std::vector<RegisterUse> all;
  for (uint32_t i = 0; i < f.ops.size(); ++i) {
    const uint32_t start = uint32_t(all.size());
    all.insert(all.end(), uses.begin() + useStart[i],
               uses.begin() + useStart[i + 1]);
    if (auto it = sites.find(i); it != sites.end())
      for (const Callee &c : f.callees)
        if (it->second->callee == CallSite::Indirect
                ? c.address != 0
                : &c == &f.callees[it->second->callee])
          for (const Formal &p : c.params)
            if (p.inRegister)
              all.push_back({p.at, uint8_t(std::max(16u, p.bytes * 8)),
                             RegisterUse::Writes});
    useStart[i] = start;
  }
  useStart[f.ops.size()] = uint32_t(all.size());
  uses = std::move(all);
}

void FunctionBuilder::planUndefined() {
  noteParameters();
  std::vector<uint32_t> roots = maybeUndefined();
  // The registers of functions that call themselves are kept somewhere else
  // meanwhile.
  std::erase_if(roots, [&](uint32_t row) {
    for (const Callee &c : f.callees)
      for (const Callee::Rows &rows : c.registers)
        if (c.recursive && row >= rows.offset &&
            row - rows.offset < rows.count * rows.stride)
          return true;
    return false;
  });
  if (roots.empty())
    return;
  // What undefined values can reach.
  std::vector<uint8_t> tracked(f.registerBytes / 4, 0);
  for (uint32_t row : roots)
    tracked[row / 4] = 1;
  const size_t n = f.ops.size();
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < n; ++i) {
      const auto kind = kindOf(f.infos[i].form);
      if (kind == UndefinedStep::Report || kind == UndefinedStep::Store ||
          kind == UndefinedStep::Ignore)
        continue;
      bool reaches = f.ops[i].guard && tracked[f.ops[i].guard / 4];
      for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u)
        reaches |=
            uses[u].role == RegisterUse::Reads && tracked[uses[u].row / 4];
      if (reaches)
        for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u)
          if (uses[u].role == RegisterUse::Writes && !tracked[uses[u].row / 4])
            tracked[uses[u].row / 4] = 1, changed = true;
    }
  }
  auto plan = std::make_shared<UndefinedPlan>();
  std::unordered_map<uint32_t, Tracked> shadows;
  const auto shadowOf = [&](uint32_t row, uint32_t bits) {
    auto [it, isNew] = shadows.try_emplace(row);
    if (isNew) {
      const uint32_t bytes = bits == 1 ? 4 : bits * 4;
      it->second = {row, allocate(bytes + 4), bits};
      f.registers.push_back({it->second.shadow, bytes + 4});
    }
    return it->second;
  };
  const uint32_t defined = constant(0, 64), scrap = allocate(256);
  std::unordered_map<const uint32_t *, const std::vector<uint32_t> *> lists;
  for (const std::vector<uint32_t> &l : f.lists)
    lists[l.data()] = &l;
  plan->stepOf.assign(n, ~0u);
  for (size_t i = 0; i < n; ++i) {
    Op &op = f.ops[i];
    UndefinedStep step;
    const auto tracks = [&](uint32_t row) {
      return row / 4 < tracked.size() && tracked[row / 4];
    };
    if (op.guard && tracks(op.guard))
      step.guard = shadowOf(op.guard, 1);
    for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u) {
      if (!tracks(uses[u].row))
        continue;
      Tracked t = shadowOf(uses[u].row, uses[u].bits);
      if (uses[u].role != RegisterUse::Writes) {
        t.root = uint32_t(plan->roots.size());
        plan->roots.push_back({uint32_t(i), t.row});
      }
      (uses[u].role == RegisterUse::Reads    ? step.reads
       : uses[u].role == RegisterUse::Writes ? step.writes
                                             : step.addresses)
          .push_back(t);
    }
    if (!step.guard.shadow && step.reads.empty() && step.writes.empty() &&
        step.addresses.empty())
      continue;
    if (step.guard.shadow) {
      step.guard.root = uint32_t(plan->roots.size());
      plan->roots.push_back({uint32_t(i), op.guard});
    }
    const std::string_view base = baseOf(f.infos[i].form);
    step.kind = kindOf(f.infos[i].form);
    step.original = op.fn;
    step.op = op;
    const auto data = [&](uint32_t row, bool written) {
      return tracks(row) ? shadows.at(row).shadow : written ? scrap : defined;
    };
    switch (step.kind) {
    case UndefinedStep::Execute:
    case UndefinedStep::Shuffle:
    case UndefinedStep::Logic:
    case UndefinedStep::Union:
    case UndefinedStep::LogicPredicate: {
      const unsigned fields = dataFields(base);
      if (!op.list || base == "shfl") {
        step.op.d = data(op.d, true);
        step.op.a = data(op.a, false);
        if (fields & 2)
          step.op.b = data(op.b, false);
        if (fields & 4)
          step.op.c = data(op.c, false);
        if (!step.writes.empty())
          step.bits = uint8_t(step.writes[0].bits);
        break;
      }
      // mov of a vector: unpacks if it reads op.a.
      bool unpacks = false;
      for (uint32_t u = useStart[i]; u < useStart[i + 1]; ++u)
        unpacks |= uses[u].role == RegisterUse::Reads && uses[u].row == op.a &&
                   op.a != 0;
      std::vector<uint32_t> list = *lists.at(op.list);
      for (uint32_t &row : list)
        row = data(row, unpacks);
      step.op.list = this->list(list);
      (unpacks ? step.op.a : step.op.d) = data(unpacks ? op.a : op.d, !unpacks);
      break;
    }
    case UndefinedStep::Mma:
    case UndefinedStep::Wgmma:
      if (op.list) {
        std::vector<uint32_t> list = *lists.at(op.list);
        for (size_t r = 0; r < list.size(); ++r)
          list[r] = data(list[r], r < (base == "mma" ? op.a : op.count));
        step.op.list = this->list(list);
      }
      break;
    default:
      break;
    }
    plan->stepOf[i] = uint32_t(plan->steps.size());
    plan->steps.push_back(std::move(step));
    op.fn = undefinedStep;
    if (op.flags & Control)
      op.flags |= RunsEmpty;
  }
  f.undefined = std::move(plan);
}

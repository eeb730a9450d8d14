// Which registers may be read before they are written, and which instructions
// undefined values can reach. Everything else runs as without the check.

#include "runtime/ptxsim/FunctionBuilder.h"

#include <algorithm>
#include <unordered_set>

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
      {"lop3", Table},
      {"prmt", Execute},
      {"bfe", Execute},
      {"bfi", Execute},
      {"brev", Execute},
      {"copysign", Execute},
      {"slct", Execute},
      {"shl", Execute},
      {"shr", Execute},
      {"shf", Execute},
      {"selp", Execute},
      {"setp", Compare},
      {"shfl", Shuffle},
      {"vote", Warp},
      {"match", Warp},
      {"redux", Warp},
      {"movmatrix", Warp},
      {"wgmma", Wgmma},
      {"st", Store},
      {"ld", Load},
      {"ldu", Load},
      {"atom", Report},
      {"red", Report},
      {"cp", Report},
      {"mbarrier", Report},
      {"bar", Report},
      {"barrier", Report},
      {"bra", Report},
      {"brx", Report},
      {"ret", Call},
      {"exit", Report},
      {"trap", Report},
      {"ldmatrix", LoadMatrix},
      {"stmatrix", StoreMatrix},
      {"fence", Report},
      {"membar", Report},
      {"elect", Report},
      {"tensormap", Report},
      {"setmaxnreg", Report},
      {"griddepcontrol", Report},
      {"call", Call},
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
    return form.starts_with("wmma.mma") ? Warp : Report;
  if (base == "mma")
    return form.find(".m16n8k") != form.npos && !form.ends_with(".f64") ? Mma
                                                                        : Warp;
  // They move bits, unless subnormals are flushed.
  if (form == "abs.f32" || form == "abs.f64")
    return Execute;
  if (form == "neg.f32" || form == "neg.f64")
    return Union;
  if (base == "setp" && form.find("f16") != form.npos)
    return Any;
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
      base == "copysign" || base == "slct" || base == "and" || base == "or" ||
      base == "xor")
    return 3;
  return base == "lop3" ? 7 : 1;
}

bool mayReadUndefined(const Op &op, UndefinedStep::Kind kind) {
  if (kind == UndefinedStep::LoadMatrix || kind == UndefinedStep::Wgmma)
    return true;
  // A parameter of the kernel has no address.
  return kind == UndefinedStep::Load && op.e &&
         (op.space == Space::Shared || op.space == Space::SharedCluster ||
          op.space == Space::Local || op.space == Space::Generic);
}

/// The elements of a load or store.
void describeElements(UndefinedStep &step, std::string_view form,
                      const std::vector<RegisterUse> &uses, uint32_t first,
                      uint32_t last) {
  const std::string_view type = form.substr(form.rfind('.') + 1);
  step.isSigned = type[0] == 's';
  unsigned bits = 0;
  for (char c : type.substr(1))
    bits = bits * 10 + unsigned(c - '0');
  step.elementBytes = uint8_t(bits / 8);
  step.registerBytes = uint8_t(std::max(2u, bits / 8));
  const auto role = step.kind == UndefinedStep::Load ? RegisterUse::Writes
                                                     : RegisterUse::Reads;
  for (uint32_t u = first; u < last; ++u)
    if (uses[u].role == role)
      step.registerBytes = uses[u].bits / 8;
}

/// Makes the plan of a function.
class Planner {
public:
  Planner(const Function &f, Follow follow)
      : f(f), follow(follow), tracked(f.registerBytes / 4, 0) {
    for (const std::vector<uint32_t> &l : f.lists)
      lists[l.data()] = &l;
    for (const Op &op : f.ops)
      kinds.push_back(kindOf(f.infos[size_t(&op - f.ops.data())].form));
  }
  std::unique_ptr<const UndefinedPlan> run(const std::vector<uint32_t> &roots) {
    for (uint32_t row : roots)
      tracked[row / 4] = 1;
    spread();
    plan->stepOf.assign(f.ops.size(), ~0u);
    for (uint32_t i = 0; i < f.ops.size(); ++i)
      addStep(i);
    for (const Tracked &t : plan->registers)
      if (std::find(roots.begin(), roots.end(), t.row) != roots.end())
        plan->roots.push_back(t);
    return std::move(plan);
  }

private:
  bool tracks(uint32_t row) const {
    return row / 4 < tracked.size() && tracked[row / 4];
  }
  void track(uint32_t row) {
    if (!tracked[row / 4])
      tracked[row / 4] = 1, changed = true;
  }
  /// Finds what undefined values can reach.
  void spread() {
    using enum UndefinedStep::Kind;
    while (changed) {
      changed = false;
      for (uint32_t i = 0; i < f.ops.size(); ++i) {
        const Op &op = f.ops[i];
        const UndefinedStep::Kind kind = kinds[i];
        if (op.fn == callFunction) {
          spreadInto(*reinterpret_cast<const CallSite *>(op.imm));
          continue;
        }
        if (kind == Report || kind == Store || kind == StoreMatrix ||
            kind == Ignore || kind == Call)
          continue;
        bool reaches = kind != Load && op.guard && tracks(op.guard);
        if (follow == Follow::Everything)
          reaches |= mayReadUndefined(op, kind);
        for (uint32_t u = f.useStart[i]; u < f.useStart[i + 1]; ++u)
          reaches |= kind != Load && kind != LoadMatrix &&
                     f.uses[u].role == RegisterUse::Reads &&
                     tracks(f.uses[u].row);
        if (reaches)
          for (uint32_t u = f.useStart[i]; u < f.useStart[i + 1]; ++u)
            if (f.uses[u].role == RegisterUse::Writes)
              track(f.uses[u].row);
      }
    }
  }
  /// Arguments to parameters, results to where they go.
  void spreadInto(const CallSite &site) {
    for (const Callee &c : f.callees) {
      if (site.callee == CallSite::Indirect ? !c.address
                                            : &c != &f.callees[site.callee])
        continue;
      const auto reaches = [&](bool isMemory, uint32_t row) {
        return isMemory ? follow == Follow::Everything : tracks(row);
      };
      for (size_t i = 0; i < std::min(site.arguments.size(), c.params.size());
           ++i)
        if (c.params[i].inRegister &&
            reaches(site.arguments[i].isMemory, site.arguments[i].row))
          track(c.params[i].at);
      for (size_t i = 0; i < std::min(site.places.size(), c.results.size());
           ++i)
        if (!site.places[i].isMemory &&
            reaches(!c.results[i].inRegister, c.results[i].at))
          track(site.places[i].row);
    }
  }
  Tracked trackedOf(uint32_t row, uint32_t bits) {
    Tracked t{row, bits, row + f.registerBytes, row + 2 * f.registerBytes};
    // A register has one width, whatever names it.
    if (isNew.insert(row).second)
      plan->registers.push_back(t);
    return t;
  }
  /// The row that holds a value's undefined bits.
  uint32_t data(uint32_t row, bool written) const {
    return tracks(row) ? row + f.registerBytes
                       : 3 * f.registerBytes + (written ? 256 : 0);
  }
  uint32_t *listOf(const Op &op, UndefinedStep &step) {
    plan->lists.push_back(*lists.at(op.list));
    step.op.list = plan->lists.back().data();
    return plan->lists.back().data();
  }
  void addStep(uint32_t i);
  void mapOperands(UndefinedStep &step, uint32_t i);

  const Function &f;
  Follow follow;
  bool changed = true;
  std::vector<uint8_t> tracked;
  std::vector<UndefinedStep::Kind> kinds;
  std::unordered_set<uint32_t> isNew;
  std::unordered_map<const uint32_t *, const std::vector<uint32_t> *> lists;
  std::unique_ptr<UndefinedPlan> plan = std::make_unique<UndefinedPlan>();
};

void Planner::mapOperands(UndefinedStep &step, uint32_t i) {
  using enum UndefinedStep::Kind;
  const Op &op = f.ops[i];
  const std::string_view base = baseOf(f.infos[i].form);
  switch (step.kind) {
  case Execute:
  case Shuffle:
  case Logic:
  case Table:
  case Union:
  case LogicPredicate: {
    const unsigned fields = dataFields(base);
    if (!op.list || base == "shfl") {
      step.op.d = data(op.d, true);
      step.op.a = data(op.a, false);
      if (fields & 2)
        step.op.b = data(op.b, false);
      if (fields & 4)
        step.op.c = data(op.c, false);
      break;
    }
    // mov of a vector: unpacks if it reads op.a.
    bool unpacks = false;
    for (uint32_t u = f.useStart[i]; u < f.useStart[i + 1]; ++u)
      unpacks |= f.uses[u].role == RegisterUse::Reads &&
                 f.uses[u].row == op.a && op.a != 0;
    const size_t n = lists.at(op.list)->size();
    uint32_t *list = listOf(op, step);
    for (size_t r = 0; r < n; ++r)
      list[r] = data(list[r], unpacks);
    (unpacks ? step.op.a : step.op.d) = data(unpacks ? op.a : op.d, !unpacks);
    break;
  }
  case Mma:
  case Wgmma:
  case Load:
  case LoadMatrix:
  case Store:
  case StoreMatrix:
    if (op.list) {
      const size_t n = lists.at(op.list)->size();
      uint32_t *list = listOf(op, step);
      for (size_t r = 0; r < n; ++r)
        list[r] =
            data(list[r], step.kind == Mma ? r < op.a
                          : step.kind == Wgmma
                              ? r < op.count
                              : step.kind == Load || step.kind == LoadMatrix);
    }
    break;
  default:
    break;
  }
}

void Planner::addStep(uint32_t i) {
  using enum UndefinedStep::Kind;
  const Op &op = f.ops[i];
  const std::string_view form = f.infos[i].form;
  UndefinedStep step;
  if (op.guard && tracks(op.guard)) {
    step.guard = trackedOf(op.guard, 1);
    step.guard.root = uint32_t(f.uses.size()) + i + 1;
  }
  for (uint32_t u = f.useStart[i]; u < f.useStart[i + 1]; ++u) {
    if (!tracks(f.uses[u].row))
      continue;
    Tracked t = trackedOf(f.uses[u].row, f.uses[u].bits);
    t.root = u + 1;
    (f.uses[u].role == RegisterUse::Reads    ? step.reads
     : f.uses[u].role == RegisterUse::Writes ? step.writes
                                             : step.addresses)
        .push_back(t);
  }
  if (!step.guard.shadow && step.reads.empty() && step.writes.empty() &&
      step.addresses.empty())
    return;
  step.kind = kinds[i];
  step.op = op;
  if (!step.writes.empty())
    step.bits = uint8_t(step.writes[0].bits);
  step.isAnd = baseOf(form) == "and" || form.starts_with("lop3.and");
  step.transposes = form.find(".trans") != form.npos;
  if (step.kind == Load || step.kind == Store)
    describeElements(step, form, f.uses, f.useStart[i], f.useStart[i + 1]);
  mapOperands(step, i);
  if (step.guard.shadow)
    step.origins.push_back(step.guard.origin);
  for (const auto *list : {&step.reads, &step.writes, &step.addresses})
    for (const Tracked &t : *list)
      step.origins.push_back(t.origin);
  plan->stepOf[i] = uint32_t(plan->steps.size());
  plan->steps.push_back(std::move(step));
}

} // namespace

std::unique_ptr<const UndefinedPlan>
ptxsim::planUndefined(const Function &f, const std::vector<uint32_t> &roots,
                      Follow follow) {
  return Planner(f, follow).run(roots);
}

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
  useStart.resize(f.ops.size() + 1, uint32_t(uses.size()));
  noteParameters();
  f.undefinedRoots = maybeUndefined();
  std::erase(f.undefinedRoots, carryWord); // it begins as zero
  f.uses = std::move(uses);
  f.useStart = std::move(useStart);
  f.everything = std::make_shared<LazyPlan>();
  for (Op &op : f.ops)
    op.flags |= Followed;
  if (f.undefinedRoots.empty())
    return;
  f.undefined = ptxsim::planUndefined(f, f.undefinedRoots, Follow::Registers);
  for (size_t i = 0; i < f.ops.size(); ++i)
    if (f.undefined->stepOf[i] != ~0u)
      f.ops[i].flags |= FollowedRegisters;
}

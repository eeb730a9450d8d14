// Device functions: their declarations, calls of them, and the copies of their
// bodies that kernels get.

#include "runtime/ptxsim/Parser.h"

#include <atomic>
#include <bit>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

/// Pointers to functions are no addresses of memory, and differ between
/// modules.
constexpr uint64_t codeWindow = 4ull << 56;
uint64_t nextModule() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

/// Kernels that share functions each read them: a limit for all together.
constexpr uint64_t expansionLimit = 64u << 20;

bool sameFormals(const std::vector<Formal> &a, const std::vector<Formal> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].bytes != b[i].bytes || a[i].align != b[i].align)
      return false;
  return true;
}

} // namespace

/// (.param .align 8 .b8 a[16], .reg .u32 b), the parenthesis not yet read.
std::vector<Formal> Parser::formals() {
  std::vector<Formal> list;
  s.expect('(', "before parameters");
  if (s.accept(')'))
    return list;
  do {
    const Position at = s.position();
    std::string_view space = s.word();
    if (space != ".param" && space != ".reg")
      s.error(fmt::format("expected .param or .reg, but got '{}'", space));
    Formal f;
    f.inRegister = space == ".reg";
    VariableHeader v = variableHeader();
    if (v.type == Type::Pred || bitsOf(v.type) > 64 ||
        (bitsOf(v.type) == 16 && v.size == 2) ||
        (f.inRegister && bitsOf(v.type) < 32))
      throw LoadError{at, fmt::format("unsupported: parameter '{}' of type .{}",
                                      v.name, typeName(v.type))};
    if (v.unsized || !v.size || v.size > 32764 ||
        (f.inRegister && v.size != bitsOf(v.type) / 8))
      throw LoadError{at, fmt::format("bad size of parameter '{}'", v.name)};
    f.name = v.name, f.type = v.type;
    f.bytes = uint32_t(v.size), f.align = v.align;
    list.push_back(f);
  } while (s.accept(','));
  s.expect(')', "after parameters");
  return list;
}

/// .func (results) name (parameters) { } or ;
void Parser::function() {
  Declared d;
  while (s.peek() == '.') {
    const std::string_view word = s.word();
    if (word != ".attribute")
      s.error(fmt::format("unsupported directive '{}' of a function", word));
    s.expect('(', "after .attribute");
    s.until(')');
    s.expect(')', "after .attribute");
  }
  const Position at = s.position();
  if (s.peek() == '(')
    d.results = formals();
  if (d.results.size() > 1)
    for (const Formal &f : d.results)
      if (!f.inRegister)
        throw LoadError{at, "expected several results to be registers"};
  d.name = s.name();
  if (d.name.empty())
    s.error("expected the name of a function");
  if (s.peek() == '(')
    d.params = formals();
  bool hasBody = false;
  for (;;) {
    if (s.accept(';'))
      break;
    if (s.accept('{')) {
      hasBody = true;
      break;
    }
    const std::string_view word = s.word();
    if (word == ".pragma") {
      s.until(';');
      s.expect(';', "after .pragma");
    } else if (word == ".unique") {
      s.integer();
    } else if (word != ".noreturn") {
      s.error(fmt::format("unsupported directive '{}' of a function", word));
    }
  }
  auto [it, isNew] = functionNames.try_emplace(d.name, nullptr);
  if (isNew) {
    if (!codeBase)
      codeBase = codeWindow | nextModule() << 32;
    d.address = codeBase + (functions.size() + 1) * 16;
    it->second = &functions.emplace_back(std::move(d));
  } else if (!sameFormals(it->second->params, d.params) ||
             !sameFormals(it->second->results, d.results)) {
    throw LoadError{at, fmt::format("'{}' is declared with other parameters or "
                                    "results than before",
                                    it->second->name)};
  } else {
    // The names of the definition are the ones that its body uses.
    if (hasBody)
      it->second->params = d.params, it->second->results = d.results;
  }
  if (!hasBody)
    return;
  Declared &known = *it->second;
  if (known.body)
    throw LoadError{at, fmt::format("'{}' is defined twice", known.name)};
  known.body = s;
  const char *begin = s.here();
  s.skipBlock();
  known.bodyBytes = uint64_t(s.here() - begin);
}

/// .alias name, function;
void Parser::alias() {
  const std::string_view name = s.name();
  s.expect(',', "in .alias");
  const std::string_view of = s.name();
  s.expect(';', "after .alias");
  const auto it = functionNames.find(name), target = functionNames.find(of);
  if (it == functionNames.end() || target == functionNames.end())
    s.error("expected .alias to name two functions");
  if (it->second->body || target->second->aliasOf.size())
    s.error("expected .alias of a function with a body, by one without");
  it->second->aliasOf = of;
}

Parser::Declared *Parser::findFunction(std::string_view name) {
  auto it = functionNames.find(name);
  return it == functionNames.end() ? nullptr : it->second;
}

/// name: .callprototype (results) _ (parameters); or .calltargets f, g;
void Parser::prototype(FunctionBuilder &, std::string_view name) {
  Prototype p;
  if (s.peek() == '(')
    p.results = formals();
  if (s.name() != "_")
    s.error("expected '_' in .callprototype");
  if (s.peek() == '(')
    p.params = formals();
  while (s.peek() == '.') {
    const std::string_view word = s.word();
    if (word != ".noreturn")
      s.error(fmt::format("unsupported directive '{}' of a prototype", word));
  }
  s.expect(';', "after .callprototype");
  prototypes[name] = std::move(p);
}

void Parser::callTargets(std::string_view name) {
  Prototype p;
  do {
    const std::string_view target = s.name();
    Declared *d = findFunction(target);
    if (!d)
      s.error(fmt::format("'{}' is not a function declared before", target));
    if (!p.targets.empty() && (!sameFormals(p.params, d->params) ||
                               !sameFormals(p.results, d->results)))
      s.error("expected .calltargets with the same parameters and results");
    d->addressTaken = true;
    p.params = d->params, p.results = d->results;
    p.targets.push_back(d->address);
  } while (s.accept(','));
  s.expect(';', "after .calltargets");
  prototypes[name] = std::move(p);
}

std::vector<Operand> Parser::callOperands(FunctionBuilder &b) {
  std::vector<Operand> list;
  s.expect('(', "before arguments");
  if (s.accept(')'))
    return list;
  do {
    list.push_back(element(b));
  } while (s.accept(','));
  s.expect(')', "after arguments");
  return list;
}

std::vector<Actual> Parser::actuals(FunctionBuilder &b,
                                    const std::vector<Operand> &given,
                                    const std::vector<Formal> &formals,
                                    const char *what, bool isResult) {
  if (given.size() != formals.size())
    s.error(fmt::format("expected {} {}, but got {}", formals.size(), what,
                        given.size()));
  std::vector<Actual> list;
  for (size_t i = 0; i < given.size(); ++i) {
    const Operand &o = given[i];
    const Formal &f = formals[i];
    const uint32_t bits = f.bytes * 8;
    auto mismatch = [&] {
      s.error(fmt::format("expected '{}' to be of {} bytes aligned to {} like "
                          "the function's",
                          o.text, f.bytes, f.align));
    };
    Actual a;
    switch (o.kind) {
    case Operand::Symbol: {
      const Variable *v = b.findVariable(o.text);
      if (!v || !v->isParam)
        s.error(fmt::format("expected a .param variable, a register or an "
                            "immediate, but got '{}'",
                            o.text));
      if (v->size != f.bytes || v->align != f.align)
        mismatch();
      a = {b.symbolRow(o, 64), 64, true};
      break;
    }
    case Operand::Register:
      if (o.bits != bits)
        mismatch();
      a = {o.row, o.bits, false};
      break;
    case Operand::Sink:
      if (!isResult)
        s.error("expected an argument, but got '_'");
      a = {b.scratch(64), std::min(bits, 64u), false};
      break;
    case Operand::Integer:
    case Operand::Float: {
      if (isResult || bits > 64 || (bits & (bits - 1)))
        s.error("unexpected immediate");
      uint64_t value = o.imm;
      if (o.kind == Operand::Float && bits == 32 && !o.single)
        value = std::bit_cast<uint32_t>(float(std::bit_cast<double>(value)));
      else if (o.kind == Operand::Float && bits == 64 && o.single)
        value = std::bit_cast<uint64_t>(
            double(std::bit_cast<float>(uint32_t(value))));
      a = {b.constant(value, bits), std::max(bits, 16u), false};
      break;
    }
    default:
      s.error(fmt::format("unexpected '{}' in a call", o.text));
    }
    list.push_back(a);
  }
  return list;
}

uint32_t Parser::calleeOf(FunctionBuilder &b, const Declared &d) {
  auto [it, isNew] =
      linking->callees.try_emplace(d.name, uint32_t(b.f.callees.size()));
  if (isNew) {
    Callee &c = b.f.callees.emplace_back();
    c.name = d.name;
    c.address = d.addressTaken ? d.address : 0;
    c.params = d.params, c.results = d.results;
    linking->bodies.push_back(&d);
  }
  return it->second;
}

/// call{.uni} (results), function, (arguments), prototype; all lists may be
/// missing.
void Parser::call(FunctionBuilder &b, std::string_view opcode,
                  PredicateSource guard, Position at, const char *begin) {
  CallSite site;
  site.uniform = opcode == "call.uni";
  std::vector<Operand> results, arguments;
  if (s.peek() == '(') {
    results = callOperands(b);
    s.expect(',', "after the results of a call");
  }
  const Position nameAt = s.position();
  const std::string_view name = s.name();
  std::string_view last;
  if (s.accept(',')) {
    if (s.peek() == '(') {
      arguments = callOperands(b);
      if (s.accept(','))
        last = s.name();
    } else {
      last = s.name();
    }
  }
  if (auto reg = b.findRegister(name)) {
    if (reg->kind != Operand::Register || reg->bits != 64)
      throw LoadError{nameAt, "expected a function in a register of 64 bits"};
    auto it = prototypes.find(last);
    if (it == prototypes.end())
      throw LoadError{nameAt, "expected the prototype of an indirect call"};
    site.target = reg->row;
    site.params = it->second.params, site.results = it->second.results;
    site.targets = it->second.targets;
    site.arguments = actuals(b, arguments, site.params, "arguments", false);
    site.places = actuals(b, results, site.results, "results", true);
    linking->callsPointers = true;
  } else {
    Declared *d = findFunction(name);
    if (!d)
      throw LoadError{nameAt, fmt::format("'{}' is not a function declared "
                                          "before its call",
                                          name)};
    if (!last.empty())
      throw LoadError{nameAt, "a prototype for a direct call"};
    d->isUsed = true;
    d->usedAt = nameAt;
    site.arguments = actuals(b, arguments, d->params, "arguments", false);
    site.places = actuals(b, results, d->results, "results", true);
    site.callee = calleeOf(b, *d);
  }
  s.expect(';', "after a call");
  b.call(std::move(site), opcode, guard, at,
         std::string_view(begin, size_t(s.here() - begin)));
}

void Parser::functionBody(FunctionBuilder &b, uint32_t index,
                          const Declared &declared) {
  const Declared *d = &declared;
  if (!d->body && !d->aliasOf.empty())
    d = findFunction(d->aliasOf);
  b.beginFunction(index);
  b.openScope();
  auto place = [&](std::vector<Formal> &formals) {
    for (Formal &f : formals) {
      if (f.inRegister) {
        b.declareRegister(f.type, f.name, 1, false);
        f.at = b.findRegister(f.name)->row;
      } else {
        f.at = uint32_t(b.declareInFrame(f.name, f.bytes, f.align).address);
      }
    }
  };
  // The names of an alias's parameters are those of the function.
  std::vector<Formal> params = d->params, results = d->results;
  place(params), place(results);
  b.f.callees[index].params = std::move(params);
  b.f.callees[index].results = std::move(results);
  if (!d->body) {
    if (!b.builtin(d->name, d->usedAt))
      throw LoadError{d->usedAt,
                      fmt::format("unsupported: '{}' is not defined in this "
                                  "module",
                                  d->name)};
    b.instruction("ret", {0, 0}, {}, d->usedAt, "ret");
    b.closeScope();
    return b.endFunction();
  }
  expanded += d->bodyBytes;
  if (expanded > std::max<uint64_t>(expansionLimit, 4 * module.text.size()))
    throw LoadError{s.position(),
                    fmt::format("the functions that the module's kernels call "
                                "add up to more than {} bytes of text",
                                expansionLimit)};
  const Scanner saved = s;
  s = *d->body;
  prototypes.clear();
  body(b);
  s = saved;
  b.endFunction();
}

/// Every function is read once by itself: for its errors, and to know all
/// whose addresses are taken.
void Parser::checkFunctions() {
  for (Declared &d : functions) {
    if (!d.body)
      continue;
    Function alone;
    alone.module = &module;
    alone.sharedEnd = sharedBegin;
    FunctionBuilder b(alone, s);
    Open o;
    linking = &o;
    functionBody(b, calleeOf(b, d), d);
    linking = nullptr;
  }
}

void Parser::finishEntries() {
  checkFunctions();
  for (Open &o : open) {
    Function &f = module.functions[o.function];
    FunctionBuilder &b = *o.builder;
    linking = &o;
    for (uint32_t i = 0; i < f.callees.size(); ++i)
      f.callees[i].address =
          o.bodies[i]->addressTaken ? o.bodies[i]->address : 0;
    if (o.callsPointers)
      for (const Declared &d : functions)
        if (d.addressTaken)
          calleeOf(b, d);
    bool all = o.callsPointers;
    for (uint32_t i = 0; i < f.callees.size(); ++i) {
      functionBody(b, i, *o.bodies[i]);
      // A function may be the first that calls through a pointer.
      if (o.callsPointers && !all) {
        all = true;
        for (const Declared &d : functions)
          if (d.addressTaken)
            calleeOf(b, d);
      }
    }
    finish(b);
    module.entries[o.function] = f.kernel;
    linking = nullptr;
    o.builder.reset();
  }
}

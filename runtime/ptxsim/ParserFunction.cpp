#include "runtime/ptxsim/Parser.h"

#include <bit>
#include <fmt/format.h>

using namespace ptxsim;

void Parser::entry() {
  Function &f = module.functions.emplace_back();
  f.module = &module;
  f.kernel.name = s.name();
  if (f.kernel.name.empty())
    s.error("expected the name of an entry");
  f.sharedEnd = sharedBegin;
  parameters(f);
  for (;;) {
    if (s.accept('{'))
      break;
    std::string_view name = s.word();
    auto dims = [&] {
      Dim3 d;
      d.x = uint32_t(s.integer());
      if (s.accept(','))
        d.y = uint32_t(s.integer());
      if (s.accept(','))
        d.z = uint32_t(s.integer());
      return d;
    };
    if (name == ".maxntid")
      f.kernel.maxntid = dims();
    else if (name == ".reqntid")
      f.kernel.reqntid = dims();
    else if (name == ".minnctapersm")
      f.kernel.minCtas = uint32_t(s.integer());
    else if (name == ".maxnreg")
      f.kernel.maxnreg = uint32_t(s.integer());
    else if (name == ".maxnctapersm")
      s.integer();
    else if (name == ".reqnctapercluster" || name == ".maxclusterrank") {
      Position at = s.position();
      Dim3 d = dims();
      if (name == ".reqnctapercluster") {
        if (!d.x || !d.y || !d.z || uint64_t(d.x) * d.y * d.z > 16)
          throw LoadError{at, "expected a cluster of 1 to 16 CTAs"};
        f.kernel.cluster = d;
      }
    } else if (name == ".pragma") {
      s.until(';');
      s.expect(';', "after .pragma");
    } else if (name == ".explicitcluster" || name == ".noreturn")
      ;
    else
      s.error(fmt::format("unsupported directive '{}' of an entry", name));
  }
  prototypes.clear();
  Open o;
  o.function = module.functions.size() - 1;
  o.builder = std::make_unique<FunctionBuilder>(f, s);
  FunctionBuilder &b = *o.builder;
  linking = &o;
  b.openScope();
  for (const Param &p : f.kernel.params)
    b.declareVariable(p.name, {Space::Param, p.offset, p.size, p.align, false});
  body(b);
  b.endFunction();
  linking = nullptr;
  if (f.callees.empty() && !o.callsPointers)
    finish(b);
  else
    open.push_back(std::move(o));
  module.entries.push_back(f.kernel);
}

void Parser::parameters(Function &f) {
  if (!s.accept('(') || s.accept(')'))
    return;
  do {
    std::string_view space = s.word();
    if (space == ".hidden")
      space = s.word();
    if (space != ".param")
      s.error(fmt::format("expected .param, but got '{}'", space));
    Param p;
    uint32_t align = 1;
    std::optional<Type> parsed;
    for (;;) {
      std::string_view name;
      // A name may begin with a dot only as an attribute.
      if (s.peek() == '.')
        name = s.word();
      else
        break;
      if (name == ".align" && !parsed) {
        align = uint32_t(s.integer());
        if (!std::has_single_bit(align))
          s.error("expected .align to be a power of two");
      } else if (name == ".align")
        s.integer(); // of what a .ptr points at
      else if (name == ".ptr" || name == ".global" || name == ".shared" ||
               name == ".const" || name == ".local")
        ;
      else if (auto t = parseType(name.substr(1)); t && !parsed)
        parsed = t, p.type = name.substr(1);
      else
        s.error(fmt::format("unsupported parameter attribute '{}'", name));
    }
    if (!parsed)
      s.error("a parameter without a type");
    p.name = s.name();
    uint64_t size = bitsOf(*parsed) / 8;
    align = std::max(align, uint32_t(size));
    while (s.accept('[')) {
      size *= uint64_t(s.integer());
      s.expect(']', "after an array size");
    }
    if (size == 0 || size > 32764)
      s.error(fmt::format("bad size of parameter '{}'", p.name));
    p.size = uint32_t(size);
    p.align = align;
    p.offset = (f.kernel.paramBytes + align - 1) / align * align;
    f.kernel.paramBytes = p.offset + p.size;
    if (f.kernel.paramBytes > 32764)
      s.error("more than 32764 bytes of parameters");
    f.kernel.params.push_back(std::move(p));
  } while (s.accept(','));
  s.expect(')', "after the parameters");
}

/// Up to the closing brace of the scope that is open.
void Parser::body(FunctionBuilder &b) {
  while (b.depth()) {
    if (s.accept('{')) {
      if (b.depth() > 255)
        s.error("blocks nested more than 255 deep");
      b.openScope();
    } else if (s.peek() == '}') {
      // A body ends like a ret: labels may stand right before the brace.
      if (b.depth() == 1)
        b.instruction("ret", {0, 0}, {}, s.position(), "}");
      s.accept('}');
      b.closeScope();
    } else
      statement(b);
  }
}

void Parser::finish(FunctionBuilder &b) {
  Function &f = b.f;
  registerBytes += f.registerBytes;
  if (registerBytes > 1u << 28)
    s.error("too many registers in all kernels of the module together");
  b.finish(stack);
  f.kernel.staticSharedBytes = f.sharedEnd - sharedBegin;
  // Dynamic shared memory begins behind static: its arrays' alignment was noted
  // when they were used.
  uint32_t align = std::max(16u, f.dynamicSharedAlign);
  f.dynamicSharedBase = (f.sharedEnd + align - 1) / align * align;
  for (ConstantRow &row : f.constants)
    if (row.dynamicShared)
      row.value += f.dynamicSharedBase;
  if (f.locs.empty())
    f.locs.emplace_back();
}

void Parser::statement(FunctionBuilder &b) {
  if (s.accept(';'))
    return;
  char c = s.peek();
  if (!c)
    s.error("a function that does not end");
  Position at = s.position();
  if (c == '.')
    return bodyDirective(b, s.word());
  const char *begin = s.here();
  PredicateSource g{0, 0};
  if (s.accept('@')) {
    g = guard(b);
    at = s.position();
  }
  std::string_view word = s.dottedName();
  // A label may contain characters that an opcode has not, but no dots.
  if (word.empty())
    word = s.name();
  if (word.empty())
    s.error(fmt::format("unexpected '{}'", c));
  if (g.row == 0 && s.acceptColon()) {
    if (s.peek() == '.') {
      std::string_view d = s.word();
      if (d == ".branchtargets") {
        std::vector<std::string_view> labels;
        do
          labels.push_back(s.name());
        while (s.accept(','));
        s.expect(';', "after .branchtargets");
        return b.declareTargets(word, std::move(labels));
      }
      if (d == ".callprototype")
        return prototype(b, word);
      if (d == ".calltargets")
        return callTargets(word);
      b.declareLabel(word, at);
      return bodyDirective(b, d);
    }
    return b.declareLabel(word, at);
  }
  instruction(b, word, g, at, begin);
}

void Parser::bodyDirective(FunctionBuilder &b, std::string_view name) {
  if (name == ".reg")
    return registers(b);
  if (name == ".loc") {
    uint32_t file = uint32_t(s.integer()), line = uint32_t(s.integer()),
             column = uint32_t(s.integer());
    b.setLoc(file, line, column);
    // , function_name LABEL {+ n}, inlined_at FILE LINE COLUMN
    while (s.accept(',')) {
      std::string_view what = s.name();
      if (what == "function_name") {
        s.name();
        if (s.peek() == '+')
          s.accept('+'), s.integer();
      } else if (what == "inlined_at") {
        s.integer(), s.integer(), s.integer();
      } else {
        s.error(fmt::format("unexpected '{}' in .loc", what));
      }
    }
    return;
  }
  if (name == ".local") {
    return variables([&](const VariableHeader &v) {
      if (v.unsized)
        s.error(fmt::format("expected '{}' to have a size", v.name));
      b.declareInFrame(v.name, v.size, v.align);
    });
  }
  if (name == ".shared") {
    return variables([&](const VariableHeader &v) {
      b.declareVariable(v.name, layoutShared(b.f, v.unsized ? 0 : v.size,
                                             v.align, v.unsized, v.name));
    });
  }
  if (name == ".extern") {
    std::string_view next = s.word();
    if (next != ".shared")
      s.error(fmt::format("unsupported directive '.extern {}' in a function",
                          next));
    return bodyDirective(b, next);
  }
  if (name == ".pragma") {
    s.until(';');
    return s.expect(';', "after .pragma");
  }
  if (name == ".param") {
    return variables([&](const VariableHeader &v) {
      if (v.unsized || !v.size)
        s.error(fmt::format("expected '{}' to have a size", v.name));
      b.declareInFrame(v.name, v.size, v.align, true);
    });
  }
  s.error(fmt::format("unsupported directive '{}'", name));
}

void Parser::registers(FunctionBuilder &b) {
  Type t = type();
  if (bitsOf(t) > 64)
    s.error(fmt::format("unsupported register type .{}", typeName(t)));
  do {
    std::string_view name = s.name();
    if (name.empty())
      s.error("expected the name of a register");
    if (s.accept('<')) {
      int64_t count = s.integer();
      if (count < 0 || count > 1 << 20)
        s.error("bad number of registers");
      s.expect('>', "after the number of registers");
      b.declareRegister(t, name, uint32_t(count), true);
    } else {
      b.declareRegister(t, name, 1, false);
    }
  } while (s.accept(','));
  s.expect(';', "after .reg");
}

Variable Parser::layoutShared(Function &f, uint64_t size, uint32_t align,
                              bool dynamic, std::string_view name) {
  if (dynamic) {
    f.dynamicSharedAlign = std::max(f.dynamicSharedAlign, align);
    if (f.kernel.dynamicShared.empty())
      f.kernel.dynamicShared = name;
    return {Space::Shared, 0, 0, align, true};
  }
  uint32_t offset = (f.sharedEnd + align - 1) / align * align;
  if (size > 1u << 20 || offset + size > 1u << 20)
    s.error(fmt::format("shared memory of more than 1 MiB with '{}'", name));
  f.sharedEnd = offset + uint32_t(size);
  return {Space::Shared, offset, size, align, false};
}

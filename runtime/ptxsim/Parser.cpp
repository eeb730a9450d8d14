#include "runtime/ptxsim/Parser.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

void Parser::run() {
  while (!s.atEnd()) {
    std::string_view name = s.word();
    if (name.empty() || name[0] != '.')
      s.error("expected a directive at module level");
    directive(name);
  }
  finishEntries();
}

void Parser::directive(std::string_view name) {
  if (name == ".version" || name == ".target" || name == ".address_size" ||
      name == ".language") {
    // .version 8.7 / .target sm_90a, texmode / .address_size 64
    do {
      std::string_view value = s.dottedName();
      if (name == ".address_size" && value != "64")
        s.error(fmt::format("unsupported .address_size {}", value));
    } while (s.accept(','));
    return;
  }
  if (name == ".file") {
    uint32_t index = uint32_t(s.integer());
    module.files[index] = s.quoted();
    while (s.accept(','))
      s.integer();
    return;
  }
  if (name == ".section") {
    s.word();
    s.expect('{', "after .section");
    s.skipBlock();
    return;
  }
  if (name == ".loc") {
    s.integer(), s.integer(), s.integer();
    return;
  }
  if (name == ".pragma") {
    s.until(';');
    s.expect(';', "after .pragma");
    return;
  }
  bool isExtern = false;
  while (name == ".visible" || name == ".extern" || name == ".weak" ||
         name == ".common" || name == ".hidden") {
    isExtern |= name == ".extern";
    name = s.word();
  }
  if (name == ".entry")
    return entry();
  if (name == ".func")
    return function();
  if (name == ".global")
    return moduleVariable(Space::Global, isExtern);
  if (name == ".const")
    return moduleVariable(Space::Const, isExtern);
  if (name == ".shared")
    return moduleVariable(Space::Shared, isExtern);
  if (name == ".alias")
    return alias();
  s.error(fmt::format("unsupported directive '{}'", name));
}

Type Parser::type() {
  std::string_view name = s.word();
  auto type = name.size() > 1 && name[0] == '.' ? parseType(name.substr(1))
                                                : std::nullopt;
  if (!type)
    s.error(fmt::format("expected a type, but got '{}'", name));
  return *type;
}

/// What follows the space of a variable: `.align 16 .b8 name[4][8]`.
Parser::VariableHeader Parser::variableHeader() {
  VariableHeader v;
  for (;;) {
    std::string_view word = s.word();
    if (word == ".align") {
      v.declaredAlign = uint32_t(s.integer());
      if (!std::has_single_bit(v.declaredAlign))
        s.error("expected .align to be a power of two");
      continue;
    }
    if (word == ".attribute") {
      s.expect('(', "after .attribute");
      s.until(')');
      s.expect(')', "after .attribute");
      continue;
    }
    auto parsed = word.size() > 1 && word[0] == '.' ? parseType(word.substr(1))
                                                    : std::nullopt;
    if (!parsed)
      s.error(fmt::format("expected a type, but got '{}'", word));
    v.type = *parsed;
    break;
  }
  variableName(v);
  return v;
}

/// The name and size of one variable of a declaration.
void Parser::variableName(VariableHeader &v) {
  v.unsized = false;
  v.name = s.name();
  if (v.name.empty())
    s.error("expected the name of a variable");
  v.size = bitsOf(v.type) / 8;
  v.align = std::max(v.declaredAlign, uint32_t(v.size));
  while (s.accept('[')) {
    if (s.accept(']')) {
      v.unsized = true;
      continue;
    }
    int64_t n = s.integer();
    if (n < 0 || n > (1ll << 40) || v.size * uint64_t(n) > 1ull << 40)
      s.error("bad array size");
    v.size *= uint64_t(n);
    s.expect(']', "after an array size");
  }
}

void Parser::moduleVariable(Space space, bool isExtern) {
  variables([&](const VariableHeader &v) {
    if (space == Space::Shared) {
      shared[v.name] = {v.unsized ? 0 : v.size, v.align, v.unsized};
      return;
    }
    if (isExtern)
      s.error(fmt::format(
          "unsupported: .extern variable '{}' of another module", v.name));
    if (v.unsized)
      s.error(fmt::format("expected '{}' to have a size", v.name));
    uint64_t address = arena.allocate(v.size, std::string(v.name));
    if (!address)
      s.error(fmt::format("no memory for '{}' of {} bytes", v.name, v.size));
    if (space == Space::Const)
      arena.setConstant(address);
    module.globals[std::string(v.name)] = {address, v.size};
    if (s.accept('='))
      initialise(address, v.size, v.type);
  });
}

void Parser::initialise(uint64_t address, uint64_t size, Type type) {
  auto *to = reinterpret_cast<std::byte *>(address);
  initialValue(to, to + size, type);
}

void Parser::initialValue(std::byte *&to, std::byte *end, Type type,
                          unsigned depth) {
  if (s.accept('{')) {
    if (depth > 31)
      s.error("initial values nested more than 32 deep");
    if (s.accept('}'))
      return;
    do
      initialValue(to, end, type, depth + 1);
    while (s.accept(','));
    return s.expect('}', "after initial values");
  }
  const size_t bytes = bitsOf(type) / 8;
  if (size_t(end - to) < bytes)
    s.error("too many initial values");
  uint64_t value = 0;
  char c = s.peek();
  if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9')) {
    Scanner::Number n = s.number();
    value = n.value;
    if (n.isFloat && type == Type::F32 && !n.single)
      value = std::bit_cast<uint32_t>(float(std::bit_cast<double>(value)));
    else if (n.isFloat && type == Type::F64 && n.single)
      value = std::bit_cast<uint64_t>(
          double(std::bit_cast<float>(uint32_t(value))));
    else if (!n.isFloat && (type == Type::F32 || type == Type::F64))
      s.error("expected a floating-point number");
  } else {
    std::string_view name = s.name();
    bool generic = name == "generic" && s.accept('(');
    if (generic)
      name = s.name();
    auto it = module.globals.find(name);
    Declared *called = findFunction(name);
    if (it == module.globals.end() && !called)
      s.error(fmt::format("unsupported initial value '{}'", name));
    if (generic)
      s.expect(')', "after generic(..");
    value = called ? called->address : it->second.first;
    if (called)
      called->addressTaken = true;
    if (s.peek() == '+' || s.peek() == '-')
      value += uint64_t(s.integer());
    if (bytes != 8)
      s.error("an address needs 64 bits");
  }
  std::memcpy(to, &value, bytes);
  to += bytes;
}

const Kernel *ModuleImpl::find(std::string_view name) const {
  for (const Kernel &k : entries)
    if (k.name == name)
      return &k;
  return nullptr;
}

std::optional<std::pair<uint64_t, size_t>>
ModuleImpl::global(std::string_view name) const {
  auto it = globals.find(name);
  if (it == globals.end())
    return std::nullopt;
  return it->second;
}

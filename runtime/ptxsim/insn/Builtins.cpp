// Functions of the system that nvcc's code calls: vprintf and __assertfail.

#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/FunctionBuilder.h"
#include "runtime/ptxsim/Lanes.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>

using namespace ptxsim;

namespace {

// Op: a, b, c, e: rows with the addresses of the parameters in the frame; d: of
// the result.

template <class T>
T load(Warp &w, const Op &op, unsigned lane, Space space, uint64_t address) {
  T value;
  std::memcpy(&value,
              w.access(op, lane, space, address, sizeof value, Access::Read),
              sizeof value);
  return value;
}

template <class T> T param(Warp &w, const Op &op, unsigned lane, uint32_t row) {
  return load<T>(w, op, lane, Space::Local, w.row<uint64_t>(row)[lane]);
}

std::string text(Warp &w, const Op &op, unsigned lane, uint64_t address) {
  std::string out;
  while (char c = load<char>(w, op, lane, Space::Generic, address++))
    out += c;
  return out;
}

/// The arguments of a printf: each at the next multiple of its size.
struct Arguments {
  Warp &w;
  const Op &op;
  unsigned lane;
  uint64_t at;
  int taken = 0;
  template <class T> T next() {
    at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value = load<T>(w, op, lane, Space::Generic, at);
    at += sizeof(T);
    ++taken;
    return value;
  }
};

template <class T> std::string print(const std::string &spec, T value) {
  std::string out(size_t(std::snprintf(nullptr, 0, spec.c_str(), value)), ' ');
  std::snprintf(out.data(), out.size() + 1, spec.c_str(), value);
  return out;
}

/// One conversion of a format, from its % on; moves `p` behind it.
std::string convert(Arguments &arguments, const char *&p) {
  std::string spec(1, *p++);
  bool wide = false;
  for (; *p && std::strchr("-+ #0123456789.*hlzjtL", *p); ++p) {
    if (*p == '*')
      spec += std::to_string(arguments.next<int32_t>());
    else if (std::strchr("lzjt", *p))
      wide = true;
    else if (!std::strchr("hL", *p))
      spec += *p;
  }
  const char kind = *p ? *p++ : '%';
  if (std::strchr("diouxX", kind))
    return wide ? print(spec + "ll" + kind, arguments.next<long long>())
                : print(spec + kind, arguments.next<int32_t>());
  if (std::strchr("eEfFgGaA", kind))
    return print(spec + kind, arguments.next<double>());
  if (kind == 'c')
    return print(spec + kind, arguments.next<int32_t>());
  if (kind == 'p')
    return print("%#llx", arguments.next<unsigned long long>());
  if (kind == 's')
    return print(spec + kind, text(arguments.w, arguments.op, arguments.lane,
                                   arguments.next<uint64_t>())
                                  .c_str());
  return std::string(1, kind);
}

/// Prints at once; every lane's line by itself.
void vprintf(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    const uint64_t format = param<uint64_t>(w, op, lane, op.a);
    Arguments arguments{w, op, lane, param<uint64_t>(w, op, lane, op.b)};
    int32_t result = -1;
    if (format) {
      std::string out;
      const std::string parsed = text(w, op, lane, format);
      for (const char *p = parsed.c_str(); *p;)
        if (*p == '%')
          out += convert(arguments, p);
        else
          out += *p++;
      std::fwrite(out.data(), 1, out.size(), stdout);
      result = arguments.taken;
    }
    std::memcpy(w.access(op, lane, Space::Local, w.row<uint64_t>(op.d)[lane],
                         sizeof result, Access::Write),
                &result, sizeof result);
  });
}

/// (message, file, line, function, bytes of a character)
void assertFail(Warp &w, const Op &op, uint32_t mask) {
  const unsigned lane = unsigned(std::countr_zero(mask));
  auto string = [&](uint32_t row) {
    return text(w, op, lane, param<uint64_t>(w, op, lane, row));
  };
  w.fault(op, lane,
          fmt::format("{}:{}: {}: assertion `{}' failed", string(op.b),
                      param<uint32_t>(w, op, lane, op.c), string(op.e),
                      string(op.a)),
          {}, FaultKind::Assert);
}

struct Builtin {
  std::string_view name;
  Handler handler;
  std::vector<uint32_t> params, results; ///< bytes
};

bool matches(const std::vector<Formal> &formals,
             const std::vector<uint32_t> &bytes) {
  if (formals.size() != bytes.size())
    return false;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (formals[i].inRegister || formals[i].bytes != bytes[i])
      return false;
  return true;
}

} // namespace

bool FunctionBuilder::builtin(std::string_view name, Position at) {
  static const Builtin all[] = {
      {"vprintf", vprintf, {8, 8}, {4}},
      {"__assertfail", assertFail, {8, 8, 4, 8, 8}, {}},
  };
  for (const Builtin &known : all) {
    const Callee &callee = f.callees[size_t(current)];
    if (known.name != name || !matches(callee.params, known.params) ||
        !matches(callee.results, known.results))
      continue;
    position = at;
    guard = {0, 0};
    form = text = known.name;
    auto row = [&](const std::vector<Formal> &formals, size_t i) {
      return i < formals.size() ? frameRow(formals[i].at, 64) : 0;
    };
    const uint32_t d = row(callee.results, 0), a = row(callee.params, 0),
                   b = row(callee.params, 1), c = row(callee.params, 2),
                   e = row(callee.params, 3);
    Op &op = emit(known.handler);
    op.d = d, op.a = a, op.b = b, op.c = c, op.e = e;
    decoder.base = "call";
    noteOperands({});
    return true;
  }
  return false;
}

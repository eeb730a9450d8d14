#include "runtime/ptxsim/Reduce.h"

#include "runtime/ptxsim/numeric/Half.h"

#include <atomic>
#include <cstring>

using namespace ptxsim;

namespace {

template <class T> T integer(Reduction r, T a, T b) {
  switch (r) {
  case Reduction::Add:
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  case Reduction::Min:
    return b < a ? b : a;
  case Reduction::Max:
    return a < b ? b : a;
  case Reduction::Inc:
    return std::make_unsigned_t<T>(a) >= std::make_unsigned_t<T>(b) ? T(0)
                                                                    : T(a + 1);
  case Reduction::Dec:
    return a == 0 || std::make_unsigned_t<T>(a) > std::make_unsigned_t<T>(b)
               ? b
               : T(a - 1);
  case Reduction::And:
    return a & b;
  case Reduction::Or:
    return a | b;
  case Reduction::Xor:
    return a ^ b;
  case Reduction::None:
    break;
  }
  return b;
}

template <class H> uint16_t half(Reduction r, uint16_t a, uint16_t b) {
  const float x = H::widen(a), y = H::widen(b);
  if (r == Reduction::Add)
    return H::narrow(x + y);
  // A NaN loses against a number.
  if (x != x)
    return y != y ? 0x7fff : b;
  if (y != y)
    return a;
  return (r == Reduction::Min) == (y < x) ? b : a;
}

template <class Bits, class F>
void each(std::byte *to, const std::byte *from, uint32_t bytes, bool atomic,
          F f) {
  for (uint32_t i = 0; i < bytes; i += sizeof(Bits)) {
    Bits b;
    std::memcpy(&b, from + i, sizeof b);
    Bits &target = *reinterpret_cast<Bits *>(to + i);
    if (!atomic) {
      target = f(target, b);
      continue;
    }
    std::atomic_ref<Bits> shared(target);
    Bits old = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(old, f(old, b)))
      ;
  }
}

} // namespace

bool ptxsim::canReduce(Reduction r, Type t) {
  switch (r) {
  case Reduction::None:
    return false;
  case Reduction::Add:
    return t == Type::U32 || t == Type::S32 || t == Type::U64 ||
           t == Type::S64 || t == Type::F16 || t == Type::BF16 ||
           t == Type::F32 || t == Type::F64;
  case Reduction::Min:
  case Reduction::Max:
    return t == Type::U32 || t == Type::S32 || t == Type::U64 ||
           t == Type::S64 || t == Type::F16 || t == Type::BF16;
  case Reduction::Inc:
  case Reduction::Dec:
    return t == Type::U32;
  case Reduction::And:
  case Reduction::Or:
  case Reduction::Xor:
    return t == Type::B32 || t == Type::B64 || t == Type::U32 ||
           t == Type::S32 || t == Type::U64 || t == Type::S64;
  }
  return false;
}

void ptxsim::reduceInto(std::byte *to, const std::byte *from, uint32_t bytes,
                        Reduction r, Type type, bool atomic) {
  switch (type) {
  case Type::F32:
    return each<uint32_t>(to, from, bytes, atomic, [](uint32_t a, uint32_t b) {
      return std::bit_cast<uint32_t>(
          addFlushed(std::bit_cast<float>(a), std::bit_cast<float>(b)));
    });
  case Type::F64:
    return each<uint64_t>(to, from, bytes, atomic, [](uint64_t a, uint64_t b) {
      return std::bit_cast<uint64_t>(std::bit_cast<double>(a) +
                                     std::bit_cast<double>(b));
    });
  case Type::F16:
    return each<uint16_t>(to, from, bytes, atomic, [r](uint16_t a, uint16_t b) {
      return half<HalfF16>(r, a, b);
    });
  case Type::BF16:
    return each<uint16_t>(to, from, bytes, atomic, [r](uint16_t a, uint16_t b) {
      return half<HalfBF16>(r, a, b);
    });
  case Type::S32:
    return each<int32_t>(to, from, bytes, atomic, [r](int32_t a, int32_t b) {
      return integer<int32_t>(r, a, b);
    });
  case Type::S64:
    return each<int64_t>(to, from, bytes, atomic, [r](int64_t a, int64_t b) {
      return integer<int64_t>(r, a, b);
    });
  case Type::U64:
  case Type::B64:
    return each<uint64_t>(to, from, bytes, atomic, [r](uint64_t a, uint64_t b) {
      return integer<uint64_t>(r, a, b);
    });
  default:
    return each<uint32_t>(to, from, bytes, atomic, [r](uint32_t a, uint32_t b) {
      return integer<uint32_t>(r, a, b);
    });
  }
}

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the prefetch of
// tensors, of one to five dimensions, against a walk over the box that is
// written here from the ISA's description: element types of 1 to 8 bytes,
// strides with gaps, coordinates out of bounds on both sides (zero in loads,
// left alone by stores), swizzles as the exclusive or of address bits.

#include "test/Unit/ptxsim_forms/Deliveries.h"
#include "test/Unit/ptxsim_forms/Reduction.h"

using namespace ptxsim::forms;
using ptxsim::TensorMapDesc;

namespace {

struct Tensor {
  TensorMapDesc desc;
  std::vector<int> at; ///< the box's coordinates
  unsigned bytes = 4;  ///< of an element

  unsigned boxBytes() const {
    unsigned n = bytes;
    for (unsigned i = 0; i < desc.rank; ++i)
      n *= desc.box[i];
    return n;
  }
  size_t words() const {
    return (desc.dims[desc.rank - 1] *
                (desc.rank > 1 ? desc.strides[desc.rank - 2] : bytes) +
            3) /
           4;
  }
  std::string coordinates() const {
    std::string text = "[%d3, {";
    for (size_t i = 0; i < at.size(); ++i)
      text += (i ? ", " : "") + std::to_string(at[i]);
    return text + "}]";
  }
  /// f(byte offset in the tensor or none, byte offset in shared memory) of each
  /// element of the box.
  template <class F> void each(F f) const {
    std::vector<unsigned> i(desc.rank);
    for (unsigned n = 0; n < boxBytes(); n += bytes) {
      bool inside = true;
      uint64_t offset = 0;
      for (unsigned d = 0; d < desc.rank; ++d) {
        const int64_t x = at[d] + int64_t(i[d]);
        inside &= x >= 0 && x < int64_t(desc.dims[d]);
        offset += uint64_t(x) * (d ? desc.strides[d - 1] : bytes);
      }
      f(inside ? std::optional(offset) : std::nullopt,
        n ^ (n >> 7 & ((1u << desc.swizzle) - 1)) << 4);
      for (unsigned d = 0; d < desc.rank && ++i[d] == desc.box[d]; ++d)
        i[d] = 0;
    }
  }
};

/// The box leaves the tensor behind dimension 0, before 1 and behind 2.
Tensor tensor(unsigned rank, TensorMapDesc::DataType type, unsigned bytes,
              unsigned swizzle) {
  Tensor t;
  t.bytes = bytes;
  const unsigned inner = (swizzle ? 16u << swizzle : 64) / bytes;
  const uint64_t dims[] = {inner + 5, 7, 5, 3, 4};
  const uint32_t box[] = {inner, 5, 3, 2, 2};
  const int at[] = {int(inner / 4), -2, 3, 1, 0};
  t.desc.type = type;
  t.desc.rank = rank;
  t.desc.swizzle = TensorMapDesc::Swizzle(swizzle);
  uint64_t pitch = (dims[0] * bytes + 15) / 16 * 16 + 16;
  for (unsigned d = 0; d < rank; ++d) {
    t.desc.dims[d] = dims[d], t.desc.box[d] = box[d];
    t.at.push_back(at[d]);
    if (d)
      t.desc.strides[d - 1] = pitch, pitch = pitch * dims[d] + 16;
  }
  return t;
}

Tensor tensor(unsigned rank) {
  switch (rank) {
  case 1:
    return tensor(1, TensorMapDesc::UInt16, 2, 0);
  case 2:
    return tensor(2, TensorMapDesc::Float32, 4, 3);
  case 3:
    return tensor(3, TensorMapDesc::BFloat16, 2, 2);
  case 4:
    return tensor(4, TensorMapDesc::Int64, 8, 1);
  default:
    return tensor(5, TensorMapDesc::UInt8, 1, 0);
  }
}

unsigned window(const Tensor &t) { return (t.boxBytes() + 1039) / 1024 * 1024; }

void load(To to, const std::string &name, unsigned rank, bool hasPolicy) {
  const Tensor t = tensor(rank);
  Setup setup;
  setup.map = t.desc;
  setup.in0 = numbers(t.words(), 20);
  setup.in1.assign(window(t) / 4, 0xeeeeeeee);
  const Words got =
      deliver({to, name, t.coordinates(), hasPolicy ? ", %d8" : "", 0,
               t.boxBytes(), window(t)},
              setup);
  Words filled = setup.in1, expected;
  t.each([&](std::optional<uint64_t> from, unsigned at) {
    put(filled, at, from ? get(setup.in0, *from, t.bytes) : 0, t.bytes);
  });
  for (unsigned cta = 0; cta < ctas(to); ++cta) {
    const Words &shared = receives(to, cta) ? filled : setup.in1;
    expected.insert(expected.end(), shared.begin(), shared.end());
  }
  EXPECT_TRUE(got == expected);
}

void store(const std::string &name, unsigned rank, bool hasPolicy) {
  const Tensor t = tensor(rank);
  Setup setup;
  setup.map = t.desc;
  setup.in0 = numbers(t.words(), 21);
  setup.in1 = numbers(window(t) / 4, 22);
  Words expected = setup.in0;
  t.each([&](std::optional<uint64_t> to, unsigned at) {
    if (to)
      put(expected, *to, get(setup.in1, at, t.bytes), t.bytes);
  });
  const Words got = send(name + " " + t.coordinates() + ", [%r1]" +
                             (hasPolicy ? ", %d8;" : ";"),
                         setup);
  EXPECT_TRUE(got == expected);
}

struct Element {
  const char *type;
  TensorMapDesc::DataType code;
};

/// The ISA does not tell what becomes of subnormal f32: there are none here.
void reduce(const std::string &name, const std::string &op, unsigned rank,
            const Element &element, bool hasPolicy) {
  const unsigned bytes = reductionBytes(element.type);
  const Tensor t = tensor(rank, element.code, bytes, rank % 4);
  std::mt19937_64 random(rank);
  Setup setup;
  setup.map = t.desc;
  setup.in0 = numbers(t.words(), 23);
  setup.in1 = numbers(window(t) / 4, 24);
  Words expected = setup.in0;
  t.each([&](std::optional<uint64_t> to, unsigned at) {
    const uint64_t s = pickOperand(op, element.type, random, true);
    put(setup.in1, at, s, bytes);
    if (!to)
      return;
    const uint64_t m = pickOperand(op, element.type, random, true);
    put(setup.in0, *to, m, bytes);
    put(expected, *to, reduced(op, element.type, m, s), bytes);
  });
  const Words got = send(name + " " + t.coordinates() + ", [%r1]" +
                             (hasPolicy ? ", %d8;" : ";"),
                         setup);
  EXPECT_TRUE(got == expected) << element.type;
}

std::vector<Element> elements(const std::string &op) {
  using D = TensorMapDesc;
  if (op == "inc" || op == "dec")
    return {{"u32", D::UInt32}};
  if (op == "and" || op == "or" || op == "xor")
    return {{"b32", D::UInt32}, {"b64", D::UInt64}, {"b32", D::Int32}};
  if (op == "add")
    return {{"u32", D::UInt32},  {"u64", D::UInt64},    {"s32", D::Int32},
            {"f16", D::Float16}, {"bf16", D::BFloat16}, {"f32", D::Float32}};
  return {{"u32", D::UInt32}, {"s32", D::Int32},   {"u64", D::UInt64},
          {"s64", D::Int64},  {"f16", D::Float16}, {"bf16", D::BFloat16}};
}

} // namespace

FORMS(tensorCopy) {
  const std::string arrives = ".mbarrier::complete_tx::bytes";
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (const char *tile : {"", ".tile"})
      for (const char *hint : {"", ".L2::cache_hint"}) {
        const bool hasPolicy = *hint;
        const std::string tensor = "cp.async.bulk.tensor." +
                                   std::to_string(rank) + "d",
                          own = tensor + ".shared::cta.global" + tile +
                                arrives + hint,
                          other = tensor + ".shared::cluster.global" + tile +
                                  arrives + hint,
                          several = tensor + ".shared::cluster.global" + tile +
                                    arrives + ".multicast::cluster" + hint,
                          out = tensor + ".global.shared::cta" + tile +
                                ".bulk_group" + hint,
                          ahead = "cp.async.bulk.prefetch.tensor." +
                                  std::to_string(rank) + "d.L2.global" + tile +
                                  hint;
        form(own, [=] { load(To::Own, own, rank, hasPolicy); });
        form(other, [=] {
          load(To::Other, other, rank, hasPolicy);
          load(To::Own, other, rank, hasPolicy);
        });
        form(several, [=] { load(To::Several, several, rank, hasPolicy); });
        form(out, [=] { store(out, rank, hasPolicy); });
        form(
            ahead,
            [=] {
              const Tensor t = ::tensor(rank);
              Setup setup;
              setup.map = t.desc;
              setup.in0 = numbers(t.words(), 25);
              EXPECT_EQ(send(ahead + " " + t.coordinates() +
                                 (hasPolicy ? ", %d8;" : ";"),
                             setup),
                        setup.in0);
            },
            Effect::Unseen);
      }
}

FORMS(tensorReduce) {
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (const char *op :
         {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
      for (const char *tile : {"", ".tile"})
        for (const char *hint : {"", ".L2::cache_hint"}) {
          const std::string name =
              "cp.reduce.async.bulk.tensor." + std::to_string(rank) +
              "d.global.shared::cta." + op + tile + ".bulk_group" + hint;
          // All types of the operation in the forms of one rank.
          const bool hasPolicy = *hint, hasTile = *tile;
          form(name, [=] {
            const std::vector<Element> all = elements(op);
            const size_t first = rank + 2 * hasTile + 3 * hasPolicy;
            for (size_t i : {first, first + 1})
              reduce(name, op, rank, all[i % all.size()], hasPolicy);
          });
        }
}

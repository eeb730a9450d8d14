#ifndef TEST_UNIT_PTXSIM_MUTANTS_CORPUS_H
#define TEST_UNIT_PTXSIM_MUTANTS_CORPUS_H

// Kernels with launches: what mutants are made of. corpus.txt describes them:
//
//   case gemm_nt ../ptxsim_tensor/Inputs/gemm.ptx gemm_nt   name, file, entry
//   grid 2 2            block 128        shared 1024        cluster 2
//   buffer bf16 20480 normal     a buffer: type, elements, content
//   i32 128    f32 0.5    i64 7  a scalar
//   data bf16 20480 normal       a buffer that is not passed
//   same @0                      the same buffer again
//   map bf16 @0 128 64 64 32 swizzle128    a tensor map: type, of which line
//                 (from 0) of buffers and scalars, rows, columns, their box
//   options NAME=on,NAME=off     of the device, for this kernel
//   again              what follows describes one more launch of the same
//   kernel unordered 0.001    float atomics: results may differ so much,
//   relatively
//
// Contents: zero, poison (0xff..), normal, iota, below:N (integers of [0, N)),
// fp8 (finite e4m3), values:1,2,3 (the rest is 0); normal!10-20,30-40: poison
// in these ranges of elements.

#include "runtime/ptxsim/TensorMap.h"

#include <string>
#include <vector>

namespace mutants {

struct Argument {
  enum { Scalar, Buffer, Map, Same } kind = Scalar;
  bool isPassed = true;
  std::string type;
  std::vector<std::byte> bytes; ///< a buffer's content, a scalar's value
  size_t of = 0;                ///< the buffer of a map or of a Same
  ptxsim::TensorMapDesc map;
};

struct Case {
  std::string name, origin, file, entry, text, options;
  ptxsim::Dim3 grid, block;
  std::optional<ptxsim::Dim3> cluster;
  uint32_t shared = 0;
  double tolerance = 0; ///< of float results, 0: bit by bit
  std::vector<Argument> arguments;
  std::vector<Case> again; ///< more launches, without text
  size_t parameters() const;
};

/// The cases of a file, their PTX beside it. Throws std::runtime_error.
std::vector<Case> readCorpus(const std::string &path);

struct Outcome {
  std::string error; ///< the fault, empty if there was none
  bool loaded = true;
  std::vector<std::vector<std::byte>> buffers; ///< what they hold at the end
  uint64_t instructions = 0;
};

/// Launches the kernel of `text` on fresh memory, in all of the case's ways.
Outcome run(const Case &c, const std::string &text,
            ptxsim::DeviceOptions options);

/// Equal within the case's tolerance.
bool agree(const Case &c, const Outcome &a, const Outcome &b);

} // namespace mutants

#endif // TEST_UNIT_PTXSIM_MUTANTS_CORPUS_H

#ifndef TEST_UNIT_PTXSIM_NVCC_CORPUS_H
#define TEST_UNIT_PTXSIM_NVCC_CORPUS_H

// Device code that nvcc compiles, from NVIDIA's libraries where it can be. Each
// function runs some of it through the CUDA runtime's API and compares with
// what the host computes: it gives the first difference, or nothing. nvcc and
// the host's compiler read this file.

#include <string>

namespace corpus {

// Cub.cu: decoupled look-back scan, reductions, radix sort, selection.
std::string cubScan();
std::string cubReduce();
std::string cubSortKeys();
std::string cubSortPairs();
std::string cubSelect();
// CubMore.cu
std::string cubHistogram();
std::string cubMergeSort();
std::string cubRunLength();
std::string cubSegments();
// CubBlock.cu
std::string cubBlock();
std::string cubWarp();
// Cooperative.cu: cooperative groups.
std::string groupsOfAWarp();
std::string groupsOfABlock();
std::string groupsOfAGrid();
std::string groupsOfACluster();
// Async.cu: libcu++.
std::string barrier();
std::string pipeline();
std::string memcpyAsync();
// Tma.cu: bulk and tensor copies by cuda::ptx.
std::string bulkCopies();
std::string tensorCopies();
// Math.cu: CUDA's libm.
std::string mathSingle();
std::string mathDouble();
// Formats.cu: conversions against the host's side of cuda_fp8.h and others.
std::string fp8();
std::string bf16();
std::string half();
// Wmma.cu: nvcuda::wmma.
std::string wmmaHalf();
std::string wmmaBf16();
std::string wmmaInteger();
std::string wmmaTf32();
// Runtime.cu: what programs do with the runtime's API.
std::string streamsAndGraphs();
std::string variables();
std::string faults();
std::string output();

/// A new device, after a fault.
void reset();

} // namespace corpus

#endif // TEST_UNIT_PTXSIM_NVCC_CORPUS_H

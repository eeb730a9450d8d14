//===- FakeCuda.h - What the fake driver saw --------------------*- C++ -*-===//
#ifndef TEST_UNIT_DEVICE_FAKECUDA_H
#define TEST_UNIT_DEVICE_FAKECUDA_H

#include <deque>
#include <string>
#include <vector>

/// Reached through the symbol `fakeCudaState` of the library.
struct FakeCudaState {
  struct Launch {
    unsigned dims[6]; ///< grid, block
    unsigned cluster[3];
    unsigned sharedBytes;
    int programmatic;
    void *stream;
    unsigned long long pointer;
    int number;
  };
  int devices = 1, retained = 0, allocations = 0;
  std::deque<std::string> modules;
  std::vector<Launch> launches;
};

#endif // TEST_UNIT_DEVICE_FAKECUDA_H

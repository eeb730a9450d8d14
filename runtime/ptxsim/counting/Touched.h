#ifndef RUNTIME_PTXSIM_COUNTING_TOUCHED_H
#define RUNTIME_PTXSIM_COUNTING_TOUCHED_H

#include <cstdint>
#include <unordered_map>

namespace ptxsim {

/// Which sectors a launch reads before it writes them, and which it writes:
/// what no cache can save.
class Touched {
public:
  void read(uint64_t sector) {
    Page &p = page(sector);
    const uint64_t bit = 1ull << sector % 64;
    readSectors += !((p.read | p.written) & bit);
    p.read |= bit;
  }
  void write(uint64_t sector) {
    Page &p = page(sector);
    const uint64_t bit = 1ull << sector % 64;
    writtenSectors += !(p.written & bit);
    p.written |= bit;
  }
  uint64_t readSectors = 0, writtenSectors = 0;

private:
  struct Page {
    uint64_t read = 0, written = 0;
  };
  Page &page(uint64_t sector) {
    if (!last || number != sector / 64) {
      number = sector / 64;
      last = &pages[number]; // nodes do not move
    }
    return *last;
  }
  std::unordered_map<uint64_t, Page> pages;
  uint64_t number = 0;
  Page *last = nullptr;
};

} // namespace ptxsim

#endif // RUNTIME_PTXSIM_COUNTING_TOUCHED_H

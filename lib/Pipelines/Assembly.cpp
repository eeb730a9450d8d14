//===- Assembly.cpp - ptxas on several kernels at once --------------------===//
#include "Assembly.h"

#include "llvm/Support/raw_ostream.h"

using namespace k2c;

Assembly::Assembly(std::string arch) : arch(std::move(arch)) {
  ptxas = findPtxas(why);
  results.hasPtxas = ptxas.has_value();
}

/// A line a second once it takes more than a moment.
void Assembly::progress() {
  auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::seconds(1))
    return;
  last = now;
  llvm::errs() << "k2c: assembled " << done << " of " << added
               << " kernels so far\n";
}

void Assembly::add(const std::string &name, std::string ptx,
                   int64_t sharedBytes) {
  Code *code;
  {
    std::lock_guard<std::mutex> lock(mutex);
    code = &results.codes[name]; // addresses in a std::map stay
    code->assembled = {};
    ++added;
  }
  code->ptx = std::move(ptx);
  code->sharedBytes = sharedBytes;
  if (!ptxas)
    return;
  pool.async([this, name, code] {
    code->assembled = assemble(*ptxas, cache, name, code->ptx, arch);
    std::lock_guard<std::mutex> lock(mutex);
    ++done;
    progress();
  });
}

AssemblyResults &Assembly::wait() {
  pool.wait();
  results.cached = 0;
  for (auto &[name, code] : results.codes)
    results.cached += code.assembled.cached;
  return results;
}

std::string Assembly::explain(const std::string &name) {
  const Code &code = results.codes[name];
  return explainFault(*ptxas, code.assembled, name, code.ptx, arch);
}

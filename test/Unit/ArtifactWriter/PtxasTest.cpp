// What ptxas says, read from its own words; the gates; failures that can be
// reproduced.
#include "k2c/Artifact/Ptxas.h"
#include "k2c/Artifact/CubinCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

using namespace k2c;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
// Lines of ptxas 13.0.88.
const char *const kClean =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
    "ptxas info    : Function properties for gemm\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 3 barriers, 1024 bytes smem\n";

struct Folder {
  llvm::SmallString<128> path;
  Folder() { (void)llvm::sys::fs::createUniqueDirectory("k2c-test", path); }
  ~Folder() { (void)llvm::sys::fs::remove_directories(path); }
  std::string file(const char *name) const { return (path + "/" + name).str(); }
};

/// An assembler that prints `log`, writes `cubin` and counts its runs.
Ptxas fakePtxas(const Folder &folder, const std::string &log, int exitCode) {
  std::string path = folder.file("ptxas");
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  out << "#!/bin/sh\necho run >> " << folder.file("runs")
      << "\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && printf CUBIN > \"$2\"; "
         "shift; done\ncat >&2 <<'END'\n"
      << log << "END\nexit " << exitCode << "\n";
  out.close();
  (void)llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
  return {path, "V0.0.1"};
}

/// The text that a failure kept, and removes it.
std::string takeKept(const std::string &error) {
  llvm::StringRef path =
      llvm::StringRef(error).split("PTX kept in ").second.split('\n').first;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  std::string text = buffer ? (*buffer)->getBuffer().str() : "(none)";
  (void)llvm::sys::fs::remove(path);
  return text;
}

int runs(const Folder &folder) {
  uint64_t size = 0;
  (void)llvm::sys::fs::file_size(folder.file("runs"), size);
  return size / 4;
}
} // namespace

TEST(PtxasReport, ReadsRegistersAndShared) {
  PtxasReport report = parsePtxasReport(kClean);
  EXPECT_EQ(report.registers, 168);
  EXPECT_EQ(report.staticSharedBytes, 1024);
  EXPECT_EQ(gateFailure(report), "");
}

TEST(PtxasReport, SpillsAreAFailure) {
  PtxasReport report = parsePtxasReport(
      "    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n");
  EXPECT_EQ(gateFailure(report),
            "expected no register spills, but got 20 bytes");
}

TEST(PtxasReport, StackIsAFailure) {
  PtxasReport report = parsePtxasReport(
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  EXPECT_EQ(gateFailure(report), "expected no stack frame, but got 16 bytes");
}

TEST(PtxasReport, AdvisoriesAreAFailure) {
  PtxasReport report = parsePtxasReport(
      "ptxas info : (C7508) 'setmaxnreg' ignored; unable to determine\n");
  EXPECT_THAT(gateFailure(report), HasSubstr("(C7508) 'setmaxnreg' ignored"));
}

TEST(Assemble, SecondTimeComesFromTheCache) {
  Folder folder;
  Ptxas ptxas = fakePtxas(folder, kClean, 0);
  CubinCache cache(folder.file("cache"));
  Assembled first = assemble(ptxas, cache, "k", "text", "sm_90a");
  EXPECT_EQ(first.fault, "");
  EXPECT_EQ(first.cubin, "CUBIN");
  EXPECT_FALSE(first.cached);
  Assembled second = assemble(ptxas, cache, "k", "text", "sm_90a");
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.cubin, "CUBIN");
  EXPECT_EQ(second.report.registers, 168);
  EXPECT_EQ(runs(folder), 1);
  // Other text, another version or another architecture is another cubin.
  assemble(ptxas, cache, "k", "text2", "sm_90a");
  assemble({ptxas.path, "V0.0.2"}, cache, "k", "text", "sm_90a");
  assemble(ptxas, cache, "k", "text", "sm_100a");
  EXPECT_EQ(runs(folder), 4);
}

TEST(Assemble, WorksWithoutAUsableCache) {
  Folder folder;
  Ptxas ptxas = fakePtxas(folder, kClean, 0);
  CubinCache cache("/proc/k2c-cannot-be-made");
  Assembled result = assemble(ptxas, cache, "k", "text", "sm_90a");
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.cubin, "CUBIN");
}

TEST(Assemble, FailureNamesKernelTextAndCommand) {
  Folder folder;
  Ptxas ptxas = fakePtxas(folder, "ptxas fatal: no such thing\n", 255);
  CubinCache cache(folder.file("cache"));
  Assembled result = assemble(ptxas, cache, "dense_o_proj", "text", "sm_90a");
  EXPECT_FALSE(result.spills);
  std::string message =
      explainFault(ptxas, result, "dense_o_proj", "text", "sm_90a");
  EXPECT_THAT(message, StartsWith("kernel dense_o_proj: expected ptxas to "
                                  "accept it, but got exit code 255"));
  EXPECT_THAT(message, HasSubstr("ptxas fatal: no such thing"));
  EXPECT_EQ(takeKept(message), "text");
  EXPECT_THAT(message,
              HasSubstr("to reproduce: " + ptxas.path + " -v -arch=sm_90a"));
  // What ptxas refuses is not kept: the next run asks it again.
  assemble(ptxas, cache, "dense_o_proj", "text", "sm_90a");
  EXPECT_EQ(runs(folder), 2);
}

TEST(Assemble, GatesAreAskedAgainWhenItComesFromTheCache) {
  Folder folder;
  Ptxas ptxas = fakePtxas(
      folder,
      "0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n", 0);
  CubinCache cache(folder.file("cache"));
  for (int i = 0; i < 2; ++i) {
    Assembled result = assemble(ptxas, cache, "k", "text", "sm_90a");
    EXPECT_EQ(result.fault, "expected no register spills, but got 8 bytes");
    EXPECT_TRUE(result.spills);
  }
  EXPECT_EQ(runs(folder), 1);
}

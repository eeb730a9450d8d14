// A cache entry is whole or it is not there.
#include "k2c/Artifact/CubinCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace k2c;

namespace {
struct CubinCacheTest : testing::Test {
  llvm::SmallString<128> path;
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("k2c-cache", path));
  }
  void TearDown() override { (void)llvm::sys::fs::remove_directories(path); }
};
} // namespace

TEST(Sha256, KnownAnswer) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb41"
                           "0ff61f20015ad");
}

TEST_F(CubinCacheTest, KeepsBytes) {
  CubinCache cache((path + "/sub/folder").str());
  EXPECT_FALSE(cache.find("key"));
  std::string cubin("\x7f"
                    "ELF\0\n\xff",
                    7);
  cache.insert("key", {cubin, "a log\nof two lines\n"});
  auto entry = cache.find("key");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->cubin, cubin);
  EXPECT_EQ(entry->log, "a log\nof two lines\n");
}

TEST_F(CubinCacheTest, DamagedEntryIsNoEntry) {
  CubinCache cache(path.str().str());
  cache.insert("key", {"cubin", "log"});
  std::string file = (path + "/key").str();
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(file, size));
  for (uint64_t length : {size - 1, size / 2, uint64_t(3), uint64_t(0)}) {
    int descriptor;
    ASSERT_FALSE(llvm::sys::fs::openFileForWrite(
        file, descriptor, llvm::sys::fs::CD_OpenExisting));
    ASSERT_FALSE(llvm::sys::fs::resize_file(descriptor, length));
    llvm::sys::fs::file_t handle = descriptor;
    (void)llvm::sys::fs::closeFile(handle);
    EXPECT_FALSE(cache.find("key")) << length;
  }
  cache.insert("key", {"cubin", "log"});
  EXPECT_TRUE(cache.find("key"));
}

TEST_F(CubinCacheTest, LeavesNoTemporaryFiles) {
  CubinCache cache(path.str().str());
  cache.insert("key", {"cubin", "log"});
  cache.insert("key", {"cubin", "log"});
  std::error_code code;
  int files = 0;
  for (llvm::sys::fs::directory_iterator it(path, code), end; it != end;
       it.increment(code))
    ++files;
  EXPECT_EQ(files, 1);
}

// An artifact appears whole; what is in its place survives a failed compile.
#include "k2c/Artifact/ArtifactWriter.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

#include <set>

using namespace k2c;
using testing::HasSubstr;

namespace {
struct ArtifactWriterTest : testing::Test {
  llvm::SmallString<128> folder;
  std::string art;
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("k2c-writer", folder));
    art = (folder + "/x.art").str();
  }
  void TearDown() override { (void)llvm::sys::fs::remove_directories(folder); }

  std::string read(const std::string &name) {
    auto buffer = llvm::MemoryBuffer::getFile(art + "/" + name);
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  std::set<std::string> siblings() {
    std::set<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end;
         it.increment(code))
      names.insert(llvm::StringRef(it->path()).rsplit('/').second.str());
    return names;
  }
  void make(const std::string &text) {
    ArtifactWriter writer;
    ASSERT_EQ(writer.open(art), "");
    ASSERT_EQ(writer.write("manifest.json", text), "");
    ASSERT_EQ(writer.write("kernels/" + text + ".ptx", text), "");
    ASSERT_EQ(writer.commit(), "");
  }
};
} // namespace

TEST_F(ArtifactWriterTest, ReplacesWhole) {
  make("first");
  EXPECT_EQ(read("manifest.json"), "first");
  make("second");
  EXPECT_EQ(read("manifest.json"), "second");
  EXPECT_EQ(read("kernels/second.ptx"), "second");
  EXPECT_EQ(read("kernels/first.ptx"), "(none)");
  EXPECT_EQ(siblings(), std::set<std::string>{"x.art"});
}

TEST_F(ArtifactWriterTest, WithoutCommitNothingHappens) {
  make("first");
  {
    ArtifactWriter writer;
    ASSERT_EQ(writer.open(art + "/"), "");
    ASSERT_EQ(writer.write("manifest.json", "second"), "");
    EXPECT_EQ(read("manifest.json"), "first");
    EXPECT_EQ(siblings().size(), 2u);
  }
  EXPECT_EQ(read("manifest.json"), "first");
  EXPECT_EQ(siblings(), std::set<std::string>{"x.art"});
}

TEST_F(ArtifactWriterTest, RefusesWhatIsNoArtifact) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(art));
  std::error_code code;
  {
    llvm::raw_fd_ostream out(art + "/thesis.txt", code);
  }
  ArtifactWriter writer;
  EXPECT_THAT(writer.open(art), HasSubstr("expected an artifact or nothing at "
                                          "the place of the output, but got a "
                                          "folder without manifest.json"));
  ArtifactWriter file;
  EXPECT_THAT(file.open(art + "/thesis.txt"), HasSubstr("but got a file"));
  EXPECT_NE(read("thesis.txt"), "(none)");
}

TEST_F(ArtifactWriterTest, NamesAPlaceThatCannotBeWritten) {
  ArtifactWriter writer;
  EXPECT_THAT(writer.open("/nonexistent/x.art"),
              HasSubstr("/nonexistent/x.art: expected a place to write the "
                        "artifact, but got No such file or directory"));
}

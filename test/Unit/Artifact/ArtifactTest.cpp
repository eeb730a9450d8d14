//===- ArtifactTest.cpp - A compiled model on disk ------------------------===//
#include "runtime/Artifact/Artifact.h"
#include "runtime/Artifact/Sha256.h"
#include "runtime/Checkpoint/MappedFile.h"
#include "test/Unit/Checkpoint/TestFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace k2rt;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
// The values are the examples of FIPS 180-4 and NIST's test vectors.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class TinyArtifact : public testing::Test {
protected:
  TinyArtifact() {
    fs::copy(K2C_SOURCE_DIR "/test/Runtime/Inputs/tiny.art", path(),
             fs::copy_options::recursive);
  }
  std::string path() const { return dir_.path("a.art"); }
  ScratchFolder dir_;
};

TEST_F(TinyArtifact, IsReadWithItsCode) {
  auto artifact = Artifact::open(path());
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(artifact->code().size(), 7u);
  for (const KernelCode &code : artifact->code()) {
    EXPECT_FALSE(code.edited);
    EXPECT_TRUE(code.cubin.empty());
    EXPECT_THAT(code.ptx, HasSubstr(".visible .entry"));
  }
}

TEST_F(TinyArtifact, AMissingKernelIsNamed) {
  fs::remove(path() + "/kernels/attend.ptx");
  EXPECT_THAT(Artifact::open(path()).status().message(),
              HasSubstr("kernels/attend.ptx: cannot be opened: No such file or "
                        "directory (kernel 'attend')"));
}

TEST_F(TinyArtifact, EditedTextCountsAndItsCubinDoesNot) {
  std::string text = *readTextFile(path() + "/manifest.json");
  std::string before = "\"ptx\": \"kernels/embed.ptx\"";
  size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "\"cubin\": \"kernels/embed.cubin\", ");
  std::ofstream(path() + "/manifest.json") << text;
  std::ofstream(path() + "/kernels/embed.cubin") << "cubin";
  auto artifact = Artifact::open(path());
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(artifact->code()[0].cubin, "cubin");

  std::ofstream(path() + "/kernels/embed.ptx", std::ios::app) << "// edited\n";
  artifact = Artifact::open(path());
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_TRUE(artifact->code()[0].edited);
  EXPECT_THAT(artifact->code()[0].ptx, HasSubstr("// edited"));
  EXPECT_TRUE(artifact->code()[0].cubin.empty());
}

TEST_F(TinyArtifact, TheFolderMustBeOne) {
  EXPECT_THAT(Artifact::open(dir_.path("none")).status().message(),
              HasSubstr("expected the folder of an artifact, but got nothing"));
  EXPECT_THAT(Artifact::open(path() + "/manifest.json").status().message(),
              HasSubstr("but got a file"));
  fs::remove(path() + "/manifest.json");
  EXPECT_THAT(Artifact::open(path()).status().message(),
              HasSubstr("manifest.json: cannot be opened"));
}
} // namespace

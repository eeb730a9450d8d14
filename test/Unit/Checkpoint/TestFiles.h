//===- TestFiles.h - Scratch folders and hand-made files --------*- C++ -*-===//
#ifndef TEST_UNIT_CHECKPOINT_TESTFILES_H
#define TEST_UNIT_CHECKPOINT_TESTFILES_H

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

/// A folder that is removed with the object.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "k2rt-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string &name) const {
    return (path_ / name).string();
  }
  std::string str() const { return path_.string(); }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }

private:
  std::filesystem::path path_;
};

/// The bytes of a safetensors file: length, header, data.
inline std::string safetensors(const std::string &header,
                               const std::string &data) {
  std::string file;
  for (int i = 0; i < 8; ++i)
    file += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  return file + header + data;
}

#endif // TEST_UNIT_CHECKPOINT_TESTFILES_H

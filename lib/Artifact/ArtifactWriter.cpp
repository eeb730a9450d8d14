//===- ArtifactWriter.cpp - A folder that appears whole or not at all -----===//
#include "k2c/Artifact/ArtifactWriter.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <stdio.h>

using namespace llvm;

static std::string failure(StringRef file, const Twine &rule,
                           std::error_code code) {
  return (file + ": expected " + rule + ", but got " + code.message()).str();
}

/// What stands in the way of replacing `path`, or nothing.
static std::string whyNotReplaceable(StringRef path) {
  if (!sys::fs::exists(path))
    return "";
  if (!sys::fs::is_directory(path))
    return (path + ": expected an artifact or nothing at the place of the "
                   "output, but got a file")
        .str();
  SmallString<128> manifest(path);
  sys::path::append(manifest, "manifest.json");
  std::error_code code;
  if (sys::fs::exists(manifest) ||
      sys::fs::directory_iterator(path, code) == sys::fs::directory_iterator())
    return "";
  return (path + ": expected an artifact or nothing at the place of the "
                 "output, but got a folder without manifest.json")
      .str();
}

std::string k2c::ArtifactWriter::open(StringRef given) {
  SmallString<128> absolute(given);
  while (absolute.size() > 1 && sys::path::is_separator(absolute.back()))
    absolute.pop_back();
  if (std::error_code code = sys::fs::make_absolute(absolute))
    return failure(given, "a path", code);
  path = absolute.str().str();
  if (std::string reason = whyNotReplaceable(path); !reason.empty())
    return reason;
  // A sibling: a rename stays within one file system.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = path + "." +
                       std::to_string(sys::Process::getProcessId()) + "-" +
                       std::to_string(attempt) + ".tmp";
    std::error_code code =
        sys::fs::create_directory(name, /*IgnoreExisting=*/false);
    if (!code) {
      temporary = name;
      return "";
    }
    if (code != std::errc::file_exists)
      return failure(given, "a place to write the artifact", code);
  }
  return failure(given, "a place to write the artifact",
                 std::make_error_code(std::errc::file_exists));
}

std::string k2c::ArtifactWriter::write(StringRef name, StringRef bytes) {
  SmallString<128> file(temporary);
  sys::path::append(file, name);
  if (std::error_code code =
          sys::fs::create_directories(sys::path::parent_path(file)))
    return failure(file, "a folder", code);
  std::error_code code;
  raw_fd_ostream out(file, code);
  if (!code) {
    out << bytes;
    out.close();
    code = out.error();
    out.clear_error();
  }
  return code ? failure(file, "to write a file", code) : "";
}

std::string k2c::ArtifactWriter::commit() {
  // Asked again: a compile takes a while.
  if (std::string reason = whyNotReplaceable(path); !reason.empty())
    return reason;
  if (!::rename(temporary.c_str(), path.c_str())) {
    temporary.clear();
    return "";
  }
  // There is an artifact: exchange the two names in one step, then remove the
  // old one, which now has the temporary name.
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(),
                  RENAME_EXCHANGE)) {
    // A file system without exchange: a moment in which there is no artifact.
    std::string old = temporary + ".old";
    if (::rename(path.c_str(), old.c_str()) ||
        ::rename(temporary.c_str(), path.c_str()))
      return failure(path, "to replace the artifact",
                     std::error_code(errno, std::generic_category()));
    temporary = old;
  }
  // What stays behind does no harm.
  // NOLINTNEXTLINE(bugprone-unused-return-value)
  (void)sys::fs::remove_directories(temporary);
  temporary.clear();
  return "";
}

k2c::ArtifactWriter::~ArtifactWriter() {
  if (!temporary.empty())
    // NOLINTNEXTLINE(bugprone-unused-return-value)
    (void)sys::fs::remove_directories(temporary);
}

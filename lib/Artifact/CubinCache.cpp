//===- CubinCache.cpp - Cubins on disk by what they were made from --------===//
#include "k2c/Artifact/CubinCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

std::string k2c::sha256(const std::string &bytes) {
  SHA256 hash;
  hash.update(StringRef(bytes));
  std::array<uint8_t, 32> digest = hash.final();
  return toHex(digest, /*LowerCase=*/true);
}

k2c::CubinCache k2c::CubinCache::open() {
  if (auto folder = sys::Process::GetEnv("K2C_CACHE_DIR");
      folder && !folder->empty())
    return CubinCache(*folder);
  SmallString<128> folder;
  if (auto xdg = sys::Process::GetEnv("XDG_CACHE_HOME"); xdg && !xdg->empty())
    folder = *xdg;
  else if (sys::path::home_directory(folder))
    sys::path::append(folder, ".cache");
  else
    return CubinCache("");
  sys::path::append(folder, "k2c");
  return CubinCache(folder.str().str());
}

static std::optional<std::string> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

/// A file is `<sha256 of the rest>\n<log size>\n<log><cubin>`.
std::optional<k2c::CubinCache::Entry>
k2c::CubinCache::find(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  SmallString<128> path(folder);
  sys::path::append(path, key);
  std::optional<std::string> text = readFile(path);
  if (!text)
    return std::nullopt;
  auto [hash, rest] = StringRef(*text).split('\n');
  if (hash != sha256(rest.str()))
    return std::nullopt;
  auto [size, payload] = rest.split('\n');
  size_t logSize;
  if (size.getAsInteger(10, logSize) || logSize > payload.size())
    return std::nullopt;
  return Entry{payload.drop_front(logSize).str(),
               payload.take_front(logSize).str()};
}

void k2c::CubinCache::insert(const std::string &key, const Entry &entry) const {
  if (folder.empty() || sys::fs::create_directories(folder))
    return;
  SmallString<128> path(folder), model(folder), temporary;
  sys::path::append(path, key);
  sys::path::append(model, key + ".%%%%%%%%.tmp");
  int descriptor;
  if (sys::fs::createUniqueFile(model, descriptor, temporary))
    return;
  std::string rest =
      std::to_string(entry.log.size()) + "\n" + entry.log + entry.cubin;
  bool bad;
  {
    raw_fd_ostream out(descriptor, /*shouldClose=*/true);
    out << sha256(rest) << "\n" << rest;
    out.close();
    bad = out.has_error();
    out.clear_error();
  }
  if (bad || sys::fs::rename(temporary, path))
    // NOLINTNEXTLINE(bugprone-unused-return-value)
    (void)sys::fs::remove(temporary);
}

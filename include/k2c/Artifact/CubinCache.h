//===- CubinCache.h - Cubins on disk by what they were made from -*- C++
//-*-===//
#ifndef K2C_ARTIFACT_CUBINCACHE_H
#define K2C_ARTIFACT_CUBINCACHE_H

#include <optional>
#include <string>

namespace k2c {

/// Hexadecimal SHA-256.
std::string sha256(const std::string &bytes);

/// A folder of files named by hash. Files appear by rename, so readers see
/// whole files or none; a folder that cannot be written or an entry that is not
/// whole is the same as no entry.
class CubinCache {
public:
  /// $K2C_CACHE_DIR, else $XDG_CACHE_HOME/k2c, else ~/.cache/k2c.
  static CubinCache open();
  explicit CubinCache(std::string folder) : folder(std::move(folder)) {}

  struct Entry {
    std::string cubin;
    std::string log; // of the ptxas run that made it
  };
  std::optional<Entry> find(const std::string &key) const;
  void insert(const std::string &key, const Entry &entry) const;
  const std::string &getFolder() const { return folder; }

private:
  std::string folder; // empty: no cache
};

} // namespace k2c

#endif // K2C_ARTIFACT_CUBINCACHE_H

//===- ArtifactWriter.h - A folder that appears whole or not at all -*- C++
//-*-===//
#ifndef K2C_ARTIFACT_ARTIFACTWRITER_H
#define K2C_ARTIFACT_ARTIFACTWRITER_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace k2c {

/// Writes files into a temporary sibling of an artifact's path; `commit` puts
/// it in the place of what is there. Without `commit` nothing is left and the
/// old artifact is untouched.
class ArtifactWriter {
public:
  /// Empty result: success, else what is wrong. Refuses to replace a file or a
  /// folder that is not an artifact.
  std::string open(llvm::StringRef path);
  std::string write(llvm::StringRef name, llvm::StringRef bytes);
  std::string commit();
  ~ArtifactWriter();

private:
  std::string path, temporary;
};

} // namespace k2c

#endif // K2C_ARTIFACT_ARTIFACTWRITER_H

//===- Sha256.h - SHA-256 of a text (FIPS 180-4) ----------------*- C++ -*-===//
#ifndef RUNTIME_ARTIFACT_SHA256_H
#define RUNTIME_ARTIFACT_SHA256_H

#include <string>
#include <string_view>

namespace k2rt {

/// Lower-case hexadecimal digest.
std::string sha256(std::string_view text);

} // namespace k2rt

#endif // RUNTIME_ARTIFACT_SHA256_H

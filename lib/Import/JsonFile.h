//===- JsonFile.h - A strict reader of JSON files ---------------*- C++ -*-===//
#ifndef LIB_IMPORT_JSONFILE_H
#define LIB_IMPORT_JSONFILE_H

#include "llvm/Support/Error.h"
#include <nlohmann/json.hpp>

namespace k2c {

/// Parses the JSON of a file. Duplicate keys of one object are errors: which of
/// them counts would depend on the reader.
llvm::Expected<nlohmann::json> parseJson(const std::string &text,
                                         const std::string &path);

} // namespace k2c

#endif // LIB_IMPORT_JSONFILE_H

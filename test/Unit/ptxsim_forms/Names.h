#ifndef TEST_UNIT_PTXSIM_FORMS_NAMES_H
#define TEST_UNIT_PTXSIM_FORMS_NAMES_H

// Names of forms: made as products of modifiers, and taken apart again.

#include <string>
#include <vector>

namespace ptxsim::forms {

/// The words of `ld.shared::cta.v2.u16`: "ld", "shared::cta", "v2", "u16".
std::vector<std::string> wordsOf(const std::string &name);

bool hasWord(const std::vector<std::string> &words, const std::string &word);

/// `{{"ld"}, {"", "global"}, {"u8", "u16"}}` gives ld.u8, ld.u16, ld.global.u8,
/// ld.global.u16. An empty choice leaves its part out.
std::vector<std::string>
namesOf(const std::vector<std::vector<std::string>> &parts);

/// Types of one register, of a vector of four, scopes, and the spaces that
/// strong accesses may name.
std::vector<std::string> singleTypes();
std::vector<std::string> quadTypes();
std::vector<std::string> scopes();
std::vector<std::string> strongSpaces();

} // namespace ptxsim::forms

#endif // TEST_UNIT_PTXSIM_FORMS_NAMES_H

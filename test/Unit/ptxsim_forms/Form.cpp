#include "test/Unit/ptxsim_forms/Form.h"

#include <algorithm>
#include <cctype>
#include <gtest/gtest-spi.h>
#include <map>
#include <stdexcept>

namespace ptxsim::forms {

namespace {

std::set<std::string> &names() {
  static std::set<std::string> all;
  return all;
}

std::map<std::string, std::function<void()>> &bodies() {
  static std::map<std::string, std::function<void()>> all;
  return all;
}

/// What Program does to the text for the form under test.
struct Watch {
  std::string form;
  bool drop = false;
  size_t statements = 0;
  std::string other; ///< that stands for it
};
Watch *watch = nullptr;

/// `m64n128k16` is `m64nNk16`.
std::string spelling(std::string opcode) {
  const size_t at = opcode.find(".m64n");
  if (at == opcode.npos)
    return opcode;
  size_t end = at + 5;
  while (end < opcode.size() && std::isdigit(opcode[end]))
    ++end;
  return opcode.replace(at + 5, end - at - 5, "N");
}

bool partOfOpcode(char c) {
  return std::isalnum(c) || c == '.' || c == '_' || c == ':';
}

/// Counts the statements of the form, and in step 3 takes them out. The opcode
/// is the first word of a statement behind labels and a guard.
std::string watched(std::string text) {
  if (!watch)
    return text;
  const std::string base = watch->form.substr(0, watch->form.find('.'));
  for (size_t at = 0; (at = text.find(base, at)) != text.npos;) {
    size_t end = at;
    while (end < text.size() && partOfOpcode(text[end]))
      ++end;
    const bool begins = at == 0 || std::isspace(text[at - 1]) ||
                        text[at - 1] == ';' || text[at - 1] == '{';
    if (!begins || spelling(text.substr(at, end - at)) != watch->form) {
      at += base.size();
      continue;
    }
    ++watch->statements;
    if (!watch->other.empty()) {
      std::string other = watch->other;
      if (const size_t n = other.find(".m64nN"); n != other.npos) {
        const size_t from = text.find(".m64n", at) + 5;
        other.replace(n + 5, 1, text, from, text.find('k', from) - from);
      }
      text.replace(at, end - at, other);
      at += other.size();
      continue;
    }
    size_t stop = text.find(';', end);
    if (!watch->drop || stop == text.npos) {
      at = end;
      continue;
    }
    // The guard goes too.
    size_t from = at;
    while (from > 0 && std::isspace(text[from - 1]))
      --from;
    size_t guard = from;
    while (guard > 0 && !std::isspace(text[guard - 1]) &&
           text[guard - 1] != ';' && text[guard - 1] != '{')
      --guard;
    if (guard < from && text[guard] == '@')
      at = guard;
    text.erase(at, stop + 1 - at);
  }
  return text;
}

DeviceOptions watched(DeviceOptions options) {
  options.threads = 1;
  if (watch && (watch->drop || !watch->other.empty())) {
    options.checks.undefinedRegisters = false;
    options.checks.uninitialisedShared = false;
    options.checks.uninitialisedGlobal = false;
    options.instructionLimit = 1 << 20;
  }
  return options;
}

class FormTest : public testing::Test {
public:
  explicit FormTest(std::function<void()> body) : body(std::move(body)) {}

private:
  void TestBody() override { body(); }
  std::function<void()> body;
};

} // namespace

void check(const std::string &name, const std::function<void()> &test,
           Effect effect) {
  Watch now{name, false, 0, ""};
  watch = &now;
  test();
  EXPECT_GT(now.statements, 0u)
      << "the test runs no statement of this form: " << name;
  if (effect == Effect::Seen && now.statements > 0 &&
      !testing::Test::HasFailure()) {
    now.drop = true;
    testing::TestPartResultArray failures;
    {
      testing::ScopedFakeTestPartResultReporter intercept(
          testing::ScopedFakeTestPartResultReporter::
              INTERCEPT_ONLY_CURRENT_THREAD,
          &failures);
      test();
    }
    EXPECT_GT(failures.size(), 0)
        << "the test passes without the instruction: " << name;
  }
  watch = nullptr;
}

const std::set<std::string> &registered() { return names(); }

bool passesWith(const std::string &name, const std::string &other) {
  Watch now{name, false, 0, other};
  watch = &now;
  testing::TestPartResultArray failures;
  {
    testing::ScopedFakeTestPartResultReporter intercept(
        testing::ScopedFakeTestPartResultReporter::
            INTERCEPT_ONLY_CURRENT_THREAD,
        &failures);
    bodies().at(name)();
  }
  watch = nullptr;
  return failures.size() == 0;
}

void form(const std::string &name, std::function<void()> test, Effect effect) {
  if (!names().insert(name).second)
    throw std::invalid_argument("two tests of the form " + name);
  bodies()[name] = test;
  std::string shown = name;
  for (size_t at; (at = shown.find("::")) != shown.npos;)
    shown.replace(at, 2, "_"); // a colon separates filters
  testing::RegisterTest("Form", shown.c_str(), nullptr, nullptr, __FILE__,
                        __LINE__, [=]() -> testing::Test * {
                          return new FormTest(
                              [=] { check(name, test, effect); });
                        });
}

void form(const std::string &name, test::Widths widths,
          std::vector<test::Case> cases) {
  std::string statement = name + " d";
  const char *operands[] = {", a", ", b", ", c"};
  const unsigned sources[] = {widths.a, widths.b, widths.c};
  for (unsigned i = 0; i < 3; ++i)
    if (sources[i])
      statement += operands[i];
  form(name, [=] { expectResults(statement, widths, cases); });
}

Program::Program(const std::string &text, DeviceOptions options)
    : Sim(watched(text), watched(options)) {}

std::vector<uint64_t> runThreads(const std::string &body, size_t threads,
                                 std::vector<uint64_t> in0,
                                 std::vector<uint64_t> in1) {
  Program program(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1) {
  .reg .b32 %t;
  .reg .b64 %out, %p0, %p1, %offset;
  ld.param.u64 %out, [out];
  ld.param.u64 %p0, [in0];
  ld.param.u64 %p1, [in1];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %out, %t, 8, %out;
)" + body + "\n  ret;\n}\n");
  return test::runOn(program, threads, std::move(in0), std::move(in1));
}

std::vector<uint64_t> results(const std::string &instruction,
                              test::Widths widths, const Operands &operands) {
  std::vector<uint64_t> in;
  for (const auto &line : operands) {
    in.insert(in.end(), line.begin(), line.end());
    in.push_back(0);
  }
  return runThreads(test::instructionBody(instruction, widths), operands.size(),
                    in);
}

void expectResults(const std::string &instruction, test::Widths widths,
                   const std::vector<test::Case> &cases) {
  Operands operands;
  for (const test::Case &c : cases)
    operands.push_back({c.a, c.b, c.c});
  const std::vector<uint64_t> got = results(instruction, widths, operands);
  if (got.size() != cases.size())
    return;
  for (size_t t = 0; t < cases.size(); ++t) {
    const test::Case &c = cases[t];
    EXPECT_EQ(got[t], c.expected)
        << instruction << " in thread " << t << std::hex << ": a = 0x" << c.a
        << ", b = 0x" << c.b << ", c = 0x" << c.c << " gives 0x" << got[t]
        << ", expected 0x" << c.expected;
  }
}

} // namespace ptxsim::forms

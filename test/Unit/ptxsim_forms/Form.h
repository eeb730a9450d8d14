#ifndef TEST_UNIT_PTXSIM_FORMS_FORM_H
#define TEST_UNIT_PTXSIM_FORMS_FORM_H

// One test per form of an instruction. A form is the opcode with its modifiers
// as written; `form(..)` registers a GoogleTest `Form.NAME` that
//   1. runs the given function, which executes the form and compares what it
//      did with values from the PTX ISA's text (never from the simulator);
//   2. demands that a statement of just this form was in the PTX it ran;
//   3. runs it again with those statements taken out of the PTX, and demands
//      that it fails then: a test that does not look at the instruction's
//      effect is no test of it.
// FormsTest.cpp compares the registered names with the lists of forms.

#include "test/Unit/ptxsim/TestKernel.h"

#include <array>
#include <functional>
#include <set>
#include <string>

namespace ptxsim::forms {

/// Whether leaving the instruction out can be seen. Hints (prefetch,
/// createpolicy) and order that one warp cannot lack (membar in a single
/// thread) cannot.
enum class Effect { Seen, Unseen };

/// Registers the test of the form `name`, spelt as in PTX without a guard:
/// `add.rn.ftz.f32`; wgmma's shapes with every n are one form, `m64nNk16`.
void form(const std::string &name, std::function<void()> test,
          Effect effect = Effect::Seen);

/// The three steps, at once: what a registered test does.
void check(const std::string &name, const std::function<void()> &test,
           Effect effect = Effect::Seen);

/// The names registered so far.
const std::set<std::string> &registered();

/// Whether the test of a registered form passes with the statements of another
/// one in place of its own: it does not tell them apart.
bool passesWith(const std::string &name, const std::string &other);

/// A module on a device of its own, in step 3 without the form's statements.
/// There the checks for unwritten registers and memory are off, so that the
/// values decide, and hangs end early. Any other use of the simulator in a
/// form's test would not be seen by steps 2 and 3.
class Program : public test::Sim {
public:
  explicit Program(const std::string &text, DeviceOptions options = {});
};

/// As test::runBody (same registers: %t, %out, %p0, %p1), through Program.
/// Words of `out` are 0 at first.
std::vector<uint64_t> runThreads(const std::string &body, size_t threads,
                                 std::vector<uint64_t> in0 = {},
                                 std::vector<uint64_t> in1 = {});

/// Operands a, b, c, a line per thread.
using Operands = std::vector<std::array<uint64_t, 3>>;

/// What `instruction`, which names d, a, b, c, leaves in d of each thread.
std::vector<uint64_t> results(const std::string &instruction,
                              test::Widths widths, const Operands &operands);

/// As test::expectInstruction, through Program: `instruction` names d, a, b, c.
void expectResults(const std::string &instruction, test::Widths widths,
                   const std::vector<test::Case> &cases);

/// A form whose statement is `NAME d, a, b, c` with as many operands as
/// `widths` has: the usual case.
void form(const std::string &name, test::Widths widths,
          std::vector<test::Case> cases);

} // namespace ptxsim::forms

/// A function that registers forms before main: FORMS(integers) { form(..); ..
/// }
#define FORMS(name)                                                            \
  static void name##Forms();                                                   \
  [[maybe_unused]] static const bool name##Registered = (name##Forms(), true); \
  static void name##Forms()

#endif // TEST_UNIT_PTXSIM_FORMS_FORM_H

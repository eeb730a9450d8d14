// and, or, xor, not, cnot, shl, shr: the bits of the ISA's "Logic and Shift
// Instructions".

#include "test/Unit/ptxsim_forms/Form.h"

using namespace ptxsim::forms;

FORMS(logic) {
  form("and.b32", {32, 32, 32}, {{0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00}});
}

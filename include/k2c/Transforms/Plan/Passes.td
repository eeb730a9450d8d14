#ifndef K2C_TRANSFORMS_PLAN_PASSES
#define K2C_TRANSFORMS_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def PlanVerifyCompletePass : Pass<"plan-verify-complete"> {
  let summary = "Check that the runtime can execute a plan without a further question";
  let description = [{
    Ends the host stage. Nothing is changed; every violation is an error at the command.

    *Requires*: `plan.program` ops.
    *Guarantees*: every launch names a kernel and passes one binding of the right kind for each of its arguments; weights per layer or per expert are only bound
    inside a `plan.layers` whose range lies in the weight's; a step buffer is written (by a launch, a copy or a zero) before it is read, on every path; a work list is made before
    its buffer or its length is used; expressions use only the symbols of a step, `layer` inside `plan.layers`, and integers of the model's facts.

    Numerics: exact.
  }];
}

#endif // K2C_TRANSFORMS_PLAN_PASSES

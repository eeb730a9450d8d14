#ifndef DIALECTS_PLAN_PLANENUMS_TD
#define DIALECTS_PLAN_PLANENUMS_TD

include "dialects/Plan/PlanDialect.td"

// Operators are spelled as in the manifest, so that one name serves text, JSON and diagnostics.
def Plan_ExprKind : I32EnumAttr<"ExprKind", "kind of a node of an expression", [
  I32EnumAttrCase<"Integer", 0, "integer">, I32EnumAttrCase<"Symbol", 1, "symbol">,
  I32EnumAttrCase<"Add", 2, "add">, I32EnumAttrCase<"Sub", 3, "sub">, I32EnumAttrCase<"Mul", 4, "mul">,
  I32EnumAttrCase<"CeilDiv", 5, "ceildiv">, I32EnumAttrCase<"FloorDiv", 6, "floordiv">,
  I32EnumAttrCase<"Min", 7, "min">, I32EnumAttrCase<"Max", 8, "max">,
  I32EnumAttrCase<"Lt", 9, "lt">, I32EnumAttrCase<"Le", 10, "le">, I32EnumAttrCase<"Eq", 11, "eq">,
  I32EnumAttrCase<"And", 12, "and">, I32EnumAttrCase<"Or", 13, "or">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_Access : I32EnumAttr<"Access", "what a kernel does with memory", [
  I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">, I32EnumAttrCase<"ReadWrite", 2, "readwrite">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_ArgKind : I32EnumAttr<"ArgKind", "what an argument of a kernel stands for", [
  I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Result", 1, "result">, I32EnumAttrCase<"Param", 2, "param">,
  I32EnumAttrCase<"Scale", 3, "scale">, I32EnumAttrCase<"Array", 4, "array">, I32EnumAttrCase<"Scalar", 5, "scalar">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_BindKind : I32EnumAttr<"BindKind", "what a launch passes", [
  I32EnumAttrCase<"Buffer", 0, "buffer">, I32EnumAttrCase<"Param", 1, "param">, I32EnumAttrCase<"I32", 2, "i32">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_KernelArgKind : I32EnumAttr<"KernelArgKind", "type of a kernel argument in the ABI", [
  I32EnumAttrCase<"Pointer", 0, "pointer">, I32EnumAttrCase<"I32", 1, "i32">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_Per : I32EnumAttr<"Per", "how many instances of a weight there are", [
  I32EnumAttrCase<"Model", 0, "model">, I32EnumAttrCase<"Layer", 1, "layer">, I32EnumAttrCase<"Expert", 2, "expert">]> {
  let cppNamespace = "::k2c::plan";
}

def Plan_BufferClass : I32EnumAttr<"BufferClass", "how long the contents of a buffer live", [
  I32EnumAttrCase<"Step", 0, "step">, I32EnumAttrCase<"Persistent", 1, "persistent">, I32EnumAttrCase<"Input", 2, "input">]> {
  let cppNamespace = "::k2c::plan";
}

#endif // DIALECTS_PLAN_PLANENUMS_TD

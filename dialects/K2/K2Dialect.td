#ifndef DIALECTS_K2_K2DIALECT_TD
#define DIALECTS_K2_K2DIALECT_TD

include "mlir/IR/OpBase.td"

def K2_Dialect : Dialect {
  let name = "k2";
  let cppNamespace = "::k2c::k2";
  let summary = "the transformer stack of Kimi K2 and DeepSeek-V3, as a model";
  let description = [{
    One `k2.model` holds the parameters, one block per *kind* of layer and the entries of a model. Values are whole tensors over all tokens
    of a step: the tokens of the sequences of a batch are flattened, ragged, into one leading dimension T. Every op states its accumulation
    type and where it rounds. Names are those of the model source.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

class K2_Op<string mnemonic, list<Trait> traits = []> : Op<K2_Dialect, mnemonic, traits>;

#endif // DIALECTS_K2_K2DIALECT_TD

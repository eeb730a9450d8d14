//===- ModelFacts.h - What a config.json says about a model -----*- C++ -*-===//
//
// The facts of config.json after all spellings, defaults and cross checks, as a
// plain struct: what the importer, the accounting and the driver start from.
//
//===----------------------------------------------------------------------===//
#ifndef K2C_IMPORT_MODELFACTS_H
#define K2C_IMPORT_MODELFACTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace k2c {

/// What `quantization_config` asks for.
struct Quantization {
  enum class Kind {
    None,        ///< all weights BF16
    Fp8,         ///< f8E4M3FN with one float32 multiplier per block
    Unsupported, ///< a scheme that the model's accounting allows, but no code
                 ///< is generated for
  };
  Kind kind = Kind::None;
  int64_t block[2] = {128, 128};
  /// Modules that stay unquantized, as written: names, parts of names or `re:`
  /// patterns.
  std::vector<std::string> excluded;
};

struct ModelFacts {
  std::string configPath, folder, configSha256, modelType;
  int64_t hiddenSize = 0, layers = 0, heads = 0;
  int64_t qLoraRank = 0; ///< 0: no low-rank query
  int64_t kvLoraRank = 0, qkNope = 0, qkRope = 0, vHead = 0;
  int64_t intermediateSize = 0;
  int64_t firstKDenseReplace = 0, moeLayerFreq = 1;
  int64_t experts = 0, expertsPerToken = 0, sharedExperts = 0,
          moeIntermediateSize = 0;
  int64_t groups = 1, keptGroups = 1;
  bool sigmoidScores = true;
  bool selectionBias = true;
  bool normalizeWeights = true;
  double routedScaling = 1;
  int64_t vocabSize = 0, maxPositions = 0;
  double rmsNormEps = 0;
  /// Of q_a_layernorm and kv_a_layernorm: every published model code leaves out
  /// the argument, so the class default holds.
  double latentNormEps = 1e-6;
  double ropeTheta = 0;
  bool yarn = false;
  double ropeFactor = 1;     ///< of YaRN
  double ropeMultiplier = 1; ///< of the cos and sin tables
  double softmaxScale = 0;   ///< YaRN's factor included
  std::vector<float> invFreq;
  Quantization quantization;
  /// Why no code can be generated though the accounting holds, without the
  /// file's name; empty when it can.
  std::string compileProblem;
  /// One sentence for every default that was taken.
  std::vector<std::string> notes;

  bool isMoE(int64_t layer) const {
    return experts > 0 && layer >= firstKDenseReplace &&
           layer % moeLayerFreq == 0;
  }
  int64_t moeLayers() const;
  int64_t denseLayers() const { return layers - moeLayers(); }
};

/// Reads and checks `model`, a config.json or a folder with one. The error
/// names file, field, rule and fact.
llvm::Expected<ModelFacts> readModelFacts(llvm::StringRef model);

/// The same of a text that was read from `configPath`.
llvm::Expected<ModelFacts> parseModelFacts(const std::string &text,
                                           llvm::StringRef configPath);

/// Rotary frequencies in float32 as Hugging Face computes them. Exposed for
/// tests.
struct RopeParameters {
  double theta = 0;
  bool yarn = false;
  double factor = 1, betaFast = 32, betaSlow = 1, mscale = 1, mscaleAllDim = 1;
  int64_t originalContext = 0;
};
std::vector<float> computeInvFreq(const RopeParameters &rope,
                                  int64_t rotaryDim);
/// Multiplier of the cos and sin tables.
double computeRopeMultiplier(const RopeParameters &rope);
double computeSoftmaxScale(const RopeParameters &rope, int64_t queryHeadDim);

} // namespace k2c

#endif // K2C_IMPORT_MODELFACTS_H

//===- ConfigSections.h - The parts of a config.json ------------*- C++ -*-===//
#ifndef LIB_IMPORT_CONFIGSECTIONS_H
#define LIB_IMPORT_CONFIGSECTIONS_H

#include "ConfigObject.h"
#include "k2c/Import/ModelFacts.h"

namespace k2c {

/// rope_theta, rope_scaling and rope_parameters, in whichever of their
/// spellings.
RopeParameters readRope(const ConfigObject &config, ConfigErrors &errors,
                        std::vector<std::string> &notes);

/// quantization_config; an unsupported scheme is not an error here, `problem`
/// says what it is.
Quantization readQuantization(const ConfigObject &config, ConfigErrors &errors,
                              std::string &problem);

/// Which layers are dense, and the router's fields when a layer is not.
void readExperts(const ConfigObject &config, ModelFacts &facts);

} // namespace k2c

#endif // LIB_IMPORT_CONFIGSECTIONS_H

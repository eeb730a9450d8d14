//===- QuantizationConfig.cpp - quantization_config
//------------------------===//

#include "ConfigSections.h"

using namespace k2c;
using nlohmann::json;

static std::vector<std::string> readExclusions(const ConfigObject &section) {
  std::vector<std::string> names;
  for (const char *field : {"modules_to_not_convert", "ignore",
                            "ignored_layers", "exclude_modules"}) {
    if (!section.has(field))
      continue;
    if (!section.raw(field).is_array()) {
      section.refuse(field, "an array of strings", section.raw(field).dump());
      continue;
    }
    for (const json &name : section.raw(field)) {
      if (name.is_string())
        names.push_back(name.get<std::string>());
      else
        section.refuse(field, "an array of strings", name.dump());
    }
  }
  return names;
}

Quantization k2c::readQuantization(const ConfigObject &config,
                                   ConfigErrors &errors, std::string &problem) {
  Quantization result;
  if (!config.has("quantization_config"))
    return result;
  const json &raw = config.raw("quantization_config");
  if (!raw.is_object()) {
    config.refuse("quantization_config", "an object", raw.dump());
    return result;
  }
  ConfigObject section(raw, "quantization_config.", errors);
  std::string method = section.text("quant_method");
  result.excluded = readExclusions(section);
  auto unsupported = [&](const std::string &what) {
    result.kind = Quantization::Kind::Unsupported;
    problem = "quantization_config: expected quant_method fp8 with "
              "weight_block_size [128, 128], but got " +
              what;
  };
  if (method != "fp8") {
    std::string detail = "\"" + method + "\"";
    if (raw.contains("quant_algo") && raw["quant_algo"].is_string())
      detail += " with quant_algo " + raw["quant_algo"].get<std::string>();
    std::string dump =
        raw.contains("config_groups") ? raw["config_groups"].dump() : "";
    if (dump.find("\"num_bits\":4") != std::string::npos &&
        dump.find("\"int\"") != std::string::npos)
      detail += " with 4-bit integer weights";
    else if (dump.find("\"num_bits\":4") != std::string::npos &&
             dump.find("\"float\"") != std::string::npos)
      detail += " with 4-bit float weights";
    unsupported(detail);
    return result;
  }
  if (section.has("fmt") && section.text("fmt") != "e4m3") {
    unsupported("fmt " + raw["fmt"].dump());
    return result;
  }
  if (section.has("activation_scheme") &&
      section.text("activation_scheme") != "dynamic") {
    unsupported("activation_scheme " + raw["activation_scheme"].dump());
    return result;
  }
  if (!section.has("weight_block_size") ||
      raw["weight_block_size"] != json({128, 128})) {
    unsupported(section.has("weight_block_size")
                    ? "weight_block_size " + raw["weight_block_size"].dump()
                    : "no weight_block_size");
    return result;
  }
  result.kind = Quantization::Kind::Fp8;
  return result;
}

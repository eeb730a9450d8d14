//===- RopeConfig.cpp - The rotary fields of config.json ------------------===//
//
// Older files have rope_theta and rope_scaling {type}; newer library versions
// write rope_parameters {rope_type, type, rope_theta}. All mean the same; two
// spellings in one file must agree.
//
//===----------------------------------------------------------------------===//

#include "ConfigSections.h"

using namespace k2c;
using nlohmann::json;

static double readTheta(const ConfigObject &config, const ConfigObject *section,
                        const std::string &name) {
  bool inside = section && section->has("rope_theta");
  if (!inside)
    return config.number("rope_theta");
  double theta = section->number("rope_theta");
  if (config.has("rope_theta") && config.number("rope_theta") != theta)
    config.refuse("rope_theta",
                  "the value of " + name + ".rope_theta, " +
                      section->raw("rope_theta").dump(),
                  config.raw("rope_theta").dump());
  return theta;
}

/// The name of the scaling method: "default" when there is none.
static std::string readMethod(const ConfigObject &section) {
  std::string type = section.has("type") ? section.text("type") : "",
              ropeType =
                  section.has("rope_type") ? section.text("rope_type") : "";
  if (!type.empty() && !ropeType.empty() && type != ropeType)
    section.refuse("rope_type", "the method that type names, \"" + type + "\"",
                   "\"" + ropeType + "\"");
  std::string method = type.empty() ? ropeType : type;
  if (method.empty() && section.has("factor")) {
    section.refuse("type", "the name of a method beside factor",
                   "no such field");
    return "default";
  }
  if (!method.empty() && method != "default" && method != "yarn") {
    section.refuse(type.empty() ? "rope_type" : "type",
                   "\"yarn\" or \"default\"", "\"" + method + "\"");
    return "default";
  }
  return method.empty() ? "default" : method;
}

RopeParameters k2c::readRope(const ConfigObject &config, ConfigErrors &errors,
                             std::vector<std::string> &notes) {
  RopeParameters rope;
  bool newer = config.has("rope_parameters"),
       older = config.has("rope_scaling");
  std::string name = newer ? "rope_parameters" : "rope_scaling";
  if (newer || older) {
    if (!config.raw(name).is_object()) {
      config.refuse(name, "an object", config.raw(name).dump());
      return rope;
    }
  }
  if (!newer && !older) {
    rope.theta = readTheta(config, nullptr, name);
    if (!config.isNull("rope_scaling") && !config.isNull("rope_parameters"))
      notes.push_back("rope_scaling is absent: plain rotary positions");
  } else {
    if (newer && older) {
      // The theta may stand in one of them only; everything else must be the
      // same.
      json a = config.raw("rope_parameters"), b = config.raw("rope_scaling");
      for (json *section : {&a, &b})
        if (section->is_object())
          for (const char *key : {"rope_theta", "type", "rope_type"})
            section->erase(key);
      if (a != b)
        config.refuse("rope_scaling", "what rope_parameters says, " + a.dump(),
                      b.dump());
    }
    ConfigObject section(config.raw(name), name + ".", errors);
    std::string method = readMethod(section);
    rope.theta = readTheta(config, &section, name);
    if (newer && older && config.raw("rope_scaling").is_object()) {
      ConfigObject other(config.raw("rope_scaling"), "rope_scaling.", errors);
      std::string otherMethod = readMethod(other);
      if (otherMethod != method)
        config.refuse("rope_scaling",
                      "the method of rope_parameters, \"" + method + "\"",
                      "\"" + otherMethod + "\"");
    }
    if (method == "yarn") {
      rope.yarn = true;
      rope.factor = section.number("factor");
      rope.originalContext =
          section.integer("original_max_position_embeddings", 1);
      rope.betaFast = section.number("beta_fast");
      rope.betaSlow = section.number("beta_slow");
      rope.mscale = section.number("mscale");
      rope.mscaleAllDim = section.number("mscale_all_dim");
      if (rope.factor < 1)
        section.refuse("factor", "a factor of at least 1",
                       section.raw("factor").dump());
      if (rope.betaFast <= 0 || rope.betaSlow <= 0)
        section.refuse(
            rope.betaFast <= 0 ? "beta_fast" : "beta_slow",
            "a positive number of turns",
            section.raw(rope.betaFast <= 0 ? "beta_fast" : "beta_slow").dump());
      // Fields that would change the tables, from library versions that give
      // them a meaning.
      if (section.has("attention_factor"))
        section.refuse(
            "attention_factor",
            "no such field (mscale and mscale_all_dim give the factor)",
            section.raw("attention_factor").dump());
      if (section.has("truncate") && section.raw("truncate") != json(true))
        section.refuse("truncate", "true", section.raw("truncate").dump());
    }
    if (section.has("partial_rotary_factor") &&
        section.number("partial_rotary_factor") != 1)
      section.refuse("partial_rotary_factor",
                     "1 (qk_rope_head_dim says what is turned)",
                     section.raw("partial_rotary_factor").dump());
  }
  if (!errors.any() && !(rope.theta > 1))
    config.refuse("rope_theta", "a number above 1", json(rope.theta).dump());
  return rope;
}

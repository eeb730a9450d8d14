#include "runtime/ptxsim/model/DeviceDescription.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

using namespace ptxsim;
using nlohmann::json;

namespace {

struct ReadError {
  std::string text;
};

[[noreturn]] void refuse(const std::string &field, const std::string &text) {
  throw ReadError{field.empty() ? text : fmt::format("{}: {}", field, text)};
}

/// What the model reads: path and unit. The value may be null.
struct Required {
  const char *path, *unit;
};
constexpr Required required[] = {
    {"topology.sm_count", "SM"},
    {"topology.gpc_sizes_for_modelling", "SM per GPC"},
    {"topology.max_resident_clusters_2", "cluster"},
    {"topology.max_resident_clusters_4", "cluster"},
    {"topology.max_resident_clusters_8", "cluster"},
    {"topology.max_resident_clusters_16", "cluster"},
    {"clocks.sustained_memory_bound", "MHz"},
    {"clocks.sustained_tensor_bf16", "MHz"},
    {"clocks.sustained_tensor_fp8", "MHz"},
    {"clocks.sm_max", "MHz"},
    {"sm_limits.registers", "32-bit register"},
    {"sm_limits.threads", "thread"},
    {"sm_limits.warps", "warp"},
    {"sm_limits.ctas", "CTA"},
    {"sm_limits.shared_memory", "B"},
    {"sm_limits.shared_memory_reserved_per_cta", "B"},
    {"sm_limits.l1_and_shared", "B"},
    {"sm_rates.issue", "warp instruction/clk"},
    {"sm_rates.fp32_fma", "lane/clk"},
    {"sm_rates.fp16x2_bf16x2_fma", "result/clk"},
    {"sm_rates.int32", "lane/clk"},
    {"sm_rates.mufu", "lane/clk"},
    {"sm_rates.cvt_narrow", "result/clk"},
    {"sm_rates.cvt_fp32_to_bf16", "result/clk"},
    {"sm_rates.lsu", "lane/clk"},
    {"sm_rates.shuffle", "lane/clk"},
    {"shared_memory.bandwidth", "B/clk/SM"},
    {"shared_memory.remote_bandwidth", "B/clk/SM"},
    {"l2.size", "B"},
    {"l2.read_bandwidth", "GB/s"},
    {"l2.write_bandwidth", "GB/s"},
    {"l2.near_latency", "clk"},
    {"l2.port_per_sm", "B/clk/SM"},
    {"dram.read_sustained", "GB/s"},
    {"dram.write_weight", "-"},
    {"dram.latency", "ns"},
    {"async.tma_extra_latency", "clk"},
    {"sync.grid_barrier", "us"},
    {"tensor.bf16.sustained", "TFLOPS"},
    {"tensor.fp8.sustained", "TFLOPS"},
    {"tensor.tf32.sustained", "TFLOPS"},
    {"tensor.int8.sustained", "TOPS"},
    {"launch.gap_graph", "us/kernel boundary"},
    {"launch.gap_pdl", "us/kernel boundary"},
    {"launch.host_cost", "us/kernel"},
};

std::string oneOf(std::initializer_list<const char *> names) {
  std::string text;
  for (const char *n : names)
    text += (text.empty() ? "" : ", ") + std::string(n);
  return text;
}

void expectText(const json &leaf, const std::string &at, const char *key,
                std::initializer_list<const char *> values = {}) {
  if (!leaf.contains(key))
    refuse(at, fmt::format("expected a '{}'", key));
  const json &v = leaf[key];
  if (!v.is_string())
    refuse(at + "." + key,
           fmt::format("expected a string, but got {}", v.dump()));
  if (!values.size())
    return;
  for (const char *allowed : values)
    if (v == allowed)
      return;
  refuse(at + "." + key, fmt::format("expected one of {}, but got {}",
                                     oneOf(values), v.dump()));
}

/// What a parser callback needs to refuse repeated names.
struct Names {
  static constexpr int deepest = 16;
  std::vector<std::set<std::string>> open;
  bool operator()(int depth, json::parse_event_t event, json &value) {
    // What follows recurses.
    if (depth > deepest)
      refuse("", fmt::format("expected at most {} levels", deepest));
    if (event == json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == json::parse_event_t::object_end)
      open.pop_back();
    else if (event == json::parse_event_t::key &&
             !open.back().insert(value.get<std::string>()).second)
      refuse("", fmt::format("the name '{}' is repeated",
                             value.get<std::string>()));
    return true;
  }
};

DeviceDescription::Field readLeaf(const json &leaf, const std::string &at) {
  static const std::set<std::string> known = {
      "value", "unit", "source", "kind", "evidence", "on", "range", "note"};
  for (const auto &item : leaf.items())
    if (!known.contains(item.key()))
      refuse(at, fmt::format("unknown name '{}'", item.key()));
  expectText(leaf, at, "unit");
  expectText(leaf, at, "source");
  expectText(leaf, at, "kind", {"specified", "measured", "derived", "assumed"});
  expectText(leaf, at, "evidence",
             {"read", "quoted", "recalled", "computed", "none"});
  for (const char *key : {"on", "note"})
    if (leaf.contains(key))
      expectText(leaf, at, key);
  DeviceDescription::Field field;
  field.unit = leaf["unit"];
  const json &value = leaf["value"];
  if (value.is_number()) {
    field.value = value.get<double>();
  } else if (value.is_array()) {
    for (const json &v : value) {
      if (!v.is_number())
        refuse(at + ".value",
               fmt::format("expected numbers, but got {}", v.dump()));
      field.list.push_back(v.get<double>());
    }
  } else if (value.is_null()) {
    if (leaf["kind"] != "assumed" || !leaf.contains("note"))
      refuse(at, "expected kind assumed and a note that says why the value is "
                 "null");
  } else if (!value.is_string()) {
    refuse(at + ".value",
           fmt::format("expected a number, text, list or null, but got {}",
                       value.dump()));
  }
  if (leaf.contains("range")) {
    const json &r = leaf["range"];
    if (!r.is_array() || r.size() != 2 || !r[0].is_number() ||
        !r[1].is_number() || r[0] > r[1])
      refuse(at + ".range",
             fmt::format("expected [least, most], but got {}", r.dump()));
    field.range = {r[0].get<double>(), r[1].get<double>()};
    if (field.value && (*field.value < field.range->first ||
                        *field.value > field.range->second))
      refuse(at + ".range",
             fmt::format("expected to contain the value {}, but got {}",
                         value.dump(), r.dump()));
  }
  return field;
}

} // namespace

double ptxsim::unitScale(std::string_view unit) {
  const std::pair<std::string_view, double> scales[] = {{"GB/s", 1e9},
                                                        {"MHz", 1e6},
                                                        {"ns", 1e-9},
                                                        {"TFLOPS", 1e12},
                                                        {"TOPS", 1e12}};
  for (const auto &[name, scale] : scales)
    if (unit == name)
      return scale;
  return unit == "us" || unit.starts_with("us/") ? 1e-6 : 1;
}

Result<DeviceDescription> DeviceDescription::parse(std::string_view text,
                                                   std::string file) {
  DeviceDescription d;
  d.file = std::move(file);
  try {
    const json root = json::parse(text, Names());
    if (!root.is_object())
      refuse("", "expected an object");
    if (!root.contains("schema") || root["schema"] != "k2c-device-1")
      refuse("schema", fmt::format("expected k2c-device-1, but got {}",
                                   root.value("schema", json()).dump()));
    if (!root.contains("device") || !root["device"].is_string())
      refuse("device", "expected the device's name");
    d.name = root["device"];
    auto walk = [&](auto &self, const json &node,
                    const std::string &at) -> void {
      if (!node.is_object())
        refuse(at, fmt::format("expected an object with a value, but got {}",
                               node.dump()));
      if (node.contains("value")) {
        d.fields[at] = readLeaf(node, at);
        return;
      }
      for (const auto &item : node.items())
        self(self, item.value(),
             at.empty() ? item.key() : at + "." + item.key());
    };
    for (const auto &item : root.items())
      if (item.key() != "schema" && item.key() != "device" &&
          item.key() != "about")
        walk(walk, item.value(), item.key());
    for (const Required &r : required) {
      const Field *f = d.field(r.path);
      if (!f)
        refuse(r.path, "missing");
      if (f->unit != r.unit)
        refuse(std::string(r.path) + ".unit",
               fmt::format("expected {}, but got {}", r.unit, f->unit));
      // Bytes and rates of a device, whatever the unit.
      if (f->value && (*f->value <= 0 || *f->value > 1e12))
        refuse(std::string(r.path) + ".value",
               fmt::format("expected a positive number up to 1e12, but got {}",
                           *f->value));
    }
    const Field &gpcs = *d.field("topology.gpc_sizes_for_modelling");
    const std::optional<double> sms = d.value("topology.sm_count");
    double sum = 0;
    for (double size : gpcs.list) {
      if (size < 1 || size > 1024 || size != std::floor(size))
        refuse("topology.gpc_sizes_for_modelling.value",
               fmt::format("expected whole numbers from 1 to 1024, but got {}",
                           size));
      sum += size;
    }
    if (!sms)
      refuse("topology.sm_count", "expected a number");
    if (sum != *sms)
      refuse(
          "topology.gpc_sizes_for_modelling.value",
          fmt::format("expected sizes whose sum is topology.sm_count {}, but "
                      "got {}",
                      *sms, sum));
    return d;
  } catch (const ReadError &e) {
    return Status::error(fmt::format("{}: {}", d.file, e.text));
  } catch (const json::exception &e) {
    return Status::error(fmt::format("{}: not JSON: {}", d.file, e.what()));
  }
}

Result<DeviceDescription> DeviceDescription::read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Status::error(fmt::format("{}: cannot be read", path));
  const std::string text((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  return parse(text, path);
}

Result<DeviceDescription> DeviceDescription::find(const std::string &name) {
  if (name.find_first_of("/.") != name.npos)
    return read(name);
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path file =
      self.parent_path().parent_path() / "share/k2c/devices" / (name + ".json");
  if (error || !std::filesystem::exists(file, error))
    return Status::error(fmt::format(
        "expected h100, h200, h800 or the path of a device file, but got '{}' "
        "({} does not exist)",
        name, file.string()));
  return read(file.string());
}

const DeviceDescription::Field *
DeviceDescription::field(std::string_view path) const {
  const auto it = fields.find(path);
  return it == fields.end() ? nullptr : &it->second;
}

std::optional<double> DeviceDescription::value(std::string_view path) const {
  const Field *f = field(path);
  if (!f || !f->value)
    return std::nullopt;
  return *f->value * unitScale(f->unit);
}

CacheSizes DeviceDescription::cacheSizes(bool keepL2) const {
  CacheSizes sizes;
  sizes.l2Bytes = uint64_t(value("l2.size").value_or(0));
  sizes.l1AndSharedBytes =
      uint64_t(value("sm_limits.l1_and_shared").value_or(0));
  sizes.sharedReservedBytes =
      uint64_t(value("sm_limits.shared_memory_reserved_per_cta").value_or(0));
  sizes.keepL2 = keepL2;
  return sizes;
}

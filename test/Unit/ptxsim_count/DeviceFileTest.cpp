#include "runtime/ptxsim/model/DeviceDescription.h"
#include "runtime/ptxsim/model/Registers.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

using namespace ptxsim;
using testing::HasSubstr;

namespace {

std::string textOf(const std::string &name) {
  std::ifstream in(std::string(K2C_SOURCE_DIR) + "/runtime/ptxsim/devices/" +
                   name + ".json");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What is said about h200.json with its first `from` behind `after` replaced.
std::string refusal(const std::string &after, const std::string &from,
                    const std::string &to) {
  std::string text = textOf("h200");
  const size_t at = text.find(from, text.find(after));
  EXPECT_NE(at, text.npos);
  text.replace(at, from.size(), to);
  return DeviceDescription::parse(text, "d.json").message();
}

TEST(DeviceFile, AllThreeAreRead) {
  for (const char *name : {"h100", "h200", "h800"}) {
    auto d = DeviceDescription::parse(textOf(name), name);
    ASSERT_TRUE(d) << d.message();
    EXPECT_EQ(d->value("topology.sm_count"), 132) << name;
  }
}

TEST(DeviceFile, ValuesInBaseUnits) {
  auto d = DeviceDescription::parse(textOf("h200"), "h200.json");
  ASSERT_TRUE(d) << d.message();
  EXPECT_DOUBLE_EQ(*d->value("dram.read_sustained"), 4500e9);
  EXPECT_DOUBLE_EQ(*d->value("dram.latency"), 345e-9);
  EXPECT_DOUBLE_EQ(*d->value("clocks.sustained_memory_bound"), 1980e6);
  EXPECT_DOUBLE_EQ(*d->value("tensor.bf16.sustained"), 794.5e12);
  EXPECT_DOUBLE_EQ(*d->value("launch.gap_graph"), 0.95e-6);
  EXPECT_EQ(d->value("tensor.int8.sustained"), std::nullopt); // null
  EXPECT_EQ(d->cacheSizes().l2Bytes, 62914560u);
}

TEST(DeviceFile, ErrorsNameFileAndField) {
  EXPECT_EQ(refusal("\"dram\"", "\"read_sustained\"", "\"read\""),
            "d.json: dram.read_sustained: missing");
  EXPECT_EQ(refusal("\"read_sustained\"", "\"GB/s\"", "\"TB/s\""),
            "d.json: dram.read_sustained.unit: expected GB/s, but got TB/s");
  EXPECT_EQ(refusal("\"read_sustained\"", "\"value\": 4500", "\"value\": true"),
            "d.json: dram.read_sustained.value: expected a number, text, list "
            "or null, but got true");
  EXPECT_EQ(refusal("\"read_sustained\"", "\"value\": 4500", "\"value\": 0"),
            "d.json: dram.read_sustained.range: expected to contain the value "
            "0, but got [3890,4570]");
  EXPECT_EQ(refusal("\"sm_count\"", "\"specified\"", "\"guessed\""),
            "d.json: topology.sm_count.kind: expected one of specified, "
            "measured, derived, assumed, but got \"guessed\"");
  EXPECT_EQ(refusal("\"sm_count\"", "\"value\": 132", "\"value\": null"),
            "d.json: topology.sm_count: expected kind assumed and a note that "
            "says why the value is null");
  EXPECT_EQ(refusal("\"sm_count\"", "\"value\": 132", "\"value\": 131"),
            "d.json: topology.gpc_sizes_for_modelling.value: expected sizes "
            "whose sum is topology.sm_count 131, but got 132");
  EXPECT_EQ(refusal("\"sm_count\"", "\"unit\"", "\"units\""),
            "d.json: topology.sm_count: unknown name 'units'");
  EXPECT_EQ(refusal("", "k2c-device-1", "k2c-device-2"),
            "d.json: schema: expected k2c-device-1, but got \"k2c-device-2\"");
  EXPECT_EQ(refusal("\"topology\"", "\"tpc_count\"", "\"sm_count\""),
            "d.json: the name 'sm_count' is repeated");
  EXPECT_EQ(refusal("\"gpc_sizes_for_modelling\"", "14", "14.5"),
            "d.json: topology.gpc_sizes_for_modelling.value: expected whole "
            "numbers from 1 to 1024, but got 14.5");
  EXPECT_EQ(refusal("\"registers\"", "65536", "1e300"),
            "d.json: sm_limits.registers.value: expected a positive number up "
            "to 1e12, but got 1e+300");
  EXPECT_EQ(DeviceDescription::parse("{\"a\": " + std::string(100000, '[') +
                                         std::string(100000, ']') + "}",
                                     "d.json")
                .message(),
            "d.json: expected at most 16 levels");
  EXPECT_THAT(DeviceDescription::parse("{", "d.json").message(),
              HasSubstr("d.json: not JSON: "));
  EXPECT_EQ(DeviceDescription::parse("[1]", "d.json").message(),
            "d.json: expected an object");
  EXPECT_EQ(DeviceDescription::read("/nowhere/x.json").message(),
            "/nowhere/x.json: cannot be read");
  EXPECT_THAT(DeviceDescription::find("h300").message(),
              HasSubstr("expected h100, h200, h800 or the path of a device "
                        "file, but got 'h300'"));
}

TEST(Registers, OfPtxasText) {
  // As printed by ptxas 12.8 -v.
  auto r = readRegisters(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compile time = 2.0 ms\n",
      "log");
  ASSERT_TRUE(r) << r.message();
  EXPECT_EQ(r->at("k"), 40u);
  EXPECT_EQ(readRegisters("{\"a\": 128}", "j")->at("a"), 128u);
  EXPECT_EQ(readRegisters("{\"a\": 300}", "j.json").message(),
            "j.json: a: expected a number of registers from 1 to 255, but got "
            "300");
  EXPECT_THAT(readRegisters("nothing", "log").message(),
              HasSubstr("log: expected the output of ptxas -v"));
}

} // namespace

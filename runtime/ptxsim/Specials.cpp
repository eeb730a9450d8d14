// Special registers with one value while a warp lives: names, and the rows that
// hold them.

#include "runtime/ptxsim/Specials.h"
#include "runtime/ptxsim/Cta.h"
#include "runtime/ptxsim/Decoder.h"

using namespace ptxsim;

namespace {
struct Name {
  std::string_view name;
  Special special;
};
constexpr Name names[] = {
    {"tid.x", Special::TidX},
    {"tid.y", Special::TidY},
    {"tid.z", Special::TidZ},
    {"ntid.x", Special::NtidX},
    {"ntid.y", Special::NtidY},
    {"ntid.z", Special::NtidZ},
    {"ctaid.x", Special::CtaidX},
    {"ctaid.y", Special::CtaidY},
    {"ctaid.z", Special::CtaidZ},
    {"nctaid.x", Special::NctaidX},
    {"nctaid.y", Special::NctaidY},
    {"nctaid.z", Special::NctaidZ},
    {"laneid", Special::LaneId},
    {"warpid", Special::WarpId},
    {"nwarpid", Special::NWarpId},
    {"smid", Special::SmId},
    {"nsmid", Special::NSmId},
    {"gridid", Special::GridId},
    {"dynamic_smem_size", Special::DynamicSharedSize},
    {"total_smem_size", Special::TotalSharedSize},
    {"lanemask_eq", Special::LanemaskEq},
    {"lanemask_le", Special::LanemaskLe},
    {"lanemask_lt", Special::LanemaskLt},
    {"lanemask_ge", Special::LanemaskGe},
    {"lanemask_gt", Special::LanemaskGt},
    {"clusterid.x", Special::ClusterIdX},
    {"clusterid.y", Special::ClusterIdY},
    {"clusterid.z", Special::ClusterIdZ},
    {"nclusterid.x", Special::NClusterIdX},
    {"nclusterid.y", Special::NClusterIdY},
    {"nclusterid.z", Special::NClusterIdZ},
    {"cluster_ctaid.x", Special::ClusterCtaidX},
    {"cluster_ctaid.y", Special::ClusterCtaidY},
    {"cluster_ctaid.z", Special::ClusterCtaidZ},
    {"cluster_nctaid.x", Special::ClusterNctaidX},
    {"cluster_nctaid.y", Special::ClusterNctaidY},
    {"cluster_nctaid.z", Special::ClusterNctaidZ},
    {"cluster_ctarank", Special::ClusterCtarank},
    {"cluster_nctarank", Special::ClusterNctarank},
};
} // namespace

std::optional<Special> ptxsim::staticSpecial(std::string_view name) {
  for (const Name &entry : names)
    if (entry.name == name)
      return entry.special;
  // envreg0 to envreg31
  if (name.starts_with("envreg")) {
    const std::string_view digits = name.substr(6);
    unsigned n = 0;
    for (char c : digits)
      n = c >= '0' && c <= '9' && n < 32 ? n * 10 + unsigned(c - '0') : 32;
    if (!digits.empty() && n < 32 && (digits.size() == 1 || digits[0] != '0'))
      return Special(unsigned(Special::EnvReg0) + n);
  }
  return std::nullopt;
}

uint64_t ptxsim::specialValue(const Cta &cta, unsigned warp, unsigned lane,
                              Special special) {
  const Launch &launch = cta.launch;
  const Dim3 block = launch.block, grid = launch.grid, cluster = launch.cluster;
  const uint32_t thread = warp * warpSize + lane;
  if (special >= Special::EnvReg0 && special <= Special::EnvReg31)
    return launch.envreg[unsigned(special) - unsigned(Special::EnvReg0)];
  switch (special) {
  case Special::TidX:
    return thread % block.x;
  case Special::TidY:
    return thread / block.x % block.y;
  case Special::TidZ:
    return thread / block.x / block.y;
  case Special::NtidX:
    return block.x;
  case Special::NtidY:
    return block.y;
  case Special::NtidZ:
    return block.z;
  case Special::CtaidX:
    return cta.id.x;
  case Special::CtaidY:
    return cta.id.y;
  case Special::CtaidZ:
    return cta.id.z;
  case Special::NctaidX:
    return grid.x;
  case Special::NctaidY:
    return grid.y;
  case Special::NctaidZ:
    return grid.z;
  case Special::ClusterIdX:
    return cta.clusterId.x;
  case Special::ClusterIdY:
    return cta.clusterId.y;
  case Special::ClusterIdZ:
    return cta.clusterId.z;
  case Special::NClusterIdX:
    return grid.x / cluster.x;
  case Special::NClusterIdY:
    return grid.y / cluster.y;
  case Special::NClusterIdZ:
    return grid.z / cluster.z;
  case Special::ClusterCtaidX:
    return cta.id.x % cluster.x;
  case Special::ClusterCtaidY:
    return cta.id.y % cluster.y;
  case Special::ClusterCtaidZ:
    return cta.id.z % cluster.z;
  case Special::ClusterNctaidX:
    return cluster.x;
  case Special::ClusterNctaidY:
    return cluster.y;
  case Special::ClusterNctaidZ:
    return cluster.z;
  case Special::ClusterCtarank:
    return cta.rank;
  case Special::ClusterNctarank:
    return cluster.x * cluster.y * cluster.z;
  case Special::Scratch:
    return 0;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NWarpId:
    return 64;
  // One CTA after the other on one multiprocessor would be legal too; a program
  // may not depend on it.
  case Special::SmId:
    return (cta.id.x +
            uint64_t(grid.x) * (cta.id.y + uint64_t(grid.y) * cta.id.z)) %
           132;
  case Special::NSmId:
    return 132;
  case Special::GridId:
    return launch.gridId;
  case Special::DynamicSharedSize:
    return launch.dynamicShared;
  case Special::TotalSharedSize:
    // In units in which shared memory is allocated: 128 bytes.
    return (cta.sharedEnd - sharedBegin + 127) / 128 * 128;
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return (2ull << lane) - 1;
  case Special::LanemaskLt:
    return (1ull << lane) - 1;
  case Special::LanemaskGe:
    return uint32_t(~((1ull << lane) - 1));
  case Special::LanemaskGt:
    return uint32_t(~((2ull << lane) - 1));
  default:
    break;
  }
  return 0;
}

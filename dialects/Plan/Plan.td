// The plan dialect, family by family.
include "dialects/Plan/PlanDialect.td"
include "dialects/Plan/PlanEnums.td"
include "dialects/Plan/PlanAttrs.td"
include "dialects/Plan/PlanDataOps.td"
include "dialects/Plan/PlanCommandOps.td"

// Plans of decode attention where chunks are stored in several types and each type has its own
// kernel: a plan a type, in one numbering of partials.
#pragma once

#include <span>
#include <vector>

#include "compute/attend_plan.h"

namespace looseleaf {

struct AttendPlansByType {
  std::vector<const AttendPlan*> of_type;  // null: no use of that type
  // [rows * heads + 1] partials of a query: those of the first type in prompt order, then the next.
  std::span<const int32_t> first_partial;
};

// Not for several threads at once.
class AttendPlannerByType {
 public:
  // token_rates: PlanShape::token_rate of each type
  explicit AttendPlannerByType(std::vector<int> token_rates);

  // types: of each chunk, places in `token_rates`; anything for a chunk without uses. Else, and for
  // how long the plans are valid, as AttendPlanner::plan.
  AttendPlansByType plan(PlanShape shape, std::span<const PlanChunk> chunks,
                         std::span<const int> types, std::span<const PlanUse> uses,
                         std::span<const int32_t> first_use);

 private:
  std::vector<int> token_rates_;         // [types]
  std::vector<AttendPlanner> planners_;  // [types]
  std::vector<AttendPlan> renumbered_;   // [types]
  std::vector<int32_t> first_partial_;
};

}  // namespace looseleaf

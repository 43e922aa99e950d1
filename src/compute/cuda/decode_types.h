// The types of pages that decode attention multiplies on tensor cores, each by its own kernel, and
// plans for a step that has several of them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "compute/attend_plan.h"
#include "compute/cuda/attend_decode.h"
#include "compute/kv_layout.h"

namespace looseleaf::cuda {

struct DecodeType {
  KvType type;
  // overlapping: behind another type's kernel of the same step.
  cudaError_t (*attend)(const DecodeArgs& args, int head_dim, int blocks, bool overlapping,
                        cudaStream_t stream);
};
// A kernel that overlaps waits for the end of the one before it, so the first never does.
extern const std::array<DecodeType, 2> kDecodeTypes;

// The layout's place in kDecodeTypes; -1: no kernel is for it.
int decode_type(const KvLayout& layout);

// Plans of a step by type; partials of a query are neighbours whatever the types.
class DecodePlanner {
 public:
  struct Plan {
    std::array<const AttendPlan*, 2> of_type;  // null: no chunk of that type
    std::span<const int32_t> first_partial;    // [rows * heads + 1]
  };
  // types: of each chunk, places in kDecodeTypes. Else as AttendPlanner::plan.
  Plan plan(const PlanShape& shape, std::span<const PlanChunk> chunks, std::span<const int> types,
            std::span<const PlanUse> uses, std::span<const int32_t> first_use);

 private:
  std::array<AttendPlanner, 2> planners_;
  std::array<AttendPlan, 2> renumbered_;
  std::vector<int32_t> first_partial_;
};

}  // namespace looseleaf::cuda

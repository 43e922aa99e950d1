// The tokens whose values in layer 1 change most when the whole prompt is recomputed that far.
#include <algorithm>

#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    {"mask", "position", "position|released",
     "what rows see: what stands before them, or as in the released code, whose lower triangle "
     "over "
     "the chosen rows lets them see later tokens"},
    kBudgetOption,
};

// Layer 1 was recomputed for the choice, so it is fresh for all.
RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  RepairPlan plan;
  plan.depths = one_set(top(input.deviation, count_for(ratio, shape.tokens())), shape);
  for (int32_t& depth : plan.depths) depth = std::max(depth, std::min(1, shape.layers - 1));
  plan.released = method.option("mask") == "released";
  return plan;
}

}  // namespace

extern const MethodInfo kCacheBlend;
const MethodInfo kCacheBlend = {
    .name = "cacheblend",
    .summary =
        "reuse, and the first layers of everything, then the tokens whose values changed "
        "most recomputed over all that stands before them",
    .citation = "CacheBlend, 2405.16444",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "ratio", .default_value = 0.15},
    .evidence = Evidence::kDeviation,
    .plan = plan,
};

}  // namespace looseleaf

// The tokens that the question looks at most, one set for all layers, over the whole prefix.
#include "repair/choose_depths.h"
#include "repair/context_option.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    context_option("causal"), kSpansOption,  kSoftmaxOption, kRowsOption,
    kAnchorsOption,           kBudgetOption,
};

RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  RepairPlan plan;
  plan.depths = choose_one_set(method, input, ratio);
  plan.context = context_of(method, input.shape);
  return plan;
}

}  // namespace

extern const MethodInfo kProphetKv;
const MethodInfo kProphetKv = {
    .name = "prophetkv",
    .summary =
        "reuse, and the tokens with the most attention of the question, mean over layers, "
        "recomputed over all that stands before them",
    .citation = "ProphetKV, 2602.02579",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "ratio", .default_value = 0.2},
    .evidence = Evidence::kScores,
    .plan = plan,
};

}  // namespace looseleaf

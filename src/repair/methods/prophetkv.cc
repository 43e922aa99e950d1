// The tokens that the question looks at most, one set for all layers, over the whole prefix.
#include "repair/context_option.h"
#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    context_option("causal"),
    {"spans", "0", "0..64", "average the scores over so many tokens on both sides first"},
    {"softmax", "all", "all|documents", "scores are shares of all attention, or of the documents'"},
    kBudgetOption,
};

RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  const auto scores = smoothed(mean_over_layers(input), input.shape, method.integer("spans"));
  RepairPlan plan;
  plan.depths = one_set(top(scores, count_for(ratio, input.shape.tokens())), input.shape);
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

// Each layer's own anchors, nested, recomputed over the anchors of all layers alone. Scores are not
// brought to [0, 1] layer by layer as the paper does: no layer's order changes by it.
#include "repair/choose_depths.h"
#include "repair/context_option.h"
#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    context_option("union"),
    {"header", "0", "0|1", "targets see the text before them too (attention sinks)"},
    kNestedOption,
    kSoftmaxOption,
    kSpansOption,
    kLayersOption,
    kRowsOption,
    kAnchorsOption,
    {"sinks", "0", "0..1024", "first tokens of every document in the context"},
    {"local", "0", "0..1024", "tokens before each target in the context"},
    kBudgetOption,
};

RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  RepairPlan plan;
  plan.depths = choose_by_layer(method, input, ratio);
  plan.context = context_of(method, shape);
  plan.text = method.flag("header") || plan.context == RepairContext::kCausal;
  widen_context(shape, method.integer("sinks"), method.integer("local"), plan.depths);
  return plan;
}

}  // namespace

extern const MethodInfo kRelaxKv;
const MethodInfo kRelaxKv = {
    .name = "relaxkv",
    .summary =
        "reuse, and each layer's most attended tokens recomputed, nested by depth, over the "
        "union of all layers' tokens",
    .citation = "RelaxKV, 2609.33503",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "ratio", .default_value = 0.15},
    .evidence = Evidence::kScores,
    .plan = plan,
};

}  // namespace looseleaf

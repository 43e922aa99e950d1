// RelaxKV's nesting, but that all layers choose the depths together, and with another context: in a
// short prompt a target reads everything before it, which costs little there; in a long one all of
// its own document, which its state was built from, and of the others only what some layer's
// question looks at.
#include <algorithm>

#include "repair/choose_depths.h"
#include "repair/context_option.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    context_option("auto"),
    kSpansOption,
    {"layers", "joint-late", kLayersOption.values, kLayersOption.summary},
    kNestedOption,
    kSoftmaxOption,
    kRowsOption,
    kAnchorsOption,
    {"skip", "off", "off|0.0..1.0",
     "repair nothing where one document has at least this share of the documents' attention"},
    kBudgetOption,
};

// The largest share that a single document has of the question's attention to documents, over the
// upper half of the layers, where attention is about content.
double largest_share(const RepairInput& input) {
  const PromptShape& shape = input.shape;
  std::vector<double> mass(static_cast<size_t>(shape.chunks.empty() ? 1 : shape.chunks.back() + 1));
  double all = 0;
  for (int layer = shape.layers / 2; layer < shape.layers; ++layer) {
    const auto scores = input.layer_scores(layer);
    for (size_t i = 0; i < scores.size(); ++i) {
      mass[static_cast<size_t>(shape.chunks[i])] += scores[i];
      all += scores[i];
    }
  }
  return all > 0 ? *std::max_element(mass.begin(), mass.end()) / all : 1;
}

RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  RepairPlan plan;
  plan.context = context_of(method, shape);
  const auto skip = method.value("skip");
  if (skip && largest_share(input) >= *skip) ratio = 0;
  plan.depths = choose_by_layer(method, input, ratio);
  return plan;
}

}  // namespace

extern const MethodInfo kWeave;
const MethodInfo kWeave = {
    .name = "weave",
    .summary =
        "reuse, and tokens recomputed down to depths that all layers choose together, over all "
        "before them or, in long prompts, their own document and the others' chosen tokens",
    .citation = "docs/repair.md; nesting: RelaxKV, 2609.33503",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "ratio", .default_value = 0.15},
    .evidence = Evidence::kScores,
    .plan = plan,
};

}  // namespace looseleaf

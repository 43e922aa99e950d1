// A repair that the caller spells out: a selector can be tried without a compiler.
#include <algorithm>

#include "repair/context_option.h"
#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    {"context", "causal", "causal|union|own+union|list",
     "what targets attend to: all before them, the targets, all of their document and the others' "
     "targets, or the tokens that `context` lists and the targets"},
    {"header", "1", "0|1", "targets see the text before them too"},
};

RepairPlan plan(const Method& method, const RepairInput& input, double) {
  RepairPlan plan;
  plan.depths = closure(input.given->targets, input.shape.tokens());
  const std::string& context = method.option("context");
  plan.context = context == "causal"      ? RepairContext::kCausal
                 : context == "own+union" ? RepairContext::kOwnUnion
                                          : RepairContext::kUnion;
  plan.text = method.flag("header");
  for (const int32_t token : input.given->context) {
    int32_t& depth = plan.depths[static_cast<size_t>(token)];
    depth = std::max(depth, 0);
  }
  return plan;
}

}  // namespace

extern const MethodInfo kPlan;
const MethodInfo kPlan = {
    .name = "plan",
    .summary =
        "reuse, and the tokens that the request's `targets` name for each layer, nested by "
        "depth",
    .citation = "for research; docs/repair.md",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .evidence = Evidence::kNone,
    .plan = plan,
};

}  // namespace looseleaf

// The first tokens of each chunk, where chunks computed alone show their false attention sinks.
#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {kBudgetOption};

// The first chunk stands behind nothing but the header: it is left as it is.
RepairPlan plan(const Method&, const RepairInput& input, double k) {
  const PromptShape& shape = input.shape;
  std::vector<int32_t> set;
  for (int32_t i = 0; i < shape.tokens(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (shape.chunks[at] > 0 && shape.places[at] < k) set.push_back(i);
  }
  RepairPlan plan;
  plan.depths = one_set(set, shape);
  return plan;
}

}  // namespace

extern const MethodInfo kEpic;
const MethodInfo kEpic = {
    .name = "epic",
    .summary =
        "reuse, and the first k tokens of each document but the first recomputed over all "
        "that stands before them",
    .citation = "EPIC, LegoLink, 2410.15332",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "k", .default_value = 16, .most = 1 << 20, .integer = true},
    .evidence = Evidence::kNone,
    .plan = plan,
};

}  // namespace looseleaf

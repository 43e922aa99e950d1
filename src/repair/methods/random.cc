// A control: what any choice of as many tokens buys.
#include <numeric>

#include "repair/context_option.h"
#include "repair/method.h"
#include "repair/select.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    context_option("causal"),
    {"seed", "0", "0..1000000", "another choice"},
    kBudgetOption,
};

// SplitMix64 (Steele et al. 2014): the same choice on every platform.
uint64_t next(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// A larger ratio keeps the tokens of a smaller one: the first of one shuffled order.
RepairPlan plan(const Method& method, const RepairInput& input, double ratio) {
  const PromptShape& shape = input.shape;
  std::vector<int32_t> order(static_cast<size_t>(shape.tokens()));
  std::iota(order.begin(), order.end(), 0);
  auto state = static_cast<uint64_t>(method.integer("seed"));
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next(state) % i]);
  order.resize(static_cast<size_t>(count_for(ratio, shape.tokens())));
  RepairPlan plan;
  plan.depths = one_set(order, shape);
  plan.context = context_of(method, shape);
  return plan;
}

}  // namespace

extern const MethodInfo kRandom;
const MethodInfo kRandom = {
    .name = "random",
    .summary = "a control: reuse, and random tokens recomputed over all that stands before them",
    .citation = "a control",
    .storage = DocumentStorage::kShared,
    .options = kOptions,
    .number = {.name = "ratio", .default_value = 0.15},
    .evidence = Evidence::kNone,
    .plan = plan,
};

}  // namespace looseleaf

#include "compute/attend_plan_by_type.h"

#include <algorithm>
#include <utility>

namespace looseleaf {

AttendPlannerByType::AttendPlannerByType(std::vector<int> token_rates)
    : token_rates_(std::move(token_rates)),
      planners_(token_rates_.size()),
      renumbered_(token_rates_.size()) {}

AttendPlansByType AttendPlannerByType::plan(PlanShape shape, std::span<const PlanChunk> chunks,
                                            std::span<const int> types,
                                            std::span<const PlanUse> uses,
                                            std::span<const int32_t> first_use) {
  const auto type_of = [&](const PlanUse& use) { return types[static_cast<size_t>(use.chunk)]; };
  AttendPlansByType plans;
  plans.of_type.resize(planners_.size());
  const int first_type = uses.empty() ? 0 : type_of(uses[0]);
  const auto is_first = [&](const PlanUse& use) { return type_of(use) == first_type; };
  if (std::all_of(uses.begin(), uses.end(), is_first)) {
    const auto t = static_cast<size_t>(first_type);
    shape.token_rate = token_rates_[t];
    plans.of_type[t] = &planners_[t].plan(shape, chunks, uses, first_use);
    plans.first_partial = plans.of_type[t]->first_partial;
    return plans;
  }
  const size_t rows = first_use.size() - 1;
  first_partial_.assign(rows * static_cast<size_t>(shape.heads) + 1, 0);
  for (size_t t = 0; t < planners_.size(); ++t) {
    std::vector<PlanUse> own;
    std::vector<int32_t> first_own = {0};
    for (size_t r = 0; r < rows; ++r) {
      for (int32_t u = first_use[r]; u < first_use[r + 1]; ++u)
        if (const PlanUse& use = uses[static_cast<size_t>(u)]; type_of(use) == static_cast<int>(t))
          own.push_back(use);
      first_own.push_back(static_cast<int32_t>(own.size()));
    }
    shape.token_rate = token_rates_[t];
    renumbered_[t] = planners_[t].plan(shape, chunks, own, first_own);
    for (size_t q = 0; q < first_partial_.size(); ++q)
      first_partial_[q] += renumbered_[t].first_partial[q];
    if (!own.empty()) plans.of_type[t] = &renumbered_[t];
  }
  // Before a query's partials of one type stand all of earlier types up to this query, and those of
  // later types up to the query before.
  for (size_t t = 0; t < planners_.size(); ++t)
    for (QueryVector& vector : renumbered_[t].vectors)
      for (size_t other = 0; other < planners_.size(); ++other)
        if (other != t)
          vector.partial +=
              renumbered_[other]
                  .first_partial[static_cast<size_t>(vector.query) + (other < t ? 1 : 0)];
  plans.first_partial = first_partial_;
  return plans;
}

}  // namespace looseleaf

#include "cli/bench_result.h"

#include <algorithm>

namespace looseleaf {

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

boost::json::object spread_json(const Spread& s) {
  return {{"median", s.median}, {"min", s.least}, {"max", s.most}};
}

}  // namespace looseleaf

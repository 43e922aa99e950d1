#include "eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "eval/random.h"

namespace looseleaf {
namespace {

constexpr int kResamplings = 2000;

double mean(std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Between neighbours in proportion. `values` is sorted.
double quantile(const std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - std::floor(place));
}

Estimate bootstrap(std::span<const double> samples, uint64_t seed,
                   double (*statistic)(std::vector<double>&)) {
  std::vector<double> drawn(samples.begin(), samples.end());
  Estimate estimate{.value = statistic(drawn)};
  EvalRandom random(seed, samples.size());
  std::vector<double> statistics(kResamplings);
  for (double& value : statistics) {
    for (double& sample : drawn) sample = samples[random.below(samples.size())];
    value = statistic(drawn);
  }
  std::ranges::sort(statistics);
  estimate.lo = quantile(statistics, 0.025);
  estimate.hi = quantile(statistics, 0.975);
  return estimate;
}

}  // namespace

Estimate bootstrap_mean(std::span<const double> samples, uint64_t seed) {
  return bootstrap(samples, seed, mean);
}

Estimate bootstrap_median(std::span<const double> samples, uint64_t seed) {
  return bootstrap(samples, seed, median);
}

}  // namespace looseleaf

// Means and medians of samples with intervals.
#pragma once

#include <cstdint>
#include <span>

namespace looseleaf {

struct Estimate {
  double value = 0;       // of all samples
  double lo = 0, hi = 0;  // 95 % interval
};

// Percentile bootstrap (Efron 1979): `value` of 2,000 resamplings with replacement, the 2.5 % and
// 97.5 % quantiles of them. Seeded. A paired comparison is the interval of the samples'
// differences. REQUIRES: not empty.
Estimate bootstrap_mean(std::span<const double> samples, uint64_t seed);
Estimate bootstrap_median(std::span<const double> samples, uint64_t seed);

}  // namespace looseleaf

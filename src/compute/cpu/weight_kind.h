// The weight types that kernels decode by vectors.
#pragma once

#include <optional>

#include "model/weight_type.h"

namespace looseleaf {

enum class WeightKind {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kIQ4_NL,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
};

// Nothing: only the plain formula is there.
std::optional<WeightKind> weight_kind(const WeightType& type);

}  // namespace looseleaf

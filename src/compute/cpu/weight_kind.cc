#include "compute/cpu/weight_kind.h"

namespace looseleaf {

std::optional<WeightKind> weight_kind(const WeightType& type) {
  static constexpr struct {
    std::string_view name;
    WeightKind kind;
  } kKinds[] = {
      {"f32", WeightKind::kF32},   {"f16", WeightKind::kF16},   {"bf16", WeightKind::kBF16},
      {"q8_0", WeightKind::kQ8_0}, {"q4_0", WeightKind::kQ4_0}, {"q4_1", WeightKind::kQ4_1},
      {"q5_0", WeightKind::kQ5_0}, {"q5_1", WeightKind::kQ5_1}, {"iq4_nl", WeightKind::kIQ4_NL},
      {"q2_K", WeightKind::kQ2_K}, {"q3_K", WeightKind::kQ3_K}, {"q4_K", WeightKind::kQ4_K},
      {"q5_K", WeightKind::kQ5_K}, {"q6_K", WeightKind::kQ6_K},
  };
  for (const auto& [name, kind] : kKinds)
    if (name == type.name) return kind;
  return std::nullopt;
}

}  // namespace looseleaf

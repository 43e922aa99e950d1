#include "compute/cpu/row_product.h"

namespace looseleaf {

void row_product(const RowProduct& args) {
  if (args.integers != nullptr) return row_product_integers(args);
  switch (args.kind) {
    case WeightKind::kF32:
    case WeightKind::kF16:
    case WeightKind::kBF16:
      return row_product_numbers(args);
    case WeightKind::kQ8_0:
    case WeightKind::kQ4_0:
    case WeightKind::kQ4_1:
    case WeightKind::kQ5_0:
    case WeightKind::kQ5_1:
    case WeightKind::kIQ4_NL:
      return row_product_blocks(args);
    case WeightKind::kQ2_K:
    case WeightKind::kQ3_K:
    case WeightKind::kQ4_K:
    case WeightKind::kQ5_K:
    case WeightKind::kQ6_K:
      return row_product_k(args);
  }
}

}  // namespace looseleaf

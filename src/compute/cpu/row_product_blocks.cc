// Products of few rows with blocks of 32 weights: a file of its own, since compilers take long over
// it.
#include "compute/cpu/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/row_product_blocks.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include "compute/cpu/row_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

void BlocksProduct(const RowProduct& args) {
  switch (args.kind) {
    case WeightKind::kQ8_0:
      return OfType<Q8_0>(args);
    case WeightKind::kQ4_0:
      return OfType<Q4_0>(args);
    case WeightKind::kQ4_1:
      return OfType<Q4_1>(args);
    case WeightKind::kQ5_0:
      return OfType<Q5_0>(args);
    case WeightKind::kQ5_1:
      return OfType<Q5_1>(args);
    case WeightKind::kIQ4_NL:
      return OfType<IQ4_NL>(args);
    default:
      return;
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(BlocksProduct);

void row_product_blocks(const RowProduct& args) { HWY_DYNAMIC_DISPATCH(BlocksProduct)(args); }

}  // namespace looseleaf
#endif  // HWY_ONCE

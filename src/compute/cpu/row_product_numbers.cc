// Products of few rows with plain numbers: a file of its own, since compilers take long over it.
#include "compute/cpu/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/row_product_numbers.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include "compute/cpu/row_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

void NumbersProduct(const RowProduct& args) {
  switch (args.kind) {
    case WeightKind::kF32:
      return OfType<F32>(args);
    case WeightKind::kF16:
      return OfType<F16>(args);
    case WeightKind::kBF16:
      return OfType<BF16>(args);
    default:
      return;
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(NumbersProduct);

void row_product_numbers(const RowProduct& args) { HWY_DYNAMIC_DISPATCH(NumbersProduct)(args); }

}  // namespace looseleaf
#endif  // HWY_ONCE

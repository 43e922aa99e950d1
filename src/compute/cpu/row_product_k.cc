// Products of few rows with blocks of 256 weights: a file of its own, since compilers take long
// over it.
#include "compute/cpu/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/row_product_k.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include "compute/cpu/row_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

void KBlocksProduct(const RowProduct& args) {
  switch (args.kind) {
    case WeightKind::kQ2_K:
      return OfType<Q2_K>(args);
    case WeightKind::kQ3_K:
      return OfType<Q3_K>(args);
    case WeightKind::kQ4_K:
      return OfType<Q4_K>(args);
    case WeightKind::kQ5_K:
      return OfType<Q5_K>(args);
    case WeightKind::kQ6_K:
      return OfType<Q6_K>(args);
    default:
      return;
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(KBlocksProduct);

void row_product_k(const RowProduct& args) { HWY_DYNAMIC_DISPATCH(KBlocksProduct)(args); }

}  // namespace looseleaf
#endif  // HWY_ONCE

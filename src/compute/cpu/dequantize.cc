#include "compute/cpu/dequantize.h"

#include "compute/cpu/weight_kind.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/dequantize.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

#include "compute/cpu/weight_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

template <typename Type>
void Blocks(const std::byte* from, int64_t blocks, float* HWY_RESTRICT to) {
  for (int64_t b = 0; b < blocks; ++b, from += Type::kBytes, to += Type::kBlock)
    Type::Decode(
        from, [&](auto, size_t i, Vector w)
                  __attribute__((always_inline)) { hn::StoreU(w, Floats(), to + i); });
}

template <typename Type>
void Numbers(const std::byte* from, int64_t count, float* HWY_RESTRICT to) {
  const auto* stored = reinterpret_cast<const typename Type::Stored*>(from);
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Type::Load(stored + i), Floats(), to + i);
  for (; i < count; ++i)
    to[i] = Type::One(from + i * static_cast<int64_t>(sizeof(typename Type::Stored)));
}

void Dequantize(WeightKind kind, const std::byte* from, int64_t blocks, float* to) {
  switch (kind) {
    case WeightKind::kF32:
      return Numbers<F32>(from, blocks, to);
    case WeightKind::kF16:
      return Numbers<F16>(from, blocks, to);
    case WeightKind::kBF16:
      return Numbers<BF16>(from, blocks, to);
    case WeightKind::kQ8_0:
      return Blocks<Q8_0>(from, blocks, to);
    case WeightKind::kQ4_0:
      return Blocks<Q4_0>(from, blocks, to);
    case WeightKind::kQ4_1:
      return Blocks<Q4_1>(from, blocks, to);
    case WeightKind::kQ5_0:
      return Blocks<Q5_0>(from, blocks, to);
    case WeightKind::kQ5_1:
      return Blocks<Q5_1>(from, blocks, to);
    case WeightKind::kIQ4_NL:
      return Blocks<IQ4_NL>(from, blocks, to);
    case WeightKind::kQ2_K:
      return Blocks<Q2_K>(from, blocks, to);
    case WeightKind::kQ3_K:
      return Blocks<Q3_K>(from, blocks, to);
    case WeightKind::kQ4_K:
      return Blocks<Q4_K>(from, blocks, to);
    case WeightKind::kQ5_K:
      return Blocks<Q5_K>(from, blocks, to);
    case WeightKind::kQ6_K:
      return Blocks<Q6_K>(from, blocks, to);
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(Dequantize);

void cpu_dequantize(const WeightMatrix& w, int64_t first, int64_t count, float* out) {
  const std::byte* source = w.data + first * w.row_bytes();
  const int64_t blocks = count * w.cols / w.type->block;  // rows lie one after the other
  if (const auto kind = weight_kind(*w.type))
    HWY_DYNAMIC_DISPATCH(Dequantize)(*kind, source, blocks, out);
  else
    w.type->dequantize(source, out, blocks);
}

}  // namespace looseleaf
#endif  // HWY_ONCE

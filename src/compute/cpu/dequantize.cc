#include "compute/cpu/dequantize.h"

#include <vector>

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

// In place of Highway's conversion, which cuts off.
void ToBfloat16(const float* HWY_RESTRICT from, size_t count, uint16_t* HWY_RESTRICT to) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<uint16_t, decltype(d)> halves;
  const size_t lanes = hn::Lanes(d);
  const auto round = [&](auto value) {
    const auto word = hn::BitCast(bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(word), hn::Set(bits, 1u));
    const auto rounded = hn::Add(word, hn::Add(odd, hn::Set(bits, 0x7FFFu)));
    const auto quiet = hn::Or(word, hn::Set(bits, 0x400000u));
    const auto kept = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(value)), quiet, rounded);
    return hn::TruncateTo(halves, hn::ShiftRight<16>(kept));
  };
  for (; i + lanes <= count; i += lanes) hn::StoreU(round(hn::LoadU(d, from + i)), halves, to + i);
#endif
  for (; i < count; ++i) to[i] = float_to_bfloat16(from[i]);
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(Dequantize);
HWY_EXPORT(ToBfloat16);

void cpu_to_bfloat16(const float* from, int64_t count, uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(ToBfloat16)(from, static_cast<size_t>(count), to);
}

void cpu_dequantize(const WeightMatrix& w, int64_t first, int64_t count, uint16_t* out) {
  thread_local std::vector<float> row;  // [w.cols], which stays in L1
  row.resize(static_cast<size_t>(w.cols));
  for (int64_t r = 0; r < count; ++r, out += w.cols) {
    cpu_dequantize(w, first + r, 1, row.data());
    cpu_to_bfloat16(row.data(), w.cols, out);
  }
}

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

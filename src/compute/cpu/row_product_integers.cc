// Products of few rows with blocks of 32 integer weights, both sides as integers: a block's sum of
// products is exact in 32 bits (32 * 127 * 32767 < 2^31) and meets its two scales once.
#include "compute/cpu/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/row_product_integers.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "compute/cpu/weight_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

using Kernel = void (*)(const RowProduct&);

#if LOOSELEAF_HAVE_CODES

// Bytes that the processor is told of ahead: what streams through pages it does not foresee.
constexpr int64_t kAhead = 2048;

// Sums in registers: kRows of them, each in as many turns as hide a multiply-add's latency.
template <size_t kRows>
struct BlockSums {
  static constexpr size_t kTurns = kRows == 1 ? 2 : 1;
  hn::Vec<Eight> codes[kTurns][kRows], least[kTurns][kRows];
};

// One row of weights with kRows rows of x: x[r], scales[r], eighths[r] (an eighth of the sums).
template <typename Type, size_t kRows, size_t kTurn>
HWY_INLINE void AddBlock(const std::byte* block, int64_t b, const int16_t* const* x,
                         const float* const* scales, const float* const* eighths,
                         BlockSums<kRows>& sums) {
  const Words words;
  const Sums32 sums32;
  const Eight eight;
  hn::Vec<Words> low, high;
  Type::Codes(block, low, high);
  const auto scale = Halves(eight, block);
  for (size_t r = 0; r < kRows; ++r) {
    const int16_t* at = x[r] + b * IntegerRows::kBlock;
    auto unused = hn::Zero(sums32);  // where sums are kept in two halves: not here
    auto dot =
        hn::ReorderWidenMulAccumulate(sums32, low, hn::LoadU(words, at), hn::Zero(sums32), unused);
    dot = hn::ReorderWidenMulAccumulate(sums32, high, hn::LoadU(words, at + 16), dot, unused);
    auto& sum = sums.codes[kTurn][r];
    sum = hn::MulAdd(hn::ConvertTo(eight, dot), hn::Mul(scale, hn::Set(eight, scales[r][b])), sum);
    if constexpr (Type::kLeast > 0) {
      auto& least = sums.least[kTurn][r];
      least = hn::MulAdd(Halves(eight, block + Type::kLeast), hn::Set(eight, eighths[r][b]), least);
    }
  }
}

template <typename Type, size_t kRows>
HWY_NOINLINE void Rows(const RowProduct& as) {
  const IntegerRows& x = *as.integers;
  const int64_t blocks = as.cols / IntegerRows::kBlock;
  const int16_t* codes[kRows];
  const float *scales[kRows], *eighths[kRows];
  for (size_t r = 0; r < kRows; ++r) {  // beyond the last one it is computed again and not written
    const int64_t row =
        as.first_integer_row + HWY_MIN(static_cast<int64_t>(r), int64_t{as.rows} - 1);
    codes[r] = x.codes.data() + row * as.cols;
    scales[r] = x.scales.data() + row * blocks;
    eighths[r] = x.eighths.data() + row * blocks;
  }
  constexpr int64_t kTurns = BlockSums<kRows>::kTurns;
  for (int64_t n = 0; n < as.count; ++n) {
    const std::byte* w = as.weights + n * as.row_bytes;
    BlockSums<kRows> sums;
    for (size_t t = 0; t < kTurns; ++t)
      for (size_t r = 0; r < kRows; ++r) sums.codes[t][r] = sums.least[t][r] = hn::Zero(Eight());
    int64_t b = 0;
    for (; b + kTurns <= blocks; b += kTurns, w += kTurns * Type::kBytes) {
      hwy::Prefetch(w + kAhead);
      AddBlock<Type, kRows, 0>(w, b, codes, scales, eighths, sums);
      if constexpr (kTurns > 1)
        AddBlock<Type, kRows, 1>(w + Type::kBytes, b + 1, codes, scales, eighths, sums);
    }
    if (b < blocks) AddBlock<Type, kRows, 0>(w, b, codes, scales, eighths, sums);
    const float bias = as.bias == nullptr ? 0.0f : as.bias[n];
    for (size_t r = 0; r < kRows; ++r) {
      auto sum = sums.codes[0][r];
      if constexpr (kTurns > 1) sum = hn::Add(sum, sums.codes[1][r]);
      if constexpr (Type::kLeast > 0) sum = hn::Add(sum, sums.least[0][r]);
      if constexpr (Type::kLeast > 0 && kTurns > 1) sum = hn::Add(sum, sums.least[1][r]);
      const float total = hn::GetLane(hn::SumOfLanes(Eight(), sum));
      if (r >= static_cast<size_t>(as.rows)) break;
      float& y = as.y[static_cast<int64_t>(r) * as.y_stride + n];
      y = (as.accumulate ? y : 0.0f) + total + bias;
    }
  }
}

template <typename Type>
void OfType(const RowProduct& as) {
  if (as.rows == 1)
    Rows<Type, 1>(as);
  else if (as.rows <= 4)
    Rows<Type, 4>(as);
  else
    Rows<Type, kRowProductRows>(as);
}

Kernel IntegersKernel(WeightKind kind) {
  switch (kind) {
    case WeightKind::kQ8_0:
      return OfType<Q8_0Codes>;
    case WeightKind::kQ4_0:
      return OfType<Q4_0Codes>;
    case WeightKind::kQ4_1:
      return OfType<Q4_1Codes>;
    case WeightKind::kQ5_0:
      return OfType<Q5_0Codes>;
    case WeightKind::kQ5_1:
      return OfType<Q5_1Codes>;
    case WeightKind::kIQ4_NL:
      return OfType<IQ4_NLCodes>;
    default:
      return nullptr;
  }
}

#else

Kernel IntegersKernel(WeightKind) { return nullptr; }

#endif

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(IntegersKernel);

void row_product_integers(const RowProduct& args) {
  HWY_DYNAMIC_DISPATCH(IntegersKernel)(args.kind)(args);
}

bool have_integer_products(WeightKind kind) {
  return HWY_DYNAMIC_DISPATCH(IntegersKernel)(kind) != nullptr;
}

}  // namespace looseleaf
#endif  // HWY_ONCE

// The kernel of products of few rows, for any weight type. Included once a Highway target.
#include <hwy/cache_control.h>

#include "compute/cpu/row_product.h"

#if defined(LOOSELEAF_ROW_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOSELEAF_ROW_PRODUCT_INL_H_
#undef LOOSELEAF_ROW_PRODUCT_INL_H_
#else
#define LOOSELEAF_ROW_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include "compute/cpu/weight_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

// Sums in registers: kRows of them, each in as many turns as hide a multiply-add's latency.
template <size_t kRows>
struct Sums {
  static constexpr size_t kTurns = kRows == 1 ? 4 : kRows <= 4 ? 2 : 1;
  Vector sums[kRows][kTurns];

  HWY_INLINE void Clear() {
    for (auto& row : sums)
      for (auto& sum : row) sum = hn::Zero(Floats());
  }

  template <size_t kSlot>
  HWY_INLINE void Add(Slot<kSlot>, Vector w, const float* const* x, size_t i) {
    const auto go = [&]<size_t... kRow>(std::index_sequence<kRow...>)
        __attribute__((always_inline)) {
      ((sums[kRow][kSlot % kTurns] =
            hn::MulAdd(w, hn::LoadU(Floats(), x[kRow] + i), sums[kRow][kSlot % kTurns])),
       ...);
    };
    go(std::make_index_sequence<kRows>());
  }

  HWY_INLINE void Finish(float* total) {
    const auto go = [&]<size_t... kRow>(std::index_sequence<kRow...>)
        __attribute__((always_inline)) {
      ((total[kRow] = Total(sums[kRow])), ...);
    };
    go(std::make_index_sequence<kRows>());
  }

  static HWY_INLINE float Total(const Vector (&turns)[kTurns]) {
    auto sum = turns[0];
    if constexpr (kTurns > 1) sum = hn::Add(sum, turns[1]);
    if constexpr (kTurns > 2) sum = hn::Add(sum, hn::Add(turns[2], turns[3]));
    return hn::GetLane(hn::SumOfLanes(Floats(), sum));
  }
};

template <typename Type, size_t kRows>
HWY_INLINE void BlockRow(const std::byte* w, int64_t cols, const float* const* x, float* total) {
  Sums<kRows> sums;
  sums.Clear();
  for (int64_t first = 0; first < cols; first += Type::kBlock, w += Type::kBytes) {
    hwy::Prefetch(w + 1024);  // what streams through pages is not foreseen by the processor
    Type::Decode(
        w, [&](auto slot, size_t i, Vector value) __attribute__((always_inline)) {
          sums.Add(slot, value, x, static_cast<size_t>(first) + i);
        });
  }
  sums.Finish(total);
}

template <typename Type, size_t kRows>
HWY_INLINE void NumberRow(const std::byte* w, int64_t cols, const float* const* x, float* total) {
  using Stored = typename Type::Stored;
  constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), size_t{16}), kAtOnce = 4 * kLanes;
  const auto* stored = reinterpret_cast<const Stored*>(w);
  const auto count = static_cast<size_t>(cols);
  Sums<kRows> sums;
  sums.Clear();
  size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    hwy::Prefetch(stored + i + 1024);
    ForVectors<kAtOnce>([&](auto slot, size_t k) __attribute__((always_inline)) {
      sums.Add(slot, Type::Load(stored + i + k), x, i + k);
    });
  }
  for (; i + kLanes <= count; i += kLanes) sums.Add(Slot<0>(), Type::Load(stored + i), x, i);
  sums.Finish(total);
  for (; i < count; ++i)
    for (size_t r = 0; r < kRows; ++r) total[r] += Type::One(w + i * sizeof(Stored)) * x[r][i];
}

template <typename Type, size_t kRows>
HWY_NOINLINE void Rows(const RowProduct& args) {
  const float* x[kRows];  // rows beyond the last are computed twice and not written
  for (size_t r = 0; r < kRows; ++r)
    x[r] = args.x + HWY_MIN(static_cast<int64_t>(r), int64_t{args.rows} - 1) * args.cols;
  for (int64_t n = 0; n < args.count; ++n) {
    const std::byte* w = args.weights + n * args.row_bytes;
    float total[kRows];
    if constexpr (requires { Type::kBlock; })
      BlockRow<Type, kRows>(w, args.cols, x, total);
    else
      NumberRow<Type, kRows>(w, args.cols, x, total);
    const float bias = args.bias == nullptr ? 0.0f : args.bias[n];
    for (int r = 0; r < args.rows; ++r) {
      float& y = args.y[r * args.y_stride + n];
      y = (args.accumulate ? y : 0.0f) + total[r] + bias;
    }
  }
}

template <typename Type>
void OfType(const RowProduct& args) {
  if (args.rows == 1) return Rows<Type, 1>(args);
  if (args.rows <= 4) return Rows<Type, 4>(args);
  Rows<Type, kRowProductRows>(args);
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // LOOSELEAF_ROW_PRODUCT_INL_H_

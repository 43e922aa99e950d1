#include "compute/cpu/attend_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/attend_page.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), size_t{16});
// Sums that stay in registers: 6 x 2 of 16, with two vectors of b and one of a.
constexpr size_t kTileRows = 6, kTileVectors = 2;

// c = a b, or c += a b, for kRows rows. a: [kRows, depth], b: [depth, cols], c: [kRows, cols].
// Each element adds in the order of depth.
template <size_t kRows>
HWY_INLINE void TileProduct(const float* HWY_RESTRICT a, size_t a_stride,
                            const float* HWY_RESTRICT b, size_t depth, size_t cols, bool add,
                            float* HWY_RESTRICT c) {
  const Floats d;
  for (size_t col = 0; col < cols; col += kTileVectors * kLanes) {
    Vector sums[kRows][kTileVectors];
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (size_t v = 0; v < kTileVectors; ++v)
        sums[r][v] = add ? hn::LoadU(d, c + r * cols + col + v * kLanes) : hn::Zero(d);
    for (size_t k = 0; k < depth; ++k) {
      const float* from = b + k * cols + col;
      const auto b0 = hn::LoadU(d, from), b1 = hn::LoadU(d, from + kLanes);
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) {
        const auto value = hn::Set(d, a[r * a_stride + k]);
        sums[r][0] = hn::MulAdd(value, b0, sums[r][0]);
        sums[r][1] = hn::MulAdd(value, b1, sums[r][1]);
      }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (size_t v = 0; v < kTileVectors; ++v)
        hn::StoreU(sums[r][v], d, c + r * cols + col + v * kLanes);
  }
}

HWY_NOINLINE void MatrixProduct(const float* a, size_t rows, size_t a_stride, const float* b,
                                size_t depth, size_t cols, bool add, float* c) {
  size_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows)
    TileProduct<kTileRows>(a + r * a_stride, a_stride, b, depth, cols, add, c + r * cols);
  a += r * a_stride;
  c += r * cols;
  switch (rows - r) {
    case 1:
      return TileProduct<1>(a, a_stride, b, depth, cols, add, c);
    case 2:
      return TileProduct<2>(a, a_stride, b, depth, cols, add, c);
    case 3:
      return TileProduct<3>(a, a_stride, b, depth, cols, add, c);
    case 4:
      return TileProduct<4>(a, a_stride, b, depth, cols, add, c);
    case 5:
      return TileProduct<5>(a, a_stride, b, depth, cols, add, c);
    default:
      return;
  }
}

HWY_INLINE void Scale(float factor, float* HWY_RESTRICT x, size_t padded) {
  const Floats d;
  const auto f = hn::Set(d, factor);
  for (size_t i = 0; i < padded; i += kLanes) hn::StoreU(hn::Mul(f, hn::LoadU(d, x + i)), d, x + i);
}

HWY_INLINE void AddBias(float slope, const int32_t* keys, int32_t row, float* HWY_RESTRICT scores) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  for (size_t i = 0; i < kPageTokens; i += kLanes) {
    const auto distance = hn::ConvertTo(d, hn::Sub(hn::LoadU(di, keys + i), hn::Set(di, row)));
    hn::StoreU(hn::MulAdd(hn::Set(d, slope), distance, hn::LoadU(d, scores + i)), d, scores + i);
  }
}

// Far below any score, yet finite: exp of the difference is exactly 0.
HWY_INLINE void Hide(uint32_t visible, float* HWY_RESTRICT scores) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  HWY_ALIGN static constexpr int32_t kBits[16] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                  256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const auto bits = hn::Load(di, kBits);
  for (size_t i = 0; i < kPageTokens; i += kLanes) {
    const auto these = hn::Set(di, static_cast<int32_t>(visible >> i));
    const auto seen = hn::RebindMask(d, hn::Eq(hn::And(these, bits), bits));
    hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, scores + i), hn::Set(d, -1e30f)), d, scores + i);
  }
}

// Scores become weights; what was summed before shrinks where a larger score came.
HWY_INLINE void Weigh(float* HWY_RESTRICT scores, float& largest, float& sum,
                      float* HWY_RESTRICT values, size_t padded) {
  const Floats d;
  auto most = hn::LoadU(d, scores);
  for (size_t i = kLanes; i < kPageTokens; i += kLanes)
    most = hn::Max(most, hn::LoadU(d, scores + i));
  const float here = hn::GetLane(hn::MaxOfLanes(d, most));
  if (here > largest) {
    const float shrink = std::isinf(largest) ? 0.0f : std::exp(largest - here);
    largest = here;
    sum *= shrink;
    Scale(shrink, values, padded);
  }
  auto total = hn::Zero(d);
  for (size_t i = 0; i < kPageTokens; i += kLanes) {
    const auto weight = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, largest)));
    hn::StoreU(weight, d, scores + i);
    total = hn::Add(total, weight);
  }
  sum += hn::GetLane(hn::SumOfLanes(d, total));
}

void Attend(const AttendPage& p) {
  const size_t padded = padded_dim(p.head_dim);
  MatrixProduct(p.queries, p.vectors, p.head_dim, p.keys, p.head_dim, kPageTokens, false,
                p.weights);
  for (size_t v = 0; v < p.vectors; ++v) {
    float* scores = p.weights + v * kPageTokens;
    const size_t row = v / p.share;
    const uint32_t visible = p.visible[row];
    if (visible == 0) {
      std::fill(scores, scores + kPageTokens, 0.0f);
      continue;
    }
    if (p.slopes != nullptr)
      AddBias(p.slopes[v % p.share], p.key_positions, p.row_positions[row], scores);
    if (visible != ~uint32_t{0}) Hide(visible, scores);
    Weigh(scores, p.state.largest[v], p.state.sum[v], p.state.values + v * padded, padded);
  }
  MatrixProduct(p.weights, p.vectors, kPageTokens, p.values, kPageTokens, padded, true,
                p.state.values);
}

void Transpose(const float* HWY_RESTRICT keys, size_t dim, float* HWY_RESTRICT to) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const auto join = [&](auto low, auto high) {
    return hn::BitCast(pairs, hn::InterleaveLower(d, low, high));
  };
  const auto join_upper = [&](auto low, auto high) {
    return hn::BitCast(pairs, hn::InterleaveUpper(d, low, high));
  };
  const auto put = [&](auto v, float* p) { hn::StoreU(hn::BitCast(d, v), d, p); };
  for (; i + 4 <= dim; i += 4)
    for (size_t j = 0; j < kPageTokens; j += 4) {
      const float* from = keys + j * dim + i;
      const auto k0 = hn::LoadU(d, from), k1 = hn::LoadU(d, from + dim);
      const auto k2 = hn::LoadU(d, from + 2 * dim), k3 = hn::LoadU(d, from + 3 * dim);
      const auto a = join(k0, k1), b = join(k2, k3);
      const auto c = join_upper(k0, k1), e = join_upper(k2, k3);
      float* out = to + i * kPageTokens + j;
      put(hn::InterleaveLower(pairs, a, b), out);
      put(hn::InterleaveUpper(pairs, a, b), out + kPageTokens);
      put(hn::InterleaveLower(pairs, c, e), out + 2 * kPageTokens);
      put(hn::InterleaveUpper(pairs, c, e), out + 3 * kPageTokens);
    }
#endif
  for (; i < dim; ++i)
    for (size_t j = 0; j < kPageTokens; ++j) to[i * kPageTokens + j] = keys[j * dim + i];
}

void Merge(const float* HWY_RESTRICT part, float part_factor, float* HWY_RESTRICT into,
           float factor, size_t padded) {
  const Floats d;
  const auto p = hn::Set(d, part_factor), f = hn::Set(d, factor);
  for (size_t i = 0; i < padded; i += kLanes)
    hn::StoreU(hn::MulAdd(p, hn::LoadU(d, part + i), hn::Mul(f, hn::LoadU(d, into + i))), d,
               into + i);
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(Attend);
HWY_EXPORT(Transpose);
HWY_EXPORT(Merge);

void attend_page(const AttendPage& page) { HWY_DYNAMIC_DISPATCH(Attend)(page); }

void transpose_keys(const float* keys, size_t head_dim, float* transposed) {
  HWY_DYNAMIC_DISPATCH(Transpose)(keys, head_dim, transposed);
}

void merge_softmax(const SoftmaxState& part, size_t part_vector, const SoftmaxState& into,
                   size_t vector, size_t head_dim) {
  const float seen = part.largest[part_vector];
  if (std::isinf(seen)) return;
  float& largest = into.largest[vector];
  const float both = std::max(largest, seen);
  const float factor = std::isinf(largest) ? 0.0f : std::exp(largest - both);
  const float part_factor = std::exp(seen - both);
  largest = both;
  into.sum[vector] = into.sum[vector] * factor + part.sum[part_vector] * part_factor;
  const size_t padded = padded_dim(head_dim);
  HWY_DYNAMIC_DISPATCH(Merge)
  (part.values + part_vector * padded, part_factor, into.values + vector * padded, factor, padded);
}

}  // namespace looseleaf
#endif  // HWY_ONCE

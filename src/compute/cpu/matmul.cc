// Products with weights as the file stores them. Few rows: each weight is decoded in a register
// (row_product.cc). Many: a panel of weight rows is dequantized into scratch and goes to the
// library. Deterministic, or without the library: small panels that stay in L2, and dot products.
#include <algorithm>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/dequantize.h"
#include "compute/cpu/row_product.h"
#ifdef LOOSELEAF_HAVE_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/matmul.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kRows x kCols dot products at once. Each product adds in the same order whatever the tile, so
// its bits depend on nothing else.
template <int kRows, int kCols>
HWY_INLINE void DotTile(const float* HWY_RESTRICT x, const float* HWY_RESTRICT w, size_t depth,
                        bool accumulate, float* HWY_RESTRICT y, size_t y_stride) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kRows][kCols];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= depth; i += lanes) {
    hn::Vec<decltype(d)> columns[kCols];
    for (size_t c = 0; c < kCols; ++c) columns[c] = hn::LoadU(d, w + c * depth + i);
    for (size_t r = 0; r < kRows; ++r) {
      const auto value = hn::LoadU(d, x + r * depth + i);
      for (size_t c = 0; c < kCols; ++c) sums[r][c] = hn::MulAdd(value, columns[c], sums[r][c]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kCols; ++c) {
      float total = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
      for (size_t j = i; j < depth; ++j) total += x[r * depth + j] * w[c * depth + j];
      float& target = y[r * y_stride + c];
      target = accumulate ? target + total : total;
    }
  }
}

template <int kRows>
HWY_INLINE void DotRows(const float* x, const float* w, size_t cols, size_t depth, bool accumulate,
                        float* y, size_t y_stride) {
  size_t c = 0;
  for (; c + 3 <= cols; c += 3)  // 4 x 3 sums, 3 weights and a value fill 16 registers
    DotTile<kRows, 3>(x, w + c * depth, depth, accumulate, y + c, y_stride);
  for (; c < cols; ++c) DotTile<kRows, 1>(x, w + c * depth, depth, accumulate, y + c, y_stride);
}

// y = x panel^T. x: [rows, depth], panel: [cols, depth], y: [rows, y_stride]
void PanelProduct(const float* x, size_t rows, const float* panel, size_t cols, size_t depth,
                  bool accumulate, float* y, size_t y_stride) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4)
    DotRows<4>(x + r * depth, panel, cols, depth, accumulate, y + r * y_stride, y_stride);
  for (; r < rows; ++r)
    DotRows<1>(x + r * depth, panel, cols, depth, accumulate, y + r * y_stride, y_stride);
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(PanelProduct);

// From this many rows on the library is faster than decoding all weights once for each 8 rows.
constexpr int kLibraryRows = 32;
// Bytes of weights a task: some microseconds.
constexpr int64_t kFewRowsBytes = 16 << 10;
// Weight rows dequantized at a time for dot products: with 1,536 columns 192 KB of scratch.
constexpr int64_t kDotPanel = 32;
// Scratch of a thread for the library: it packs x again for each panel, so panels are large.
constexpr int64_t kPanelBytes = 8 << 20;

#ifdef LOOSELEAF_HAVE_ONEDNN
constexpr bool kHaveLibrary = true;
// The pool's threads each call the library for their own panel, so its OpenMP threads stay unused.
bool library_product(const float* x, int rows, const float* panel, int64_t cols, int64_t depth,
                     bool accumulate, float* y, int64_t y_stride) {
  omp_set_num_threads(1);
  return dnnl_sgemm('N', 'T', rows, cols, depth, 1.0f, x, depth, panel, depth,
                    accumulate ? 1.0f : 0.0f, y, y_stride) == dnnl_success;
}
#else
constexpr bool kHaveLibrary = false;
bool library_product(const float*, int, const float*, int64_t, int64_t, bool, float*, int64_t) {
  return false;
}
#endif

struct Product {
  ThreadPool& pool;
  const WeightMatrix& w;
  std::span<const float> bias;
  const float* x;
  int rows;
  bool accumulate;
  float* y;
};

void few_rows(const Product& p, WeightKind kind) {
  const WeightMatrix& w = p.w;
  const int64_t each = std::max<int64_t>(4, kFewRowsBytes / w.row_bytes());
  p.pool.parallel_for((w.rows + each - 1) / each, [&](int64_t task) {
    const int64_t first = task * each;
    RowProduct args;
    args.kind = kind;
    args.weights = w.data + first * w.row_bytes();
    args.row_bytes = w.row_bytes();
    args.count = std::min(each, w.rows - first);
    args.cols = w.cols;
    args.bias = p.bias.empty() ? nullptr : p.bias.data() + first;
    args.accumulate = p.accumulate;
    args.y_stride = w.rows;
    for (int r = 0; r < p.rows; r += kRowProductRows) {
      args.x = p.x + r * w.cols;
      args.rows = std::min(kRowProductRows, p.rows - r);
      args.y = p.y + r * w.rows + first;
      row_product(args);
    }
  });
}

// Floats of weight rows [first, first + count): in place where they are stored so (files may put
// them at odd addresses).
const float* panel(const WeightMatrix& w, int64_t first, int64_t count) {
  const std::byte* stored = w.data + first * w.row_bytes();
  if (weight_kind(*w.type) == WeightKind::kF32 &&
      reinterpret_cast<uintptr_t>(stored) % alignof(float) == 0)
    return reinterpret_cast<const float*>(stored);
  thread_local std::vector<float> scratch;  // [count, w.cols]
  const auto size = static_cast<size_t>(count * w.cols);
  if (scratch.size() < size) scratch.resize(size);
  cpu_dequantize(w, first, count, scratch.data());
  return scratch.data();
}

void many_rows(const Product& p, bool use_library) {
  const WeightMatrix& w = p.w;
  int64_t each = kDotPanel;
  if (use_library) {
    const int64_t share = (w.rows + p.pool.threads() - 1) / p.pool.threads();
    const int64_t most = std::max<int64_t>(16, kPanelBytes / 4 / w.cols);
    const int64_t pieces = (share + most - 1) / most;
    each = ((share + pieces - 1) / pieces + 15) / 16 * 16;
  }
  p.pool.parallel_for((w.rows + each - 1) / each, [&](int64_t task) {
    const int64_t first = task * each;
    const int64_t cols = std::min(each, w.rows - first);
    const float* weights = panel(w, first, cols);
    float* y = p.y + first;
    if (!use_library ||
        !library_product(p.x, p.rows, weights, cols, w.cols, p.accumulate, y, w.rows))
      HWY_DYNAMIC_DISPATCH(PanelProduct)
    (p.x, static_cast<size_t>(p.rows), weights, static_cast<size_t>(cols),
     static_cast<size_t>(w.cols), p.accumulate, y, static_cast<size_t>(w.rows));
    if (p.bias.empty()) return;
    for (int r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < cols; ++c)
        y[r * w.rows + c] += p.bias[static_cast<size_t>(first + c)];
  });
}

}  // namespace

void cpu_matmul(ThreadPool& pool, bool deterministic, const WeightMatrix& w,
                std::span<const float> bias, const float* x, int rows, bool accumulate, float* y) {
  const Product product{pool, w, bias, x, rows, accumulate, y};
  const auto kind = weight_kind(*w.type);
  if (!deterministic && rows < kLibraryRows && kind) return few_rows(product, *kind);
  many_rows(product, kHaveLibrary && !deterministic);
}

}  // namespace looseleaf
#endif  // HWY_ONCE

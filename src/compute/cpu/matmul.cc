// Products with weights as the file stores them: a panel of weight rows is dequantized into scratch
// that stays in L2, then multiplied with all rows of x.
#include <algorithm>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/dequantize.h"
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
  for (; c + 4 <= cols; c += 4)
    DotTile<kRows, 4>(x, w + c * depth, depth, accumulate, y + c, y_stride);
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

// Weight rows dequantized at a time: with 1,536 columns 32 rows are 192 KB of scratch.
constexpr int64_t kPanel = 32;
// From this many rows on a blocked library product is faster than dot products.
constexpr int kLibraryRows = 16;

#ifdef LOOSELEAF_HAVE_ONEDNN
// The pool's threads each call the library for their own panel, so its OpenMP threads stay unused.
bool library_product(const float* x, int rows, const float* panel, int64_t cols, int64_t depth,
                     bool accumulate, float* y, int64_t y_stride) {
  omp_set_num_threads(1);
  return dnnl_sgemm('N', 'T', rows, cols, depth, 1.0f, x, depth, panel, depth,
                    accumulate ? 1.0f : 0.0f, y, y_stride) == dnnl_success;
}
#else
bool library_product(const float*, int, const float*, int64_t, int64_t, bool, float*, int64_t) {
  return false;
}
#endif

}  // namespace

void cpu_matmul(ThreadPool& pool, bool deterministic, const WeightMatrix& w,
                std::span<const float> bias, const float* x, int rows, bool accumulate, float* y) {
  const bool use_library = !deterministic && rows >= kLibraryRows;
  pool.parallel_for((w.rows + kPanel - 1) / kPanel, [&](int64_t p) {
    const int64_t first = p * kPanel;
    const int64_t cols = std::min(kPanel, w.rows - first);
    thread_local std::vector<float> panel;  // [kPanel, w.cols]
    panel.resize(static_cast<size_t>(kPanel * w.cols));
    cpu_dequantize(w, first, cols, panel.data());
    float* target = y + first;
    if (!use_library ||
        !library_product(x, rows, panel.data(), cols, w.cols, accumulate, target, w.rows))
      HWY_DYNAMIC_DISPATCH(PanelProduct)
    (x, static_cast<size_t>(rows), panel.data(), static_cast<size_t>(cols),
     static_cast<size_t>(w.cols), accumulate, target, static_cast<size_t>(w.rows));
    if (bias.empty()) return;
    for (int r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c)
        target[r * w.rows + c] += bias[static_cast<size_t>(first + c)];
  });
}

}  // namespace looseleaf
#endif  // HWY_ONCE

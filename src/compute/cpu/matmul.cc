// Products with weights as the file stores them. Few rows: each weight is decoded in a register
// (row_product.cc). Many: a panel of weight rows is dequantized into scratch and goes to the
// library, both sides in bfloat16 where the processor multiplies that. Deterministic, or without
// the library: small panels that stay in L2, and dot products.
#include <algorithm>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/dequantize.h"
#include "compute/cpu/library_product.h"
#include "compute/cpu/row_product.h"

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

// Bytes of weights a task at most. Each thread reads a stretch of its own: what two threads read in
// turns by small pieces comes at half the rate.
constexpr int64_t kFewRowsBytes = 256 << 10;
// Weight rows dequantized at a time for dot products: with 1,536 columns 192 KB of scratch.
constexpr int64_t kDotPanel = 32;
// Scratch of a thread for the library: it packs x again for each panel, so panels are large.
constexpr int64_t kPanelBytes = 8 << 20;
// Values of x that a task rounds to bfloat16.
constexpr int64_t kRoundedFloats = 32 << 10;

bool use_bf16(Products products) {
  static const bool has = library_has_bf16();
  return has && products == Products::kFast;
}

struct Product {
  ThreadPool& pool;
  Products products;
  const WeightMatrix& w;
  std::span<const float> bias;
  const float* x;
  int rows;
  bool accumulate;
  float* y;
};

void few_rows(const Product& p, WeightKind kind) {
  const WeightMatrix& w = p.w;
  const int64_t share = (w.rows + p.pool.threads() - 1) / p.pool.threads();
  const int64_t each =
      std::clamp<int64_t>(kFewRowsBytes / w.row_bytes(), 4, std::max<int64_t>(4, share));
  thread_local IntegerRows integers;
  const IntegerRows* shared = nullptr;  // by the pool's threads
  if (p.products == Products::kFast && have_integer_products(kind)) {
    integers.assign(p.x, p.rows, w.cols);
    shared = &integers;
  }
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
      args.integers = shared;
      args.first_integer_row = r;
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

// The same as bfloat16.
const uint16_t* bf16_panel(const WeightMatrix& w, int64_t first, int64_t count) {
  const std::byte* stored = w.data + first * w.row_bytes();
  if (weight_kind(*w.type) == WeightKind::kBF16 &&
      reinterpret_cast<uintptr_t>(stored) % alignof(uint16_t) == 0)
    return reinterpret_cast<const uint16_t*>(stored);
  thread_local std::vector<uint16_t> scratch;  // [count, w.cols]
  const auto size = static_cast<size_t>(count * w.cols);
  if (scratch.size() < size) scratch.resize(size);
  cpu_dequantize(w, first, count, scratch.data());
  return scratch.data();
}

// All of x as bfloat16. [rows, w.cols], until the thread's next product
const uint16_t* to_bfloat16(const Product& p) {
  thread_local std::vector<uint16_t> halves;
  const int64_t cols = p.w.cols, each = std::max<int64_t>(1, kRoundedFloats / cols);
  halves.resize(static_cast<size_t>(p.rows * cols));
  uint16_t* to = halves.data();
  p.pool.parallel_for((p.rows + each - 1) / each, [&](int64_t task) {
    const int64_t first = task * each, count = std::min(each, p.rows - first);
    cpu_to_bfloat16(p.x + first * cols, count * cols, to + first * cols);
  });
  return to;
}

// How many weight rows a thread takes at once for the library: equal shares, large panels.
int64_t library_panel(const Product& p, int64_t bytes_each) {
  const int64_t share = (p.w.rows + p.pool.threads() - 1) / p.pool.threads();
  const int64_t most = std::max<int64_t>(16, kPanelBytes / bytes_each / p.w.cols);
  const int64_t pieces = (share + most - 1) / most;
  return ((share + pieces - 1) / pieces + 15) / 16 * 16;
}

void add_bias(const Product& p, int64_t first, int64_t cols) {
  if (p.bias.empty()) return;
  for (int r = 0; r < p.rows; ++r)
    for (int64_t c = first; c < first + cols; ++c)
      p.y[r * p.w.rows + c] += p.bias[static_cast<size_t>(c)];
}

void dots(const Product& p, const float* weights, int64_t first, int64_t cols) {
  HWY_DYNAMIC_DISPATCH(PanelProduct)
  (p.x, static_cast<size_t>(p.rows), weights, static_cast<size_t>(cols),
   static_cast<size_t>(p.w.cols), p.accumulate, p.y + first, static_cast<size_t>(p.w.rows));
}

void by_library(const Product& p, bool bf16) {
  const WeightMatrix& w = p.w;
  const uint16_t* halves = bf16 ? to_bfloat16(p) : nullptr;
  const int64_t each = library_panel(p, bf16 ? 2 : 4);
  p.pool.parallel_for((w.rows + each - 1) / each, [&](int64_t task) {
    const int64_t first = task * each, cols = std::min(each, w.rows - first);
    const LibraryProduct args{p.rows, cols, w.cols, p.accumulate, p.y + first, w.rows};
    const bool done = bf16 ? library_product(args, halves, bf16_panel(w, first, cols))
                           : library_product(args, p.x, panel(w, first, cols));
    if (!done) dots(p, panel(w, first, cols), first, cols);
    add_bias(p, first, cols);
  });
}

void by_dots(const Product& p) {
  p.pool.parallel_for((p.w.rows + kDotPanel - 1) / kDotPanel, [&](int64_t task) {
    const int64_t first = task * kDotPanel, cols = std::min(kDotPanel, p.w.rows - first);
    dots(p, panel(p.w, first, cols), first, cols);
    add_bias(p, first, cols);
  });
}

}  // namespace

std::string_view cpu_numeric_path(Products products) {
  if (products == Products::kDeterministic) return "cpu-f32-deterministic";
  if (products == Products::kF32) return "cpu-f32";
  const bool integers = have_integer_products(WeightKind::kQ8_0);
  return use_bf16(products) ? "cpu-bf16" : integers ? "cpu-f32-int16" : "cpu-f32";
}

void cpu_matmul(ThreadPool& pool, Products products, const WeightMatrix& w,
                std::span<const float> bias, const float* x, int rows, bool accumulate, float* y) {
  const Product product{pool, products, w, bias, x, rows, accumulate, y};
  if (products == Products::kDeterministic) return by_dots(product);
  const auto kind = weight_kind(*w.type);
  const bool bf16 = use_bf16(products);
  if (rows < (bf16 ? kBf16LibraryRows : kLibraryRows) && kind) return few_rows(product, *kind);
  if (have_library()) return by_library(product, bf16);
  by_dots(product);
}

}  // namespace looseleaf
#endif  // HWY_ONCE

// Products with weights, by cuBLASLt.
#pragma once

#include <map>
#include <tuple>

#include "compute/cuda/gpu.h"
#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

struct GpuProduct {
  const GpuMatrix* w;
  const float* bias;  // [w.rows] or null
  float* y;           // [rows, w.rows]
};

class Products {
 public:
  // Errors: kUnavailable (no memory for the library's workspace).
  static Expected<std::unique_ptr<Products>> create(Gpu& gpu, bool deterministic);
  ~Products();

  // y = x W^T + bias for each of the products, or y += where `accumulate`; their W have the same
  // columns. x: [rows, columns]
  // x is rounded to the weights' format, and sums are float32. Deterministic: one kernel per format
  // and shape of W, without split sums, whatever `rows` is.
  void multiply(std::span<const GpuProduct> products, const float* x, int rows, bool accumulate);

  // down.y += W_down (silu(W_gate x) * W_up x); gate.y and up.y are scratch.
  void feed_forward(const GpuProduct& gate, const GpuProduct& up, const GpuProduct& down,
                    const float* x, int rows);

  // Where launches may leave x [rows, cols], which they make, rounded as products took their last
  // x: a product of x right behind made_rounded() takes that. Nowhere where products take x itself.
  Rounded rounded(const float* x, int rows, int64_t cols);
  // The last launch has left it there.
  void made_rounded() { rounded_at_ = gpu_.launches(); }

  // One product by one kernel, x being in the weights' format already.
  static void multiply_rows(Products* self, GpuProduct product, const void* x, int rows,
                            bool accumulate, cudaStream_t stream);

 private:
  Products(Gpu& gpu, bool deterministic);
  struct Kernel;  // the library's objects for a product
  const Kernel& kernel_for(const GpuProduct& product, const void* x, int rows, bool accumulate);
  // x as W takes it; null where there is no memory.
  const void* input(const GpuMatrix& w, const float* x, int rows);
  void multiply_blocks(const GpuProduct& product, const float* x, int rows, bool accumulate);

  // Format, outputs, inputs, rows, accumulate, bias, alignments of x and y: what a kernel is chosen
  // by.
  using Key = std::tuple<Number, int64_t, int64_t, int, bool, bool, size_t, size_t>;

  Gpu& gpu_;
  bool deterministic_;
  Memory workspace_;
  std::map<Key, std::unique_ptr<Kernel>> kernels_;
  Number usual_ = Number::kF32;  // of the last W
  // What the scratch for rounded x holds, as long as the GPU's launches are so many; -1: nothing.
  const float* rounded_ = nullptr;
  Number rounded_type_ = Number::kF32;
  int64_t rounded_count_ = 0, rounded_at_ = -1;
};

}  // namespace looseleaf::cuda

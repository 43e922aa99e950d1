// Products with weights, by cuBLASLt.
#pragma once

#include <map>
#include <tuple>

#include "compute/cuda/gpu.h"
#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

class Products {
 public:
  // Errors: kUnavailable (no memory for the library's workspace).
  static Expected<std::unique_ptr<Products>> create(Gpu& gpu, bool deterministic);

  // y = x W^T + bias, or y += where `accumulate`. x is rounded to the weights' format; sums are
  // float32. x: [rows, w.cols], bias: [w.rows] or null, y: [rows, w.rows]
  // Deterministic: one kernel per format and shape of W, without split sums, whatever `rows` is.
  void multiply(const GpuMatrix& w, const float* bias, const float* x, int rows, bool accumulate,
                float* y);

  // The same by one kernel, x being in the weights' format already.
  void multiply_rows(const GpuMatrix& w, const float* bias, const void* x, int rows,
                     bool accumulate, float* y);

 private:
  explicit Products(Gpu& gpu, bool deterministic) : gpu_(gpu), deterministic_(deterministic) {}

  // Format, outputs, inputs, rows, accumulate, bias, alignments of x and y: what a kernel is chosen
  // by.
  using Key = std::tuple<Number, int64_t, int64_t, int, bool, bool, size_t, size_t>;

  Gpu& gpu_;
  bool deterministic_;
  Memory workspace_;
  std::map<Key, cublasLtMatmulAlgo_t> chosen_;
};

}  // namespace looseleaf::cuda

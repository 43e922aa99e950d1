#include "compute/cuda/products.h"

#include <algorithm>

#include "compute/cuda/kernels.h"

namespace looseleaf::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;  // what cuBLAS recommends for Hopper
// Rows of a deterministic product: a tile of the kernels for large products.
constexpr int kBlockRows = 128;

cudaDataType_t data_type(Number number) {
  return number == Number::kF32 ? CUDA_R_32F : number == Number::kBF16 ? CUDA_R_16BF : CUDA_R_16F;
}

// The largest power of two up to 256 that divides the address.
size_t alignment(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return address & (~address + 1);
}

// cuBLASLt's objects, freed with the scope.
template <class T, cublasStatus_t (*kDestroy)(T)>
struct Owned {
  T value = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() {
    if (value != nullptr) kDestroy(value);
  }
};
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

constexpr const char* kMultiplying = "multiplying";

// A row-major matrix, which the column-major library takes as its transpose.
void make_layout(Layout& layout, Number type, int64_t rows, int64_t cols) {
  check(cublasLtMatrixLayoutCreate(&layout.value, data_type(type), static_cast<uint64_t>(cols),
                                   static_cast<uint64_t>(rows), cols),
        kMultiplying);
}

template <class T>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublasLtMatmulDescSetAttribute(operation.value, attribute, &value, sizeof value),
        kMultiplying);
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.value, attribute, &value, sizeof value),
        kMultiplying);
}

}  // namespace

Expected<std::unique_ptr<Products>> Products::create(Gpu& gpu, bool deterministic) {
  auto products = std::unique_ptr<Products>(new Products(gpu, deterministic));
  LL_ASSIGN(products->workspace_, gpu.memory(kWorkspace, "products"));
  return products;
}

void Products::multiply_rows(const GpuMatrix& w, const float* bias, const void* x, int rows,
                             bool accumulate, float* y) {
  Operation operation;
  check(cublasLtMatmulDescCreate(&operation.value, CUBLAS_COMPUTE_32F, CUDA_R_32F), kMultiplying);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (bias != nullptr) {
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
  }
  Layout a, b, c;
  make_layout(a, w.type, w.rows, w.cols);
  make_layout(b, w.type, rows, w.cols);
  make_layout(c, Number::kF32, rows, w.rows);

  const Key key{w.type,     w.rows,          w.cols,       rows,
                accumulate, bias != nullptr, alignment(x), alignment(y)};
  auto found = chosen_.find(key);
  if (found == chosen_.end()) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.value), kMultiplying);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        static_cast<uint32_t>(alignment(w.data)));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        static_cast<uint32_t>(alignment(x)));
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      set(preference, attribute, static_cast<uint32_t>(alignment(y)));
    if (deterministic_)
      set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
          static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE));
    cublasLtMatmulHeuristicResult_t result{};
    int results = 0;
    check(cublasLtMatmulAlgoGetHeuristic(gpu_.blas(), operation.value, a.value, b.value, c.value,
                                         c.value, preference.value, 1, &result, &results),
          "choosing a product's kernel");
    if (results == 0) fatal(kMultiplying, "cuBLASLt has no kernel for this shape");
    found = chosen_.emplace(key, result.algo).first;
  }
  const float one = 1, beta = accumulate ? 1.0f : 0.0f;
  check(cublasLtMatmul(gpu_.blas(), operation.value, &one, w.data, a.value, x, b.value, &beta, y,
                       c.value, y, c.value, &found->second, workspace_.get(), kWorkspace,
                       gpu_.stream()),
        kMultiplying);
}

void Products::multiply(const GpuMatrix& w, const float* bias, const float* x, int rows,
                        bool accumulate, float* y) {
  if (rows == 0 || gpu_.failed()) return;
  const size_t cols = static_cast<size_t>(w.cols), outputs = static_cast<size_t>(w.rows);
  const size_t padded = deterministic_ ? kBlockRows : static_cast<size_t>(rows);
  const size_t row_bytes = cols * number_bytes(w.type);
  std::byte* narrowed = nullptr;
  if (deterministic_ || w.type != Number::kF32)
    narrowed = gpu_.scratch<std::byte>(Gpu::kInput, padded * row_bytes);
  float* block = deterministic_ ? gpu_.scratch<float>(Gpu::kOutput, padded * outputs) : nullptr;
  if (gpu_.failed()) return;
  if (!deterministic_) {
    if (narrowed != nullptr)
      narrow(x, static_cast<int64_t>(rows) * w.cols, w.type, narrowed, gpu_.stream());
    return multiply_rows(w, bias, narrowed == nullptr ? static_cast<const void*>(x) : narrowed,
                         rows, accumulate, y);
  }
  for (int first = 0; first < rows; first += kBlockRows) {
    const int count = std::min(kBlockRows, rows - first);
    narrow(x + static_cast<size_t>(first) * cols, int64_t{count} * w.cols, w.type, narrowed,
           gpu_.stream());
    check(cudaMemsetAsync(narrowed + static_cast<size_t>(count) * row_bytes, 0,
                          static_cast<size_t>(kBlockRows - count) * row_bytes, gpu_.stream()),
          kMultiplying);
    multiply_rows(w, bias, narrowed, kBlockRows, false, block);
    assign(block, int64_t{count} * w.rows, accumulate, y + static_cast<size_t>(first) * outputs,
           gpu_.stream());
  }
}

}  // namespace looseleaf::cuda

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

struct Products::Kernel {
  Operation operation;
  Layout w, x, y;
  cublasLtMatmulAlgo_t algorithm;
};

Products::Products(Gpu& gpu, bool deterministic) : gpu_(gpu), deterministic_(deterministic) {}
Products::~Products() = default;

const Products::Kernel& Products::kernel_for(const GpuProduct& product, const void* x, int rows,
                                             bool accumulate) {
  const GpuMatrix& w = *product.w;
  const bool biased = product.bias != nullptr;
  std::unique_ptr<Kernel>& kernel = kernels_[{w.type, w.rows, w.cols, rows, accumulate, biased,
                                              alignment(x), alignment(product.y)}];
  if (kernel != nullptr) return *kernel;
  kernel = std::make_unique<Kernel>();
  check(cublasLtMatmulDescCreate(&kernel->operation.value, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        kMultiplying);
  set(kernel->operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (biased) {
    set(kernel->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(kernel->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
    set(kernel->operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
  }
  make_layout(kernel->w, w.type, w.rows, w.cols);
  make_layout(kernel->x, w.type, rows, w.cols);
  make_layout(kernel->y, Number::kF32, rows, w.rows);
  Preference preference;
  check(cublasLtMatmulPreferenceCreate(&preference.value), kMultiplying);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      static_cast<uint32_t>(alignment(w.data)));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(alignment(x)));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(preference, attribute, static_cast<uint32_t>(alignment(product.y)));
  if (deterministic_)
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE));
  cublasLtMatmulHeuristicResult_t result{};
  int results = 0;
  check(cublasLtMatmulAlgoGetHeuristic(gpu_.blas(), kernel->operation.value, kernel->w.value,
                                       kernel->x.value, kernel->y.value, kernel->y.value,
                                       preference.value, 1, &result, &results),
        "choosing a product's kernel");
  if (results == 0) fatal(kMultiplying, "cuBLASLt has no kernel for this shape");
  kernel->algorithm = result.algo;
  return *kernel;
}

void Products::multiply_rows(Products* self, GpuProduct product, const void* x, int rows,
                             bool accumulate, cudaStream_t stream) {
  const Kernel& kernel = self->kernel_for(product, x, rows, accumulate);
  if (product.bias != nullptr)
    set(kernel.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
  const float one = 1, beta = accumulate ? 1.0f : 0.0f;
  check(
      cublasLtMatmul(self->gpu_.blas(), kernel.operation.value, &one, product.w->data,
                     kernel.w.value, x, kernel.x.value, &beta, product.y, kernel.y.value, product.y,
                     kernel.y.value, &kernel.algorithm, self->workspace_.get(), kWorkspace, stream),
      kMultiplying);
}

Rounded Products::rounded(const float* x, int rows, int64_t cols) {
  rounded_ = nullptr;
  if (deterministic_ || usual_ == Number::kF32) return {};
  rounded_count_ = rows * cols;
  void* to = gpu_.scratch(Gpu::kInput, static_cast<size_t>(rounded_count_) * number_bytes(usual_));
  rounded_ = x;
  rounded_type_ = usual_;
  rounded_at_ = -1;
  return {usual_, to};
}

const void* Products::input(const GpuMatrix& w, const float* x, int rows) {
  usual_ = w.type;
  if (w.type == Number::kF32) return x;
  const int64_t count = rows * w.cols;
  void* to = gpu_.scratch(Gpu::kInput, static_cast<size_t>(count) * number_bytes(w.type));
  if (gpu_.failed()) return nullptr;
  const bool there = rounded_ == x && rounded_type_ == w.type && rounded_count_ == count &&
                     rounded_at_ == gpu_.launches();
  if (!there) gpu_.launch(&narrow, x, count, w.type, to);
  return to;
}

void Products::multiply_blocks(const GpuProduct& product, const float* x, int rows,
                               bool accumulate) {
  const GpuMatrix& w = *product.w;
  const auto cols = static_cast<size_t>(w.cols), outputs = static_cast<size_t>(w.rows);
  const size_t row_bytes = cols * number_bytes(w.type);
  auto* narrowed = gpu_.scratch<std::byte>(Gpu::kInput, kBlockRows * row_bytes);
  auto* block = gpu_.scratch<float>(Gpu::kOutput, kBlockRows * outputs);
  if (gpu_.failed()) return;
  for (int first = 0; first < rows; first += kBlockRows) {
    const int count = std::min(kBlockRows, rows - first);
    if (count < kBlockRows)
      gpu_.launch(&zero_words, static_cast<void*>(narrowed), kBlockRows * row_bytes);
    gpu_.launch(&narrow, x + static_cast<size_t>(first) * cols, int64_t{count} * w.cols, w.type,
                static_cast<void*>(narrowed));
    gpu_.launch(&multiply_rows, this, GpuProduct{product.w, product.bias, block},
                static_cast<const void*>(narrowed), kBlockRows, false);
    gpu_.launch(&assign, static_cast<const float*>(block), int64_t{count} * w.rows, accumulate,
                product.y + static_cast<size_t>(first) * outputs);
  }
}

void Products::multiply(std::span<const GpuProduct> products, const float* x, int rows,
                        bool accumulate) {
  if (rows == 0 || gpu_.failed()) return;
  const void* rounded = nullptr;
  const GpuMatrix* before = nullptr;
  for (const GpuProduct& product : products) {
    if (deterministic_) {
      multiply_blocks(product, x, rows, accumulate);
      continue;
    }
    if (before == nullptr || product.w->type != before->type) rounded = input(*product.w, x, rows);
    before = product.w;
    if (gpu_.failed()) return;
    gpu_.launch(&multiply_rows, this, product, rounded, rows, accumulate);
  }
}

void Products::feed_forward(const GpuProduct& gate, const GpuProduct& up, const GpuProduct& down,
                            const float* x, int rows) {
  if (rows == 0 || gpu_.failed()) return;
  const GpuProduct gated[] = {gate, up};
  multiply(gated, x, rows, false);
  // Rounded on the way where `down` takes what gate and up took.
  const Rounded to = down.w->type == usual_ ? rounded(gate.y, rows, gate.w->rows) : Rounded{};
  if (gpu_.failed()) return;
  gpu_.launch(&silu_multiply, gate.y, static_cast<const float*>(up.y), rows * gate.w->rows, to.type,
              to.to);
  if (to.to != nullptr) made_rounded();
  multiply({&down, 1}, gate.y, rows, true);
}

}  // namespace looseleaf::cuda

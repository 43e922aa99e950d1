// What the operations of the CUDA device share: its stream, memory that is used again and again,
// and what happens when CUDA fails.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compute/cuda/check.h"
#include "compute/cuda/pass_graph.h"

namespace looseleaf::cuda {

void check(cublasStatus_t status, const char* what);

// Device memory that frees itself. Empty where there was none: see Gpu::memory.
struct FreeMemory {
  void operator()(void* memory) const;
};
using Memory = std::unique_ptr<void, FreeMemory>;

// One stream and its helpers. Not thread-safe.
class Gpu {
 public:
  // The first GPU that CUDA shows. Errors: kUnsupported (none, an old one, an old driver).
  static Expected<std::unique_ptr<Gpu>> open();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  cudaStream_t stream() const { return stream_; }
  cublasLtHandle_t blas() const { return blas_; }
  const cudaDeviceProp& properties() const { return properties_; }
  bool is_hopper() const { return properties_.major == 9; }

  // Memory that pages are cut from. Kernels know pages by numbers from there.
  void set_pages(std::byte* pages) { pages_ = pages; }
  std::byte* pages() const { return pages_; }

  // Memory for good. Errors: kUnavailable, with the numbers.
  Expected<Memory> memory(size_t bytes, const char* purpose) const;

  // Memory for one operation: the next call on the same shelf may give the same memory again, which
  // is right in stream order. Null where there is none; `take_failure` then tells of it.
  enum Shelf { kInput, kPartials, kOutput, kGathered, kWidened, kShelves };
  void* scratch(Shelf shelf, size_t bytes);
  template <class T>
  T* scratch(Shelf shelf, size_t count) {
    return static_cast<T*>(scratch(shelf, count * sizeof(T)));
  }

  // What follows, up to `synchronize`, is a pass; one that repeats may be run from a graph.
  void begin_pass(bool repeats);
  // Runs launch(args..., stream): now, or with the rest of a pass that repeats. Pointers and sizes
  // that come from `scratch`, `stage` and Packed are the same in passes of about the same size.
  template <class F, class... A>
  void launch(F* launch, A... args) {
    ++launches_;
    if (graphs_.recording())
      graphs_.add(launch, args...);
    else
      launch(args..., stream_);
  }
  // How many there were.
  int64_t launches() const { return launches_; }
  // Runs what waits for the rest of its pass.
  void flush();

  // A copy of host memory on the GPU, good until `synchronize`. Null where it is too large;
  // `take_failure` then tells of it.
  const std::byte* stage(std::span<const std::byte> bytes);
  template <class T>
  const T* stage(std::span<const T> values) {
    return reinterpret_cast<const T*>(stage(std::as_bytes(values)));
  }

  // Inside device memory.
  void copy(void* to, const void* from, size_t bytes);

  // To device memory, in stream order; `from` may change at once.
  void upload(void* to, const void* from, size_t bytes);

  // To host memory, where it is after `synchronize`.
  void download(void* to, const void* from, size_t bytes);

  // Waits for the stream. What was staged is gone.
  void synchronize();
  // Goes up with each `synchronize`.
  int64_t epoch() const { return epoch_; }

  // Operations do nothing after one has failed, until the failure is taken.
  bool failed() const { return !failure_.empty(); }
  void fail(std::string reason);
  std::string take_failure() { return std::exchange(failure_, {}); }

 private:
  Gpu() = default;
  Status start();
  std::byte* room(size_t bytes);  // in the pinned ring
  void copy_now(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t blas_ = nullptr;
  Memory shelves_[kShelves];
  size_t shelf_bytes_[kShelves] = {};
  std::byte* pinned_ = nullptr;  // [kRing] host memory that copies are made from
  Memory staged_;                // [kRing] the same bytes on the GPU
  size_t used_ = 0;              // of the ring since the last synchronize
  size_t described_ = 0;         // likewise, up to the last copy that `stage` put off
  struct Download {
    void* to;
    const std::byte* pinned;
    size_t bytes;
  };
  std::vector<Download> downloads_;
  PassGraphs graphs_;
  int64_t epoch_ = 0;
  int64_t launches_ = 0;
  std::byte* pages_ = nullptr;
  std::string failure_;
};

}  // namespace looseleaf::cuda

// The GPU for benches: memory that frees itself, and errors that end the program with a line.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace looseleaf::bench {

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
class GpuArray {
 public:
  explicit GpuArray(size_t count) : count_(count) {
    require(cudaMalloc(&data_, std::max<size_t>(count, 1) * sizeof(T)), "allocating");
  }
  explicit GpuArray(const std::vector<T>& from) : GpuArray(from.size()) {
    require(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copying");
  }
  GpuArray(GpuArray&& from) noexcept
      : data_(std::exchange(from.data_, nullptr)), count_(from.count_) {}
  GpuArray& operator=(GpuArray&&) = delete;
  ~GpuArray() { cudaFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return count_; }

  // Every byte 0xFF: a NaN in any float type.
  void poison() { require(cudaMemset(data_, 0xFF, count_ * sizeof(T)), "poisoning"); }
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    require(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copying");
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace looseleaf::bench

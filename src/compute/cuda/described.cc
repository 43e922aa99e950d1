#include "compute/cuda/described.h"

#include <bit>
#include <span>
#include <utility>

namespace looseleaf::cuda {

void Described::set(Gpu& gpu, const std::vector<std::byte>& bytes) {
  if (gpu.failed()) return;
  if (bytes.size() > room_) {
    gpu.flush();
    memory_.reset();  // waits for the kernels that use it
    room_ = 0;
    auto memory = gpu.memory(std::bit_ceil(bytes.size()), "a pass");
    if (!memory) return gpu.fail(std::move(memory).error().message);
    memory_ = std::move(*memory);
    room_ = std::bit_ceil(bytes.size());
  }
  gpu.upload(memory_.get(), bytes.data(), bytes.size());
}

const std::byte* Staged::get(Gpu& gpu, const std::vector<std::byte>& bytes) {
  if (epoch_ == gpu.epoch() && there_ != nullptr && bytes == bytes_) return there_;
  bytes_ = bytes;
  there_ = gpu.stage(std::span<const std::byte>(bytes_));
  epoch_ = gpu.epoch();
  return there_;
}

}  // namespace looseleaf::cuda

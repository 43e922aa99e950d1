#include "compute/cuda/gpu.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compute/cuda/kernels.h"

namespace looseleaf::cuda {
namespace {

// What a pass describes to its kernels, and angles: a few MB at 128K tokens.
constexpr size_t kRing = size_t{64} << 20;
constexpr size_t kPiece = kRing / 4;  // of a longer copy
constexpr int kExitBroken = 3;

tl::unexpected<Error> unsupported(const std::string& reason) {
  return error(ErrorCode::kUnsupported, "--device cuda: {}", reason);
}

double gib(size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

void fatal(const char* what, const char* reason) {
  std::fprintf(stderr,
               "looseleaf: CUDA failed while %s: %s; what the GPU holds is lost, start again\n",
               what, reason);
  std::fflush(nullptr);
  std::_Exit(kExitBroken);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess && error != cudaErrorCudartUnloading)
    fatal(what, cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fatal(what, cublasLtGetStatusString(status));
}

void FreeMemory::operator()(void* memory) const { check(cudaFree(memory), "freeing memory"); }

Expected<std::unique_ptr<Gpu>> Gpu::open() {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found == cudaErrorInsufficientDriver) {
    int driver = 0, needed = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&needed);
    if (driver == 0) return unsupported("no NVIDIA driver is installed");
    return unsupported(fmt::format("the NVIDIA driver is for CUDA {}.{}, and {}.{} is needed",
                                   driver / 1000, driver % 1000 / 10, needed / 1000,
                                   needed % 1000 / 10));
  }
  if (found != cudaSuccess || count == 0)
    return unsupported(fmt::format(
        "no GPU: {}", found == cudaSuccess ? "there is none" : cudaGetErrorString(found)));
  auto gpu = std::unique_ptr<Gpu>(new Gpu);
  LL_RETURN_IF_ERROR(gpu->start());
  return gpu;
}

Status Gpu::start() {
  if (const cudaError_t error = cudaGetDeviceProperties(&properties_, 0); error != cudaSuccess)
    return unsupported(cudaGetErrorString(error));
  if (properties_.major < 8)
    return unsupported(fmt::format("{} has compute capability {}.{}, and 8.0 (Ampere) is needed",
                                   properties_.name, properties_.major, properties_.minor));
  if (const cudaError_t error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
      error != cudaSuccess)
    return unsupported(fmt::format("{}: {}", properties_.name, cudaGetErrorString(error)));
  LL_ASSIGN(staged_, memory(kRing, "what passes consist of"));
  if (cudaMallocHost(reinterpret_cast<void**>(&pinned_), kRing) != cudaSuccess) {
    (void)cudaGetLastError();
    return error(ErrorCode::kUnavailable, "--device cuda: no {} bytes of host memory to pin",
                 kRing);
  }
  check(cublasLtCreate(&blas_), "starting cuBLASLt");
  return {};
}

Gpu::~Gpu() {
  if (stream_ != nullptr) check(cudaStreamSynchronize(stream_), "finishing");
  if (blas_ != nullptr) cublasLtDestroy(blas_);
  if (pinned_ != nullptr) cudaFreeHost(pinned_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Expected<Memory> Gpu::memory(size_t bytes, const char* purpose) const {
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, std::max<size_t>(bytes, 1));
  if (result == cudaSuccess) return Memory(memory);
  if (result != cudaErrorMemoryAllocation) fatal("taking memory", cudaGetErrorString(result));
  (void)cudaGetLastError();  // this one leaves nothing broken behind
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return error(
      ErrorCode::kUnavailable,
      "--device cuda: {:.2f} GiB for {} are not there: {:.2f} of {:.2f} GiB are free on {}",
      gib(bytes), purpose, gib(free), gib(total), properties_.name);
}

void* Gpu::scratch(Shelf shelf, size_t bytes) {
  if (failed()) return nullptr;
  if (bytes <= shelf_bytes_[shelf]) return shelves_[shelf].get();
  flush();
  shelves_[shelf].reset();  // waits for the kernels that use it
  shelf_bytes_[shelf] = 0;
  auto memory = this->memory(bytes, "a pass");
  if (!memory) {
    fail(std::move(memory).error().message);
    return nullptr;
  }
  shelves_[shelf] = std::move(*memory);
  shelf_bytes_[shelf] = bytes;
  return shelves_[shelf].get();
}

void Gpu::begin_pass(bool repeats) {
  flush();
  if (!repeats || failed()) return;
  // Rooms in the ring begin where they did in the pass before.
  synchronize();
  graphs_.begin();
}

void Gpu::flush() {
  if (!graphs_.recording()) return;
  if (failed()) return graphs_.drop();
  if (described_ > 0) copy_now(staged_.get(), pinned_, described_, cudaMemcpyHostToDevice);
  graphs_.finish(stream_);
}

std::byte* Gpu::room(size_t bytes) {
  const size_t at = (used_ + 255) / 256 * 256;
  if (at + bytes > kRing) return nullptr;
  used_ = at + bytes;
  return pinned_ + at;
}

const std::byte* Gpu::stage(std::span<const std::byte> bytes) {
  if (failed()) return nullptr;
  // What comes behind it in the ring stays in place as long as the size is about the same.
  std::byte* from = room(graphs_.recording() ? std::bit_ceil(bytes.size()) : bytes.size());
  if (from == nullptr) {
    fail(fmt::format("--device cuda: a pass is described by more than {} bytes", kRing));
    return nullptr;
  }
  std::memcpy(from, bytes.data(), bytes.size());
  std::byte* to = static_cast<std::byte*>(staged_.get()) + (from - pinned_);
  if (graphs_.recording())  // all of the pass go together
    described_ = static_cast<size_t>(from - pinned_) + bytes.size();
  else
    copy_now(to, from, bytes.size(), cudaMemcpyHostToDevice);
  return to;
}

void Gpu::copy_now(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying");
}

void Gpu::copy(void* to, const void* from, size_t bytes) {
  if (graphs_.recording()) return launch(&copy_bytes, to, from, bytes);
  copy_now(to, from, bytes, cudaMemcpyDeviceToDevice);
}

void Gpu::upload(void* to, const void* from, size_t bytes) {
  if (graphs_.recording() && bytes > kPiece) flush();  // more than a graph's data should be
  if (graphs_.recording()) {
    const auto* staged = stage(std::span(static_cast<const std::byte*>(from), bytes));
    if (!failed()) copy(to, staged, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t count = std::min(kPiece, bytes - at);
    if (used_ + count + 256 > kRing) synchronize();
    std::byte* pinned = room(count);
    std::memcpy(pinned, static_cast<const std::byte*>(from) + at, count);
    copy_now(static_cast<std::byte*>(to) + at, pinned, count, cudaMemcpyHostToDevice);
  }
}

void Gpu::download(void* to, const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPiece) {
    const size_t count = std::min(kPiece, bytes - at);
    if (used_ + count + 256 > kRing) synchronize();
    std::byte* pinned = room(count);
    const std::byte* piece = static_cast<const std::byte*>(from) + at;
    if (graphs_.recording())
      copy(pinned, piece, count);  // pinned memory has one address on both sides
    else
      copy_now(pinned, piece, count, cudaMemcpyDeviceToHost);
    downloads_.push_back({static_cast<std::byte*>(to) + at, pinned, count});
  }
}

void Gpu::synchronize() {
  flush();
  check(cudaStreamSynchronize(stream_), "computing");
  for (const Download& d : downloads_) std::memcpy(d.to, d.pinned, d.bytes);
  downloads_.clear();
  used_ = described_ = 0;
  ++epoch_;
}

void Gpu::fail(std::string reason) {
  if (failure_.empty()) failure_ = std::move(reason);
}

}  // namespace looseleaf::cuda

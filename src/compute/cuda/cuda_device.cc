// The CUDA device: the CPU's operations on one GPU, and what the module exports.
#include <cstring>
#include <unordered_map>

#include "compute/cuda/attend.h"
#include "compute/cuda/ceilings.h"
#include "compute/cuda/gather_step.h"
#include "compute/cuda/kernels.h"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/products.h"
#include "compute/cuda/viewed.h"
#include "compute/cuda/weights.h"
#include "compute/cuda_module.h"
#include "compute/open_device.h"
#include "compute/page_region.h"

namespace looseleaf::cuda {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::unique_ptr<Gpu> gpu, std::unique_ptr<Products> products,
             const DeviceOptions& options)
      : gpu_(std::move(gpu)),
        products_(std::move(products)),
        weights_(*gpu_, options.threads, options.exact),
        attention_(*gpu_, options.deterministic) {
    const cudaDeviceProp& properties = gpu_->properties();
    facts_.name = "cuda";
    facts_.hardware = fmt::format("{}, {:.1f} GiB", properties.name,
                                  static_cast<double>(properties.totalGlobalMem) / (1 << 30));
    facts_.numeric_path = fmt::format("cuda-{}{}", options.exact ? "f32" : "bf16",
                                      options.deterministic ? "-deterministic" : "");
    facts_.kv_type = facts_.private_kv_type = options.exact ? KvType::kF32 : KvType::kBF16;
    facts_.f32 = options.exact;
    facts_.pass_rows = 2048;  // large enough for the fastest products
  }
  ~CudaDevice() override { gpu_->synchronize(); }

  const DeviceFacts& facts() const override { return facts_; }

  Status load(const WeightMatrix& matrix) override { return weights_.load(matrix); }
  Status load(std::span<const float> vector) override { return weights_.load(vector); }
  std::string describe_weights() const override { return weights_.describe(); }

  Expected<int64_t> reserve_pages(int64_t bytes) override {
    gpu_->synchronize();
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    // A tenth is left for what passes need.
    const auto taken = bytes > 0 ? static_cast<size_t>(bytes) : free / 10 * 9;
    LL_ASSIGN(page_memory_, gpu_->memory(taken, "keys and values (--cache-bytes)"));
    gpu_->set_pages(pages());
    region_ = PageRegion(taken);
    return static_cast<int64_t>(taken);
  }
  Expected<DeviceMemory> allocate_page(size_t bytes) override {
    const auto at = region_.take((bytes + kPageUnit - 1) / kPageUnit * kPageUnit);
    if (!at)
      return error(ErrorCode::kUnavailable,
                   "keys and values: no gap of {} bytes is left; raise --cache-bytes", bytes);
    return DeviceMemory(pages() + *at, DeviceRelease{this});
  }
  Expected<DeviceMemory> allocate(size_t bytes) override {
    LL_ASSIGN(Memory memory, gpu_->memory(bytes, "a pass"));
    auto* data = static_cast<std::byte*>(memory.get());
    scratch_.emplace(data, std::move(memory));
    return DeviceMemory(data, DeviceRelease{this});
  }

  void begin_pass(bool repeats) override { gpu_->begin_pass(repeats); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    gpu_->copy(to, from, bytes);
  }
  void upload(void* to, const void* from, size_t bytes) override { gpu_->upload(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override {
    gpu_->download(to, from, bytes);
  }
  Status wait() override {
    gpu_->synchronize();
    if (!gpu_->failed()) return {};
    return error(ErrorCode::kUnavailable, "{}", gpu_->take_failure());
  }

  void embed(const WeightMatrix& table, std::span<const int32_t> tokens, float* out) override {
    const int32_t* staged = gpu_->stage(tokens);
    if (gpu_->failed()) return;
    gpu_->launch(&cuda::embed, &weights_.find(table), staged, static_cast<int>(tokens.size()), out);
  }
  void rms_norm(const float* x, std::span<const float> weight, float eps, int rows,
                float* out) override {
    if (gpu_->failed()) return;
    const auto cols = static_cast<int>(weight.size());
    const Rounded rounded = products_->rounded(out, rows, cols);
    if (gpu_->failed()) return;
    gpu_->launch(&cuda::rms_norm, x, weights_.find(weight), eps, rows, cols, out, rounded.type,
                 rounded.to);
    products_->made_rounded();
  }
  void matmul(const WeightMatrix& w, std::span<const float> bias, const float* x, int rows,
              bool accumulate, float* y) override {
    const GpuProduct product{&weights_.find(w), weights_.find(bias), y};
    products_->multiply({&product, 1}, x, rows, accumulate);
  }
  void matmuls(std::span<const WeightProduct> products, const float* x, int rows) override {
    std::vector<GpuProduct> all;
    for (const WeightProduct& p : products)
      all.push_back({&weights_.find(*p.w), weights_.find(p.bias), p.y});
    products_->multiply(all, x, rows, false);
  }
  void feed_forward(const FeedForwardArgs& args) override {
    const GpuProduct down{&weights_.find(*args.down), weights_.find(args.down_bias), args.y};
    products_->feed_forward(
        {&weights_.find(*args.gate), weights_.find(args.gate_bias), args.gate_out},
        {&weights_.find(*args.up), weights_.find(args.up_bias), args.up_out}, down, args.x,
        args.rows);
  }
  void place(const PlaceArgs& args) override {
    Placing placing;
    std::memset(&placing, 0, sizeof placing);  // padding too: launches are compared as bytes
    const Viewed<GpuSlot> there = stage_slots(args.slots);
    if (gpu_->failed()) return;
    placing.views = there.views;
    placing.slots = there.values;
    placing.angles = args.angles.data();
    placing.query = args.query;
    placing.key = args.key;
    placing.value = args.value;
    placing.query_rows = args.query_rows;
    placing.key_rows = static_cast<int32_t>(args.slots.size());
    placing.layer = args.layer;
    placing.heads = args.heads;
    placing.kv_heads = args.kv_heads;
    placing.head_dim = args.head_dim;
    placing.rotary_dims = args.rotary_dims;
    placing.pairs = args.pairs;
    gpu_->launch(&cuda::place, placing);
  }
  void largest(const float* x, int rows, int cols, int32_t* out) override {
    auto* found = gpu_->scratch<int32_t>(Gpu::kOutput, static_cast<size_t>(rows));
    if (gpu_->failed()) return;
    gpu_->launch(&cuda::largest, x, rows, cols, found);
    gpu_->download(out, found, static_cast<size_t>(rows) * sizeof(int32_t));
  }
  void store(int layer, const float* k, const float* v, std::span<const KvSlot> slots) override {
    if (slots.empty()) return;
    const Viewed<GpuSlot> there = stage_slots(slots);
    if (gpu_->failed()) return;
    gpu_->launch(&cuda::store, there.views, there.values, static_cast<int>(slots.size()),
                 slots[0].layout->kv_heads, layer, k, v);
  }
  Expected<Ceilings> measure_ceilings() override {
    gpu_->synchronize();
    Ceilings ceilings;
    LL_ASSIGN(ceilings.read_gbps, read_rate(*gpu_));
    LL_ASSIGN(ceilings.matrix_gflops, matrix_rate(*gpu_, *products_, facts_.f32));
    return ceilings;
  }
  void attend(const AttendArgs& args) override {
    const int64_t width = int64_t{args.heads} * args.head_dim;
    if (attention_.attend(args, products_->rounded(args.out, args.active, width)))
      products_->made_rounded();
  }
  void attend_mass(const AttendArgs& args) override { attention_.attend_mass(args); }
  void value_deviation(const DeviationArgs& args) override {
    std::byte* const* pages[2] = {gpu_->stage(args.fresh->pages), gpu_->stage(args.stored->pages)};
    if (gpu_->failed()) return;
    gpu_->launch(&cuda::value_deviation, StoredTokens{page_view(*args.fresh->layout), pages[0]},
                 StoredTokens{page_view(*args.stored->layout), pages[1]}, args.first,
                 args.stored->count, args.layer, args.out);
  }
  using Device::gather;
  void gather(std::span<const GatherArgs> parts) override { gathering_.run(*gpu_, parts); }

 private:
  std::byte* pages() const { return static_cast<std::byte*>(page_memory_.get()); }

  // Stream order makes it safe to give a page away while kernels still read it.
  void release(std::byte* memory) override {
    const auto scratch = scratch_.find(memory);
    if (scratch == scratch_.end()) return region_.give_back(static_cast<size_t>(memory - pages()));
    gpu_->flush();
    scratch_.erase(scratch);
  }

  Viewed<GpuSlot> stage_slots(std::span<const KvSlot> slots) {
    PageViews views;
    std::vector<GpuSlot> to;
    for (const KvSlot& slot : slots)
      to.push_back({slot.page, slot.slot, views.number_of(*slot.layout)});
    return stage_viewed(*gpu_, slots_, views, to);
  }

  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Products> products_;
  Weights weights_;
  Attention attention_;
  DeviceFacts facts_;
  Memory page_memory_;
  PageRegion region_;
  std::unordered_map<std::byte*, Memory> scratch_;
  GatherStep gathering_;
  Staged slots_;
};

Expected<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  LL_ASSIGN(auto gpu, Gpu::open());
  LL_ASSIGN(auto products, Products::create(*gpu, options.deterministic));
  return std::make_unique<CudaDevice>(std::move(gpu), std::move(products), options);
}

}  // namespace
}  // namespace looseleaf::cuda

#define LOOSELEAF_MODULE extern "C" __attribute__((visibility("default")))

LOOSELEAF_MODULE const char* looseleaf_cuda_version() { return LOOSELEAF_VERSION; }
LOOSELEAF_MODULE void looseleaf_cuda_open(
    const looseleaf::DeviceOptions& options,
    looseleaf::Expected<std::unique_ptr<looseleaf::Device>>* device) {
  *device = looseleaf::cuda::open(options);
}

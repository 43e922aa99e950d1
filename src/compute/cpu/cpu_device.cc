#include "compute/cpu/cpu_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/machine.h"

namespace looseleaf {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : pool_(options.threads), products_(options.products) {
    facts_.name = "cpu";
    facts_.numeric_path = cpu_numeric_path(products_);
    facts_.private_kv_type = KvType::kF16;
    facts_.f32 = products_ != Products::kFast;
  }

  const DeviceFacts& facts() const override { return facts_; }

  // Weights are read where the file maps them.
  Status load(const WeightMatrix&) override { return {}; }
  Status load(std::span<const float>) override { return {}; }
  std::string describe_weights() const override { return "as stored"; }

  Expected<int64_t> reserve_pages(int64_t bytes) override {
    return bytes > 0 ? bytes : usable_memory() / 10 * 4;
  }
  Expected<DeviceMemory> allocate_page(size_t bytes) override { return allocate(bytes); }
  Expected<DeviceMemory> allocate(size_t bytes) override {
    const size_t rounded = (bytes + 63) / 64 * 64;
    void* memory = std::aligned_alloc(64, rounded == 0 ? 64 : rounded);
    if (memory == nullptr)
      return error(ErrorCode::kUnavailable, "out of memory: {} bytes for keys, values or scratch",
                   bytes);
    return DeviceMemory(static_cast<std::byte*>(memory), DeviceRelease{this});
  }

  void begin_pass(bool) override {}
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    copy_bytes(to, from, bytes);
  }
  void upload(void* to, const void* from, size_t bytes) override { copy_bytes(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy_bytes(to, from, bytes); }
  Status wait() override { return {}; }
  void embed(const WeightMatrix& table, std::span<const int32_t> tokens, float* out) override {
    cpu_embed(pool_, table, tokens, out);
  }
  void rms_norm(const float* x, std::span<const float> weight, float eps, int rows,
                float* out) override {
    cpu_rms_norm(pool_, x, weight, eps, rows, out);
  }
  void matmul(const WeightMatrix& w, std::span<const float> bias, const float* x, int rows,
              bool accumulate, float* y) override {
    cpu_matmul(pool_, products_, w, bias, x, rows, accumulate, y);
  }
  void matmuls(std::span<const WeightProduct> products, const float* x, int rows) override {
    for (const WeightProduct& p : products)
      cpu_matmul(pool_, products_, *p.w, p.bias, x, rows, false, p.y);
  }
  void place(const PlaceArgs& args) override {
    const auto keys = static_cast<int>(args.slots.size());
    const auto turn = [&](float* x, int rows, int heads) {
      if (rows > 0)
        cpu_rotate(pool_, x, args.angles, rows, heads, args.head_dim, args.rotary_dims, args.pairs);
    };
    turn(args.query, args.query_rows, args.heads);
    turn(args.key, keys, args.kv_heads);
    if (keys > 0) store(args.layer, args.key, args.value, args.slots);
  }
  void feed_forward(const FeedForwardArgs& args) override {
    const WeightProduct gated[] = {{args.gate, args.gate_bias, args.gate_out},
                                   {args.up, args.up_bias, args.up_out}};
    matmuls(gated, args.x, args.rows);
    cpu_silu_multiply(pool_, args.gate_out, args.up_out, args.rows * args.gate->rows);
    matmul(*args.down, args.down_bias, args.gate_out, args.rows, true, args.y);
  }
  void largest(const float* x, int rows, int cols, int32_t* out) override {
    for (int r = 0; r < rows; ++r, x += cols)
      out[r] = static_cast<int32_t>(std::max_element(x, x + cols) - x);
  }
  void store(int layer, const float* k, const float* v, std::span<const KvSlot> slots) override {
    cpu_store(pool_, layer, k, v, slots);
  }
  void attend(const AttendArgs& args) override { cpu_attend(pool_, args); }
  void attend_mass(const AttendArgs& args) override { cpu_attend_mass(pool_, args); }
  void value_deviation(const DeviationArgs& args) override { cpu_value_deviation(pool_, args); }
  using Device::gather;
  void gather(std::span<const GatherArgs> parts) override {
    for (const GatherArgs& part : parts) cpu_gather(pool_, part);
  }
  Expected<Ceilings> measure_ceilings() override {
    constexpr size_t kRead = size_t{256} << 20;
    LL_ASSIGN(const DeviceMemory memory, allocate(kRead));
    return cpu_ceilings(pool_, products_, {memory.get(), kRead});
  }

 private:
  void release(std::byte* memory) override { std::free(memory); }
  static void copy_bytes(void* to, const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);  // no bytes may be nowhere, which memcpy forbids
  }

  ThreadPool pool_;
  Products products_;
  DeviceFacts facts_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace looseleaf

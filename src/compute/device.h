// The device interface: the handful of operations that a pass is made of.
//
// Activations are float32, row-major, in the device's memory; float pointers and `angles` point
// there, and so do pages. Weights, bias and norm vectors are the host's, and loaded before. All
// other spans are the host's and may go as soon as the call returns. Operations of one device run
// in the order of the calls, and may still be running when a call returns: `wait` ends a pass.
// Shapes are REQUIREd: a wrong one is a bug, not an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compute/segment.h"
#include "model/rope.h"
#include "model/weight_type.h"

namespace looseleaf {

class Device;

// Memory of a device, 64-byte aligned; given back with the object, which the device outlives.
struct DeviceRelease {
  Device* device = nullptr;
  void operator()(std::byte* memory) const;
};
using DeviceMemory = std::unique_ptr<std::byte[], DeviceRelease>;

struct DeviceFacts {
  std::string name;               // "cpu"
  std::string hardware;           // "NVIDIA H200, 139.8 GiB"; "" where nothing is to be said
  std::string numeric_path;       // "cpu-f32": devices of one path store the same bits
  KvType kv_type = KvType::kF16;  // of chunks, and of private pages, where nobody chose
  KvType private_kv_type = KvType::kF32;
  bool f32 = true;  // products in float32 throughout
  // Rows of one pass at most, in the mean over layers: a longer prefill is cut into pieces, in
  // position order.
  int pass_rows = 512;
};

// How attention brings queries and keys of other positions together: for comparison in benches,
// every way gives the same result up to rounding. Where a device has one way only for a type or a
// shape, it takes that.
enum class AttendWay : uint8_t {
  kDeferred,      // queries are turned back by Segment::turn; keys that several groups see are read
                  // once for all of them
  kRequestMajor,  // likewise, but each group reads for itself
  kRotateKeys,  // each group turns keys to their prompt positions as it reads them (LazyAttention's
                // prefill; MEPIC, 2512.16822)
};

struct AttendArgs {
  int layer = 0;
  // Calls of one device with the same number, other than 0, have the same segments, groups and
  // positions in every layer: what follows from them is worked out once. 0: unknown.
  uint64_t pass = 0;
  AttendWay way = AttendWay::kDeferred;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  float scale = 0;               // usually 1 / sqrt(head_dim)
  int window = 0;                // 0: none
  std::span<const float> alibi;  // [heads] slopes: score += slope * (key position - row position)
  int rotary_dims = 0;           // of Segment::turn
  RopePairs pairs = RopePairs::kHalves;
  std::span<const Segment> segments;
  std::span<const RowGroup> groups;
  std::span<const int32_t> positions;  // [rows] prompt positions
  int active = 0;                      // rows [0, active) of the groups attend
  const float* query = nullptr;  // [active, heads, head_dim] rotated to their prompt positions
  float* out = nullptr;          // [active, heads, head_dim] 0 for a row that sees no key
  float* lse = nullptr;          // [active, heads] log of the sum of exp(score), or null
  float* mass = nullptr;         // where SegmentUse::mass points, or null
};

// Rows of a layer before rotation.
struct PlaceArgs {
  int layer = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int rotary_dims = 0;
  RopePairs pairs = RopePairs::kHalves;
  std::span<const float> angles;  // [rows][2][rotary_dims / 2] cos, then sin
  float* query = nullptr;         // [query_rows, heads, head_dim] turned in place
  int query_rows = 0;             // the first so many rows; 0: no queries yet
  float* key = nullptr;           // [slots, kv_heads, head_dim] anything afterwards
  const float* value = nullptr;   // [slots, kv_heads, head_dim]
  std::span<const KvSlot> slots;  // of the first rows; empty: their keys and values are there
};

// y += W_down (silu(W_gate x) * W_up x)   (SwiGLU, 2002.05202)
struct FeedForwardArgs {
  const WeightMatrix* gate = nullptr;
  const WeightMatrix* up = nullptr;
  const WeightMatrix* down = nullptr;
  std::span<const float> gate_bias, up_bias, down_bias;  // or empty
  const float* x = nullptr;                              // [rows, hidden]
  int rows = 0;
  float* gate_out = nullptr;  // [rows, ffn] scratch
  float* up_out = nullptr;    // [rows, ffn] scratch
  float* y = nullptr;         // [rows, hidden]
};

// One of several products with the same rows.
struct WeightProduct {
  const WeightMatrix* w = nullptr;
  std::span<const float> bias;  // [w.rows] or empty
  float* y = nullptr;           // [rows, w.rows]
};

// What a device does at most, as measured: what a bench's numbers stand beside.
struct Ceilings {
  double read_gbps = 0;      // 1e9 bytes a second read from its memory, no cache holding them
  double matrix_gflops = 0;  // 1e9 operations a second of a large product, as passes compute it
};

// The values of tokens computed twice.
struct DeviationArgs {
  int layer = 0;
  const Segment* fresh = nullptr;   // token first + i is
  const Segment* stored = nullptr;  // token i
  int32_t first = 0;
  float* out = nullptr;  // [stored->count]
};

// Tokens of one segment, to be brought to their prompt positions elsewhere.
struct GatherArgs {
  int layer = 0;
  int rotary_dims = 0;
  RopePairs pairs = RopePairs::kHalves;
  const Segment* source = nullptr;
  std::span<const int32_t> tokens;  // [n] indices into the source
  std::span<const KvSlot> slots;    // [n] where they go, converted to the slots' layout
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;
  std::string_view name() const { return facts().name; }

  // Brings weights to where products read them; what they point to outlives the device. Loading
  // again what is there does nothing. Errors: kUnavailable (no memory), kUnsupported.
  virtual Status load(const WeightMatrix& matrix) = 0;
  virtual Status load(std::span<const float> vector) = 0;
  // How loaded weights are held, for people: "211 bf16 (from q4_1)".
  virtual std::string describe_weights() const = 0;

  // Memory for pages, taken once, after loading and before the first page. bytes: all that pages
  // may ever use; 0: what the device has to spare. Returns that limit. Errors: kUnavailable.
  virtual Expected<int64_t> reserve_pages(int64_t bytes) = 0;
  // Errors: kUnavailable.
  virtual Expected<DeviceMemory> allocate_page(size_t bytes) = 0;
  // For scratch, outside passes. Errors: kUnavailable.
  virtual Expected<DeviceMemory> allocate(size_t bytes) = 0;

  // What follows, up to `wait`, is a pass. `repeats`: passes like it follow each other, the same
  // operations with other data, so that it may pay to keep how one is run.
  virtual void begin_pass(bool repeats) = 0;

  // Copies bytes inside the device's memory; the ranges do not overlap.
  virtual void copy(std::byte* to, const std::byte* from, size_t bytes) = 0;
  // From the host's memory, which may change as soon as the call returns.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  // To the host's memory; there after `wait`.
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  // Returns when all operations are done. Errors: kUnavailable: an operation since the last wait
  // had no memory for its work, and what it and later ones wrote is to be thrown away.
  virtual Status wait() = 0;

  // out[r] = row tokens[r] of the table. out: [rows, cols]
  virtual void embed(const WeightMatrix& table, std::span<const int32_t> tokens, float* out) = 0;

  // out[r][i] = x[r][i] / sqrt(mean_i x[r][i]^2 + eps) * weight[i]   (RMSNorm, 1910.07467)
  // x, out: [rows, weight.size()], may be the same.
  virtual void rms_norm(const float* x, std::span<const float> weight, float eps, int rows,
                        float* out) = 0;

  // y = x W^T + bias, or y += where `accumulate`. x: [rows, w.cols], bias: [w.rows] or empty,
  // y: [rows, w.rows]
  virtual void matmul(const WeightMatrix& w, std::span<const float> bias, const float* x, int rows,
                      bool accumulate, float* y) = 0;

  // y = x W^T + bias for each of the products, whose W have x's columns. x: [rows, columns]
  virtual void matmuls(std::span<const WeightProduct> products, const float* x, int rows) = 0;

  // Turns the rotary dimensions of each head's query and key by its row's angles, and stores keys
  // and values.
  virtual void place(const PlaceArgs& args) = 0;

  virtual void feed_forward(const FeedForwardArgs& args) = 0;

  // out[r] = the place of the largest of row r, the first of equal ones; a row with a NaN gives
  // any. x: [rows, cols]; out: [rows] in the host's memory, there after `wait`
  virtual void largest(const float* x, int rows, int cols, int32_t* out) = 0;

  // Writes keys and values of rows into their slots of `layer`, converted to the slots' types; a
  // slot whose layout has no place for the layer is passed over.
  // k, v: [slots.size(), kv_heads, head_dim]
  virtual void store(int layer, const float* k, const float* v, std::span<const KvSlot> slots) = 0;

  // The attention operation: softmax over all visible keys of all segments, online, merged by
  // log-sum-exp. A row's result does not depend on the other rows of the call.
  virtual void attend(const AttendArgs& args) = 0;

  // mass[use.mass + i] += sum over heads and rows [0, active) of the group of exp(score - lse), for
  // every use with a mass and every visible key i of its segment: what attention gives each key, in
  // a second sweep. `query` and `lse` are those of attend(); `out` is not used.
  virtual void attend_mass(const AttendArgs& args) = 0;

  // out[i] = sum over KV heads and dimensions of (fresh - stored)^2 of the values in `layer`
  // (CacheBlend, 2405.16444, section 4).
  virtual void value_deviation(const DeviationArgs& args) = 0;

  // Copies tokens' keys and values, keys turned to prompt positions. Source and target must differ
  // unless slot i is token i's own place (rotation in place).
  void gather(const GatherArgs& args) { gather(std::span(&args, 1)); }
  // From several sources at once. REQUIRES: one layer, the same rotary dimensions, pairs and heads.
  virtual void gather(std::span<const GatherArgs> parts) = 0;

  // The best of several runs of each, outside passes; takes about a second, and memory for the
  // time: 256 MiB on the CPU, up to 4 GiB on a GPU. Errors: kUnavailable (no memory).
  virtual Expected<Ceilings> measure_ceilings() = 0;

 protected:
  friend struct DeviceRelease;
  virtual void release(std::byte* memory) = 0;  // of allocate or allocate_page
};

inline void DeviceRelease::operator()(std::byte* memory) const { device->release(memory); }

// cos and sin of angle = position * frequency, computed in float64.
// out: [2][frequencies.size()] cos, then sin
void rotary_angles(std::span<const double> frequencies, double position, double factor, float* out);

}  // namespace looseleaf

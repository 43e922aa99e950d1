// One row of the attention bench on one device: keys, values and queries in its memory, and the
// calls over them, one for each way of attending.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "cli/attention_rows.h"
#include "compute/device.h"

namespace looseleaf {

// A way of attending over documents that other prompts use too.
struct BenchWay {
  enum class Pages {
    kShared,   // a chunk's own
    kPrivate,  // a copy for each binding, keys at their prompt positions, made beforehand
    kCopied,   // a copy that is made anew in each pass
  };
  std::string_view name;
  AttendWay way = AttendWay::kDeferred;
  bool turned = false;  // chunks stand elsewhere than they are stored
  Pages pages = Pages::kShared;
  bool decode = true, prefill = true;  // where it is measured
};

// In the order of the report. `floor` is `reuse` with nothing to turn. `private` is what engines do
// that cannot share; `copy` makes that copy first (Block-Attention).
inline constexpr std::array<BenchWay, 6> kBenchWays = {{
    {"reuse", AttendWay::kDeferred, true, BenchWay::Pages::kShared, true, true},
    {"floor", AttendWay::kDeferred, false, BenchWay::Pages::kShared, true, true},
    {"request-major", AttendWay::kRequestMajor, true, BenchWay::Pages::kShared, true, false},
    {"rotate-keys", AttendWay::kRotateKeys, true, BenchWay::Pages::kShared, true, true},
    {"private", AttendWay::kDeferred, false, BenchWay::Pages::kPrivate, true, false},
    {"copy", AttendWay::kDeferred, false, BenchWay::Pages::kCopied, false, true},
}};

struct SceneOptions {
  AttentionHeads heads;
  KvType kv_type = KvType::kBF16;
  int layers = 1;          // each with keys and values of its own
  uint32_t seed = 7;       // the same seed gives the same contents on any device
  bool poison = false;     // what no token fills, and results before each call, are NaNs
  int64_t page_limit = 0;  // bytes of pages at most
};

class AttentionScene {
 public:
  // `device` outlives it; its pages are reserved. Errors: kUnavailable (pages or scratch).
  static Expected<std::unique_ptr<AttentionScene>> create(Device& device, const AttentionRow& row,
                                                          const SceneOptions& options);

  // Makes what the way needs beside the chunks' own pages, once. Errors: kUnavailable.
  Status prepare(const BenchWay& way);

  // Launches all layers' calls, and the copies that belong to the way. REQUIRES: it is prepared.
  // pass: AttendArgs::pass
  void launch(const BenchWay& way, uint64_t pass);

  // One layer's call, without what differs by layer.
  AttendArgs args(const BenchWay& way) const;

  // What one layer's results hold once the device has waited. [rows, heads, head_dim]
  Expected<std::vector<float>> results();
  void poison_results();

  int rows() const { return static_cast<int>(positions_.size()); }
  int layers() const { return options_.layers; }
  int used_chunks() const { return static_cast<int>(chunks_.size()); }

  // Of one layer: bytes that must be read and written (keys and values once, a partial result for
  // each binding and head where rows have several, queries and results in float32), and operations
  // of the products over the visible pairs.
  double floor_bytes() const;
  double flops() const;

  // Bytes of keys and values of one layer of a row, once each, to choose a number of layers by.
  static double layer_bytes(const AttentionRow& row, const SceneOptions& options);

 private:
  // Tokens in pages of their own.
  struct Stored {
    std::vector<DeviceMemory> memory;
    std::vector<std::byte*> pages;  // [pages_for(count)]
    int count = 0;
  };
  // A chunk in a prompt.
  struct Binding {
    int chunk = 0;
    int32_t position = 0;
    std::vector<float> turn;  // [2][head_dim / 2]
  };
  // What AttendArgs refers to.
  struct Call {
    std::vector<Segment> segments;
    std::vector<std::vector<SegmentUse>> uses;  // [groups]
    std::vector<RowGroup> groups;
  };

  AttentionScene(Device& device, const SceneOptions& options);
  void draw(const DecodeRow& row);
  void draw(const PrefillRow& row);
  void bind(int chunk, int position);
  size_t row_values() const;  // numbers in the queries, and in the results
  void poison(std::byte* memory, size_t bytes);
  Status allocate();
  Expected<Stored> take_pages(int count);
  void fill(const Stored& to);
  Status make_copies();
  void gather(size_t binding);
  Call make_call(const BenchWay& way) const;
  KvSlot slot(const Stored& in, int token) const;

  Device& device_;
  SceneOptions options_;
  KvLayout layout_;
  std::mt19937 random_;
  std::vector<double> frequencies_;    // [head_dim / 2]
  std::vector<int> chunk_tokens_;      // [chunks in use]
  std::vector<Binding> bindings_;      // by group, in prompt order
  std::vector<size_t> first_binding_;  // [groups + 1]
  std::vector<int32_t> positions_;     // [rows]
  std::vector<int32_t> row_numbers_;   // [rows] 0, 1, ...
  int own_tokens_ = 0;                 // of the rows themselves, behind the chunks
  int64_t page_bytes_ = 0;             // taken so far
  DeviceMemory keys_, values_;  // [kDrawn, kv_heads, head_dim] f32, what pages are filled from
  DeviceMemory query_, out_;    // [rows, heads, head_dim] f32
  std::vector<Stored> chunks_, copies_;  // copies: [bindings]
  Stored own_;
  std::array<Call, kBenchWays.size()> calls_;
};

}  // namespace looseleaf

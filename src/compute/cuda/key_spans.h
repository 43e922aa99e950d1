// Segments of a pass as spans: what the host says of keys and values to the tensor-core kernels for
// many rows (SpanArgs).
#pragma once

#include <vector>

#include "compute/cuda/gpu.h"
#include "compute/cuda/packed.h"
#include "compute/cuda/span_args.h"
#include "compute/cuda/widened_pages.h"
#include "compute/device.h"

namespace looseleaf::cuda {

class KeySpans {
 public:
  // Whether keys and values are stored in bf16 as the kernels want them, or in types that bf16
  // copies are made of (is_widened).
  static bool fits(const AttendArgs& args, const Segment& segment);
  // Whether heads, rotation and biases are such as the kernels know, and copies, where segments
  // need them, have room.
  static bool fits(const AttendArgs& args);
  // Whether spans of a pass are others in each layer.
  static bool differ_by_layer(const AttendArgs& args);

  // Starts a pass, or a layer of one. Without memory for copies `gpu` has failed.
  void begin(Gpu& gpu, const AttendArgs& args);
  bool holds(Gpu& gpu) const { return widened_.holds(gpu); }

  // REQUIRES: fits(args, segment).
  PrefillSpan add(const AttendArgs& args, const Segment& segment);
  // Adds the group's rows that are active, in the order of their positions. Returns how many.
  int32_t add_rows(const AttendArgs& args, const RowGroup& group);

  const std::vector<int32_t>& rows() const { return rows_; }
  std::vector<int32_t>& pages() { return pages_; }  // page_number(), for spans that others make

  // Appends what was added to a pass's description.
  void describe(const AttendArgs& args, Packed& packed);
  // Makes the layer's copies. base: of the description on the GPU
  void launch(Gpu& gpu, const AttendArgs& args, const std::byte* base) const {
    widened_.launch(gpu, args, base);
  }
  // All of `to` but its spans.
  void point(const Gpu& gpu, const AttendArgs& args, const std::byte* base, SpanArgs& to) const;

 private:
  const std::byte* pool_ = nullptr;
  WidenedPages widened_;
  std::vector<int32_t> rows_, pages_, key_positions_;
  std::vector<float> turns_;
  std::vector<uint32_t> stale_;
  struct Offsets {
    size_t rows, positions, turns, pages, key_positions, stale;
  } at_{};
};

}  // namespace looseleaf::cuda

// A tile of attention: query vectors of some rows against one KV head of a stretch of pages.
#pragma once

#include <span>
#include <vector>

#include "compute/cpu/attend_mask.h"
#include "compute/cpu/attend_page.h"
#include "compute/device.h"

namespace looseleaf {

// Sums with memory of their own.
class SoftmaxSums {
 public:
  void clear(size_t vectors, size_t head_dim);
  SoftmaxState state() { return {largest_.data(), sum_.data(), values_.data()}; }

 private:
  std::vector<float> largest_, sum_;  // [vectors]
  std::vector<float> values_;         // [vectors, padded_dim(head_dim)]
};

// Buffers are kept from tile to tile: one object a thread.
class AttendTile {
 public:
  // Vector v is head v % share of the KV head's group in entry v / share.
  void set_queries(const AttendArgs& args, int kv_head, std::span<const AttendEntry> entries);

  // Softmax over the keys of `pages`, alone. REQUIRES: all entries' segments have this memory
  // there; where keys are turned, they are one segment.
  SoftmaxState attend(PageRange pages);

  size_t vectors() const { return vectors_; }

 private:
  void attend_page(const Segment& memory, int page, int tokens, uint32_t any);
  void prefetch_page(const Segment& memory, int page) const;
  const float* values(const KvLayout& layout, const std::byte* page, int count, uint32_t any);

  const AttendArgs* args_ = nullptr;
  std::span<const AttendEntry> entries_;
  int kv_head_ = 0;
  size_t share_ = 1, dim_ = 0, padded_ = 0, vectors_ = 0;
  std::vector<float> queries_;      // [vectors, head_dim] turned back, times the scale
  std::vector<float> weights_;      // [vectors, kPageTokens]
  std::vector<uint32_t> visible_;   // [entries]
  std::vector<int32_t> positions_;  // [entries]
  std::vector<float> rows_;         // [kPageTokens, head_dim] a page's K or V as floats
  std::vector<float> transposed_;   // [head_dim, kPageTokens]
  std::vector<float> page_values_;  // [kPageTokens, padded_dim(head_dim)]
  SoftmaxSums sums_;
};

}  // namespace looseleaf

// Random segments and queries for tests of the attention operation.
#pragma once

#include <random>
#include <vector>

#include "compute/cpu/kv_codec.h"
#include "compute/device.h"

namespace looseleaf {

inline std::vector<float> random_floats(size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = normal(random);
  return values;
}

// Random keys and values of `count` tokens, and a segment over them in the host's memory. Every
// byte that no token fills is poisoned with NaNs (0xFF), so that a read of it shows.
class SegmentData {
 public:
  SegmentData(const KvLayout& layout, int count, std::mt19937& random) : layout_(layout) {
    const auto page_bytes = static_cast<size_t>(layout.page_bytes());
    for (int p = 0; p < pages_for(count); ++p) {
      memory_.emplace_back(page_bytes, std::byte{0xFF});
      pages_.push_back(memory_.back().data());
    }
    for (int layer = 0; layer < layout.layers; ++layer) {
      keys_.push_back(random_floats(static_cast<size_t>(count) * row_floats(), random));
      values_.push_back(random_floats(static_cast<size_t>(count) * row_floats(), random));
      for (int t = 0; t < count; ++t)
        for (int head = 0; head < layout.kv_heads; ++head) {
          std::byte* page = pages_[static_cast<size_t>(t / kPageTokens)];
          const size_t at = static_cast<size_t>(t) * row_floats() +
                            static_cast<size_t>(head) * static_cast<size_t>(layout.head_dim);
          store_kv(layout, page + layout.key_offset(layer, head), t % kPageTokens,
                   keys_.back().data() + at);
          store_kv(layout, page + layout.value_offset(layer, head), t % kPageTokens,
                   values_.back().data() + at);
        }
    }
    segment.layout = &layout_;
    segment.pages = pages_;
    segment.count = count;
  }
  SegmentData(const SegmentData&) = delete;

  // Binds the segment `shift` positions from where it was stored.
  void bind(int position, std::span<const double> frequencies, int shift) {
    segment.position = position;
    turn_.resize(2 * frequencies.size());
    rotary_angles(frequencies, shift, 1.0, turn_.data());
    segment.turn = turn_;
  }
  void set_positions(std::vector<int32_t> positions) {
    positions_ = std::move(positions);
    segment.positions = positions_;
  }
  void set_counts(std::vector<int32_t> counts) {
    counts_ = std::move(counts);
    segment.count_by_layer = counts_;
  }
  // Each token is stale in a layer with this probability.
  void make_stale(double probability, std::mt19937& random) {
    const auto words = static_cast<size_t>(Segment::stale_words(segment.count));
    stale_.assign(words * static_cast<size_t>(layout_.layers), 0);
    std::bernoulli_distribution stale(probability);
    for (int layer = 0; layer < layout_.layers; ++layer)
      for (int t = 0; t < segment.count; ++t)
        if (stale(random))
          stale_[static_cast<size_t>(layer) * words + static_cast<size_t>(t / 64)] |= uint64_t{1}
                                                                                      << (t % 64);
    segment.stale = stale_;
  }

  Segment segment;

 protected:
  size_t row_floats() const { return static_cast<size_t>(layout_.kv_heads * layout_.head_dim); }

  KvLayout layout_;
  std::vector<std::vector<float>> keys_, values_;  // [layers] of [count, kv_heads, head_dim]

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> pages_;
  std::vector<float> turn_;
  std::vector<int32_t> positions_, counts_;
  std::vector<uint64_t> stale_;
};

}  // namespace looseleaf

// What tests of attention attend over: segments of every kind, seen by two groups of rows.
#pragma once

#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "devices.h"

namespace looseleaf {

struct AttendShape {
  const char* name;
  int heads, kv_heads, head_dim, rotary_dims;
  RopePairs pairs;
};

inline constexpr AttendWay kWays[] = {AttendWay::kRequestMajor, AttendWay::kRotateKeys,
                                      AttendWay::kDeferred};

inline AttendArgs arguments(const AttendShape& shape) {
  AttendArgs args;
  args.heads = shape.heads;
  args.kv_heads = shape.kv_heads;
  args.head_dim = shape.head_dim;
  args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
  args.rotary_dims = shape.rotary_dims;
  args.pairs = shape.pairs;
  return args;
}

inline std::vector<double> some_frequencies(int rotary_dims) {
  std::vector<double> frequencies(static_cast<size_t>(rotary_dims / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.3, double(j));
  return frequencies;
}

// Of a test over devices, KV types, head sizes and windows.
inline std::string type_size_window_name(
    const testing::TestParamInfo<std::tuple<const char*, std::tuple<KvType, int, int>>>& info) {
  const auto& [type, size, window] = std::get<1>(info.param);
  return std::string(std::get<0>(info.param)) + "_" + std::string(kv_type_name(type)) +
         std::to_string(size) + "Window" + std::to_string(window);
}

// Log-sum-exps of queries rounded to bf16, some of them of one key only: the first `written`, of
// the rows that are active; the others are poison still.
inline void expect_lse(const std::vector<float>& lse, const std::vector<double>& expected,
                       int written) {
  for (size_t i = 0; i < lse.size(); ++i) {
    if (i >= static_cast<size_t>(written)) {
      ASSERT_TRUE(std::isnan(lse[i])) << "of an inactive row: " << i;
    } else if (std::isinf(expected[i])) {
      ASSERT_EQ(lse[i], expected[i]) << i;
    } else {
      ASSERT_NEAR(lse[i], expected[i], 3e-2) << i;
    }
  }
}

// Header, two bindings of one chunk (one with stale tokens), an overlay with counts by layer, a
// gathered segment, and the rows' own text; two groups that see different parts.
class Scene {
 public:
  struct Options {
    int chunk, overlay, deep_overlay, own;  // tokens; deep: what the overlay has in layer 1
    bool mass;                              // is wanted of each document token
  };
  static constexpr int kHeader = 5, kGathered = 33, kFar = 90000;

  Scene(Device& device, const KvLayout& chunk_layout, const KvLayout& text_layout,
        const Options& options, int rotary_dims, std::mt19937& random)
      : header_(device, text_layout, kHeader, random),
        chunk_(device, chunk_layout, options.chunk, random),
        overlay_(device, text_layout, options.overlay, random),
        gathered_(device, text_layout, kGathered, random),
        own_(device, text_layout, options.own, random) {
    const std::vector<double> frequencies = some_frequencies(rotary_dims);
    chunk_.bind(kFar, frequencies, kFar);
    far_turn_.assign(chunk_.segment.turn.begin(), chunk_.segment.turn.end());
    far_ = {chunk_.on_host(), chunk_.on_device()};
    for (Segment& segment : far_) segment.turn = far_turn_;
    chunk_.make_stale(0.4, random);
    chunk_.bind(kHeader, frequencies, kHeader);
    own_.segment.position = kFar + options.chunk;
    std::uniform_int_distribution<int> anywhere(0, own_.segment.position + 30);
    const auto scattered = [&](int count) {
      std::vector<int32_t> positions(static_cast<size_t>(count));
      for (int32_t& p : positions) p = anywhere(random);
      return positions;
    };
    overlay_.set_positions(scattered(options.overlay));
    overlay_.set_counts({options.overlay, options.deep_overlay});
    gathered_.set_positions(scattered(kGathered));
    const int after_far = 2 * options.chunk, after_overlay = after_far + options.overlay;
    all_ = {{0},
            {1, kNoLimit, 0},
            {2, kNoLimit, options.chunk},
            {3, kNoLimit, after_far},
            {4, 45000, after_overlay},
            {5}};
    some_ = {{1, kNoLimit, 0}, {3, 70000, after_far}, {5}};
    if (!options.mass)
      for (auto* uses : {&all_, &some_})
        for (SegmentUse& use : *uses) use.mass = -1;
    mass_places_ = static_cast<size_t>(after_overlay + kGathered);
  }

  int own_position() const { return own_.segment.position; }
  size_t mass_places() const { return mass_places_; }
  // Of rows of the own text, but for one inside the first binding and one that sees nothing.
  // REQUIRES: rows > 4, a chunk of more than 300 tokens.
  std::vector<int32_t> positions(int rows) const {
    std::vector<int32_t> positions(static_cast<size_t>(rows));
    std::iota(positions.begin(), positions.end(), own_position());
    std::swap(positions.front(), positions.back());  // the last token comes first in a pass
    positions[3] = 300;
    positions[4] = -1;
    return positions;
  }

  // Every third row sees some of it, the others all.
  std::vector<RowGroup> groups(int rows) {
    for (int r = 0; r < rows; ++r) (r % 3 == 0 ? third_ : others_).push_back(r);
    return {{others_, all_}, {third_, some_}};
  }
  std::vector<Segment> on_host() const {
    return {header_.on_host(),  chunk_.on_host(),    far_[0],
            overlay_.on_host(), gathered_.on_host(), own_.on_host()};
  }
  std::vector<Segment> on_device() const {
    return {header_.on_device(),  chunk_.on_device(),    far_[1],
            overlay_.on_device(), gathered_.on_device(), own_.on_device()};
  }

 private:
  BothSegments header_, chunk_, overlay_, gathered_, own_;
  std::vector<float> far_turn_;
  std::array<Segment, 2> far_;  // the second binding: on the host, on the device
  std::vector<SegmentUse> all_, some_;
  std::vector<int32_t> others_, third_;
  size_t mass_places_ = 0;
};

}  // namespace looseleaf

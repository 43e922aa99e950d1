// The attention operation of every device against its definition in float64: types x head sizes x
// segments x stale bits x windows, fresh random inputs each run, outputs poisoned before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "compute/cpu/cpu_device.h"
#include "devices.h"

namespace looseleaf {
namespace {

struct Shape {
  const char* name;
  int heads, kv_heads, head_dim, rotary_dims;
  RopePairs pairs;
};

struct AttendCase {
  KvType type;
  Shape shape;
  int window;
  bool alibi;
};

constexpr Shape kShapes[] = {
    {"Smol", 9, 3, 64, 64, RopePairs::kAdjacent},    {"Wide", 4, 1, 128, 128, RopePairs::kHalves},
    {"Phi", 4, 4, 96, 96, RopePairs::kHalves},       {"Widest", 8, 1, 256, 64, RopePairs::kHalves},
    {"Odd", 3, 3, 20, 12, RopePairs::kHalves},  // not a multiple of any vector; partial rotary
    {"Eighty", 20, 1, 80, 32, RopePairs::kAdjacent}, {"Uneven", 2, 1, 33, 32, RopePairs::kHalves},
    {"Tiny", 2, 1, 2, 2, RopePairs::kAdjacent},
};
constexpr KvType kTypes[] = {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0,
                             KvType::kFP8};

constexpr AttendWay kWays[] = {AttendWay::kRequestMajor, AttendWay::kRotateKeys,
                               AttendWay::kDeferred};

std::vector<AttendCase> all_cases() {
  std::vector<AttendCase> cases;
  for (const KvType type : kTypes)
    for (const Shape& shape : kShapes)
      for (const int window : {0, 1, 37})
        for (const bool alibi : {false, true})
          if (!alibi || window == 0) cases.push_back({type, shape, window, alibi});
  return cases;
}

AttendArgs arguments(const Shape& shape) {
  AttendArgs args;
  args.heads = shape.heads;
  args.kv_heads = shape.kv_heads;
  args.head_dim = shape.head_dim;
  args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
  args.rotary_dims = shape.rotary_dims;
  args.pairs = shape.pairs;
  return args;
}

std::vector<double> some_frequencies(int rotary_dims) {
  std::vector<double> frequencies(static_cast<size_t>(rotary_dims / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.3, double(j));
  return frequencies;
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

class DeviceAttend : public DeviceTest<AttendCase> {};

TEST_P(DeviceAttend, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto& [type, shape, window, alibi] = param();
  constexpr int kLayers = 2;
  const KvLayout chunk_layout{type, kLayers, shape.kv_heads, shape.head_dim};
  const KvLayout text_layout{KvType::kF32, kLayers, shape.kv_heads, shape.head_dim};
  Scene scene(*device_, chunk_layout, text_layout,
              {.chunk = 70, .overlay = 40, .deep_overlay = 21, .own = 67, .mass = true},
              shape.rotary_dims, random_);

  constexpr int kRows = 70;
  std::vector<int32_t> positions(kRows);
  for (int r = 0; r < kRows; ++r)
    positions[static_cast<size_t>(r)] = scene.own_position() + (r * 37) % 67;
  positions[3] = 12;  // inside the first binding
  positions[4] = -1;  // sees nothing
  const std::vector<RowGroup> groups = scene.groups(kRows);
  const std::vector<Segment> on_host = scene.on_host(), on_device = scene.on_device();

  AttendArgs args = arguments(shape);
  args.window = window;
  args.groups = groups;
  args.positions = positions;
  std::vector<float> slopes(static_cast<size_t>(shape.heads));
  for (size_t h = 0; h < slopes.size(); ++h) slopes[h] = std::pow(0.5f, static_cast<float>(h + 1));
  if (alibi) args.alibi = slopes;
  const size_t row_heads = size_t{kRows} * static_cast<size_t>(shape.heads);
  const auto values = row_heads * static_cast<size_t>(shape.head_dim);
  const std::vector<float> query = random_floats(values, random_);
  const DeviceFloats query_there(*device_, query);

  for (int layer = 0; layer < kLayers; ++layer) {
    args.layer = layer;
    args.active = layer == 0 ? kRows : 41;
    std::vector<double> expected(values), expected_lse(row_heads);
    args.segments = on_host;
    args.query = query.data();
    attend_reference(args, expected.data(), expected_lse.data());
    // Scores are sums of head_dim products of normals, a few units large, in float32; a score's
    // error enters exp() as a relative error. Values are normals.
    const double tolerance = 64 * 6e-8 * std::sqrt(shape.head_dim) + (alibi ? 3e-3 : 2e-5);
    const float poison = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> no_lse(row_heads, poison);
    const DeviceFloats lse_there(*device_, no_lse);
    args.lse = lse_there.data();
    for (const AttendWay way : kWays) {
      SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
      const DeviceFloats out_there(*device_, std::vector<float>(values, poison));
      device_->upload(lse_there.data(), no_lse.data(), row_heads * sizeof(float));
      args.way = way;
      args.segments = on_device;
      args.query = query_there.data();
      args.out = out_there.data();
      device_->attend(args);
      const std::vector<float> out = out_there.read(), lse = lse_there.read();
      for (int r = 0; r < kRows; ++r)
        for (int h = 0; h < shape.heads; ++h) {
          const auto at = static_cast<size_t>(r * shape.heads + h);
          if (r >= args.active) {
            ASSERT_TRUE(std::isnan(lse[at])) << "an inactive row was written: " << r;
            continue;
          }
          if (std::isinf(expected_lse[at])) {
            ASSERT_EQ(lse[at], expected_lse[at]) << "row " << r;
          } else {
            ASSERT_NEAR(lse[at], expected_lse[at], tolerance) << "row " << r << " head " << h;
          }
          for (int d = 0; d < shape.head_dim; ++d) {
            const size_t i = at * static_cast<size_t>(shape.head_dim) + static_cast<size_t>(d);
            ASSERT_NEAR(out[i], expected[i], tolerance) << "row " << r << " head " << h;
          }
        }
    }

    // Both groups add to what is there. Each of a sum's terms is off by a score's and an lse's
    // error.
    const DeviceFloats mass_there(*device_, std::vector<float>(scene.mass_places(), 1.0f));
    args.segments = on_device;
    args.query = query_there.data();
    args.mass = mass_there.data();
    device_->attend_mass(args);
    const std::vector<float> mass = mass_there.read();
    std::vector<double> expected_mass(scene.mass_places());
    args.segments = on_host;
    args.query = query.data();
    attend_mass_reference(args, expected_lse.data(), expected_mass.data());
    for (size_t i = 0; i < mass.size(); ++i)
      ASSERT_NEAR(mass[i] - 1, expected_mass[i], 2 * tolerance * expected_mass[i] + 1e-5)
          << "place " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceAttend,
                         testing::Combine(testing::ValuesIn(kDevices),
                                          testing::ValuesIn(all_cases())),
                         [](const auto& info) {
                           const auto& c = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::string(kv_type_name(c.type)) + c.shape.name + "Window" +
                                  std::to_string(c.window) + (c.alibi ? "Alibi" : "");
                         });

// One new row a request over long segments: what decode is. Some devices cut the keys into parts,
// and take another kernel for bf16.
class DeviceDecode : public DeviceTest<std::tuple<KvType, int>> {};

TEST_P(DeviceDecode, MatchesTheReferenceAloneAndAmongOthers) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto [type, dim] = param();
  const Shape shape{"", 8, 2, dim, dim, RopePairs::kHalves};
  const KvLayout layout{type, 2, shape.kv_heads, dim};
  const std::vector<double> frequencies = some_frequencies(dim);
  BothSegments hot(*device_, layout, 1100, random_), cold(*device_, layout, 77, random_);
  BothSegments text(*device_, layout, 1, random_), other_text(*device_, layout, 45, random_);
  hot.bind(7, frequencies, 7);
  const std::vector<float> far_turn = [&] {
    std::vector<float> turn(frequencies.size() * 2);
    rotary_angles(frequencies, 2000, 1.0, turn.data());
    return turn;
  }();
  cold.bind(1107, frequencies, 1107);
  text.segment.position = 1184;
  other_text.segment.position = 3100;
  const auto segments = [&](bool host) {
    std::vector<Segment> list;
    for (const BothSegments* s : {&hot, &cold, &text, &hot, &other_text})
      list.push_back(host ? s->on_host() : s->on_device());
    list[3].position = 2000;
    list[3].turn = far_turn;
    return list;
  };
  const std::vector<Segment> on_host = segments(true), on_device = segments(false);
  const std::vector<int32_t> positions = {1184, 3144, 5};  // the last sees nothing
  const std::vector<int32_t> rows[3] = {{0}, {1}, {2}};
  const std::vector<SegmentUse> uses[3] = {{{0}, {1}, {2}}, {{3}, {4}}, {}};
  const std::vector<RowGroup> groups = {{rows[0], uses[0]}, {rows[1], uses[1]}, {rows[2], uses[2]}};
  const size_t values = 3 * 8 * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(values, random_);
  const DeviceFloats query_there(*device_, query);
  AttendArgs args = arguments(shape);
  args.layer = 1;
  args.groups = groups;
  args.positions = positions;
  args.active = 3;
  std::vector<double> expected(values), lse(3 * 8);
  args.segments = on_host;
  args.query = query.data();
  attend_reference(args, expected.data(), lse.data());

  args.segments = on_device;
  args.query = query_there.data();
  const auto run = [&](std::span<const RowGroup> which, AttendWay way) {
    const DeviceFloats out(*device_, std::vector<float>(values, std::nanf("")));
    args.groups = which;
    args.way = way;
    args.out = out.data();
    device_->attend(args);
    return out.read();
  };
  const std::vector<float> together = run(groups, AttendWay::kDeferred);
  // Heads of 64 and 128 may be multiplied in bf16, fp8 ones with two e4m3 codes a query's and a
  // weight's number, which are as exact; values are means of many normals.
  const bool narrow = type != KvType::kF32 && type != KvType::kF16;
  const double tolerance = narrow && dim % 64 == 0 ? 8e-3 : 3e-5;
  for (size_t i = 0; i < values; ++i) ASSERT_NEAR(together[i], expected[i], tolerance) << i;
  for (const AttendWay way : kWays) {
    const std::vector<float> got = run(groups, way);
    for (size_t i = 0; i < values; ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance) << i << " way " << static_cast<int>(way);
  }
  const std::vector<float> alone = run(std::span(groups).subspan(1, 1), AttendWay::kDeferred);
  const size_t row = 8 * static_cast<size_t>(dim);
  for (size_t i = row; i < 2 * row; ++i) ASSERT_NEAR(alone[i], together[i], tolerance) << i;
}

INSTANTIATE_TEST_SUITE_P(All, DeviceDecode,
                         testing::Combine(testing::ValuesIn(kDevices),
                                          testing::Combine(testing::ValuesIn(kTypes),
                                                           testing::Values(64, 128, 96))),
                         [](const auto& info) {
                           const auto& c = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::string(kv_type_name(std::get<0>(c))) +
                                  std::to_string(std::get<1>(c));
                         });

// Many rows, keys and values in bf16 or coarser types: some devices multiply these in bf16, by
// another kernel.
class DevicePrefill : public DeviceTest<std::tuple<KvType, int, int>> {};

TEST_P(DevicePrefill, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto [type, dim, window] = param();
  const Shape shape{"", 4, 2, dim, dim, RopePairs::kHalves};
  const KvLayout chunk_layout{type, 2, shape.kv_heads, dim};
  const KvLayout text_layout{KvType::kBF16, 2, shape.kv_heads, dim};
  Scene scene(*device_, chunk_layout, text_layout,
              {.chunk = 617, .overlay = 140, .deep_overlay = 21, .own = 300, .mass = false}, dim,
              random_);

  constexpr int kRows = 300;
  std::vector<int32_t> positions(kRows);
  for (int r = 0; r < kRows; ++r) positions[static_cast<size_t>(r)] = scene.own_position() + r;
  std::swap(positions[0], positions[kRows - 1]);  // the last token comes first in a pass
  positions[3] = 300;                             // inside the first binding
  positions[4] = -1;                              // sees nothing
  const std::vector<RowGroup> groups = scene.groups(kRows);
  const std::vector<Segment> on_host = scene.on_host(), on_device = scene.on_device();
  AttendArgs args = arguments(shape);
  args.window = window;
  args.groups = groups;
  args.positions = positions;
  const size_t width = 4 * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(kRows * width, random_);
  const DeviceFloats query_there(*device_, query);
  for (int layer = 0; layer < 2; ++layer) {
    args.layer = layer;
    args.active = layer == 0 ? kRows : 171;
    std::vector<double> expected(kRows * width), lse(kRows * 4);
    args.segments = on_host;
    args.query = query.data();
    attend_reference(args, expected.data(), lse.data());
    for (const AttendWay way : kWays) {
      SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
      const DeviceFloats out_there(*device_, std::vector<float>(kRows * width, std::nanf("")));
      args.way = way;
      args.segments = on_device;
      args.query = query_there.data();
      args.out = out_there.data();
      device_->attend(args);
      const std::vector<float> out = out_there.read();
      double error = 0, norm = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        if (i >= static_cast<size_t>(args.active) * width) {
          ASSERT_TRUE(std::isnan(out[i])) << "an inactive row was written";
          continue;
        }
        ASSERT_TRUE(std::isfinite(out[i])) << "row " << i / width;
        if (std::isinf(lse[i / static_cast<size_t>(dim)])) {
          ASSERT_EQ(out[i], 0);
        }
        error += std::pow(out[i] - expected[i], 2);
        norm += std::pow(expected[i], 2);
      }
      // What rounding queries, weights and results to bf16 costs, and keys where they are turned;
      // one wrong row in 300 costs 6e-2.
      EXPECT_LT(std::sqrt(error / norm), 8e-3) << "layer " << layer;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DevicePrefill,
    testing::Combine(testing::ValuesIn(kDevices),
                     testing::Combine(testing::Values(KvType::kBF16, KvType::kFP8, KvType::kQ8_0),
                                      testing::Values(64, 128), testing::Values(0, 37, 1000))),
    [](const auto& info) {
      const auto& c = std::get<1>(info.param);
      return std::string(std::get<0>(info.param)) + "_" +
             std::string(kv_type_name(std::get<0>(c))) + std::to_string(std::get<1>(c)) + "Window" +
             std::to_string(std::get<2>(c));
    });

}  // namespace
}  // namespace looseleaf

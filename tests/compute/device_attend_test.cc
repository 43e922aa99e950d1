// The attention operation of every device against its definition in float64: types x head sizes x
// segments x stale bits x windows, fresh random inputs each run, outputs poisoned before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend_scene.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

struct AttendCase {
  KvType type;
  AttendShape shape;
  int window;
  bool alibi;
};

constexpr AttendShape kShapes[] = {
    {"Smol", 9, 3, 64, 64, RopePairs::kAdjacent},    {"Wide", 4, 1, 128, 128, RopePairs::kHalves},
    {"Phi", 4, 4, 96, 96, RopePairs::kHalves},       {"Widest", 8, 1, 256, 64, RopePairs::kHalves},
    {"Odd", 3, 3, 20, 12, RopePairs::kHalves},  // not a multiple of any vector; partial rotary
    {"Eighty", 20, 1, 80, 32, RopePairs::kAdjacent}, {"Uneven", 2, 1, 33, 32, RopePairs::kHalves},
    {"Tiny", 2, 1, 2, 2, RopePairs::kAdjacent},
};
constexpr KvType kTypes[] = {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0,
                             KvType::kFP8};

std::vector<AttendCase> all_cases() {
  std::vector<AttendCase> cases;
  for (const KvType type : kTypes)
    for (const AttendShape& shape : kShapes)
      for (const int window : {0, 1, 37})
        for (const bool alibi : {false, true})
          if (!alibi || window == 0) cases.push_back({type, shape, window, alibi});
  return cases;
}

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
  const AttendShape shape{"", 8, 2, dim, dim, RopePairs::kHalves};
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
  const AttendShape shape{"", 4, 2, dim, dim, RopePairs::kHalves};
  const KvLayout chunk_layout{type, 2, shape.kv_heads, dim};
  const KvLayout text_layout{KvType::kBF16, 2, shape.kv_heads, dim};
  Scene scene(*device_, chunk_layout, text_layout,
              {.chunk = 617, .overlay = 140, .deep_overlay = 21, .own = 300, .mass = false}, dim,
              random_);

  constexpr int kRows = 300;
  const std::vector<int32_t> positions = scene.positions(kRows);
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
      const DeviceFloats lse_there(*device_, std::vector<float>(kRows * 4, std::nanf("")));
      args.way = way;
      args.segments = on_device;
      args.query = query_there.data();
      args.out = out_there.data();
      args.lse = lse_there.data();
      device_->attend(args);
      const std::vector<float> out = out_there.read();
      expect_lse(lse_there.read(), lse, args.active * args.heads);
      const size_t written = static_cast<size_t>(args.active) * width;
      for (size_t i = 0; i < out.size(); ++i) {
        if (i >= written) {
          ASSERT_TRUE(std::isnan(out[i])) << "an inactive row was written";
          continue;
        }
        ASSERT_TRUE(std::isfinite(out[i])) << "row " << i / width;
        if (std::isinf(lse[i / static_cast<size_t>(dim)])) {
          ASSERT_EQ(out[i], 0);
        }
      }
      // What rounding queries, weights and results to bf16 costs, and keys where they are turned;
      // one wrong row in 300 costs 6e-2.
      EXPECT_LT(relative_error(std::span(out).first(written), expected), 8e-3) << "layer " << layer;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DevicePrefill,
    testing::Combine(testing::ValuesIn(kDevices),
                     testing::Combine(testing::Values(KvType::kBF16, KvType::kFP8, KvType::kQ8_0),
                                      testing::Values(64, 128), testing::Values(0, 37, 1000))),
    type_size_window_name);

}  // namespace
}  // namespace looseleaf

// Attention given to each key, over keys in bf16 or coarser types: some devices multiply these in
// bf16, by another kernel. DeviceAttend has the other types and shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "attend_scene.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

// Adds to what is there, as all groups of a pass do.
std::vector<float> mass_of(Device& device, AttendArgs& args, size_t places) {
  const DeviceFloats there(device, std::vector<float>(places, 1.0f));
  args.mass = there.data();
  device.attend_mass(args);
  std::vector<float> mass = there.read();
  for (float& m : mass) m -= 1;
  return mass;
}

// A score is off by what rounding its query costs, and so is the row's log-sum-exp.
void expect_mass(const std::vector<float>& mass, const std::vector<double>& expected) {
  for (size_t i = 0; i < mass.size(); ++i)
    ASSERT_NEAR(mass[i], expected[i], 4e-2 * expected[i] + 1e-5) << "place " << i;
  EXPECT_LT(relative_error(mass, expected), 8e-3);
}

class DeviceMass : public DeviceTest<std::tuple<KvType, int, int>> {};

TEST_P(DeviceMass, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto [type, dim, window] = param();
  // Tiles of 128 vectors end inside a row's three.
  const AttendShape shape{"", 6, 2, dim, dim, RopePairs::kHalves};
  const KvLayout chunk_layout{type, 2, shape.kv_heads, dim};
  const KvLayout text_layout{KvType::kBF16, 2, shape.kv_heads, dim};
  Scene scene(*device_, chunk_layout, text_layout,
              {.chunk = 617, .overlay = 140, .deep_overlay = 21, .own = 90, .mass = true}, dim,
              random_);
  constexpr int kRows = 90;
  std::vector<int32_t> positions = scene.positions(kRows);
  positions[5] = Scene::kFar + 200;  // inside the second binding
  const std::vector<RowGroup> groups = scene.groups(kRows);
  const std::vector<Segment> on_host = scene.on_host(), on_device = scene.on_device();
  AttendArgs args = arguments(shape);
  args.window = window;
  args.groups = groups;
  args.positions = positions;
  const size_t row_heads = kRows * 6, values = row_heads * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(values, random_);
  const DeviceFloats query_there(*device_, query), out_there(*device_, values);
  for (int layer = 0; layer < 2; ++layer) {
    args.layer = layer;
    args.active = layer == 0 ? kRows : 41;
    std::vector<double> out(values), lse(row_heads), expected(scene.mass_places());
    args.segments = on_host;
    args.query = query.data();
    attend_reference(args, out.data(), lse.data());
    attend_mass_reference(args, lse.data(), expected.data());
    const DeviceFloats lse_there(*device_, std::vector<float>(row_heads, std::nanf("")));
    args.segments = on_device;
    args.query = query_there.data();
    args.out = out_there.data();
    args.lse = lse_there.data();
    device_->attend(args);
    expect_lse(lse_there.read(), lse, args.active * args.heads);
    const std::vector<float> mass = mass_of(*device_, args, expected.size());
    expect_mass(mass, expected);
    // One owner and one order for each key's sum.
    EXPECT_EQ(mass_of(*device_, args, expected.size()), mass);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceMass,
    testing::Combine(testing::ValuesIn(kDevices),
                     testing::Combine(testing::Values(KvType::kBF16, KvType::kFP8, KvType::kQ8_0),
                                      testing::Values(64, 128), testing::Values(0, 37, 1000))),
    type_size_window_name);

// Many keys for few rows: some devices cut them into pieces that their blocks take in turns. Layers
// of one pass share what follows from the segments.
class DeviceMassOfMany : public DeviceTest<int> {};

TEST_P(DeviceMassOfMany, MatchesTheReferenceInEachLayer) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const int dim = param();
  const AttendShape shape{"", 8, 8, dim, dim, RopePairs::kHalves};
  const KvLayout layout{KvType::kBF16, 2, shape.kv_heads, dim};
  constexpr int kTokens = 1990, kBindings = 18, kRows = 2;
  BothSegments chunk(*device_, layout, kTokens, random_);
  const std::vector<double> frequencies = some_frequencies(dim);
  std::vector<std::vector<float>> turns;
  std::vector<Segment> on_host, on_device;
  std::vector<SegmentUse> uses;
  for (int b = 0; b < kBindings; ++b) {
    turns.emplace_back(frequencies.size() * 2);
    rotary_angles(frequencies, b * kTokens, 1.0, turns.back().data());
    uses.push_back({b, kNoLimit, b * kTokens});
    for (auto* segments : {&on_host, &on_device}) {
      segments->push_back(segments == &on_host ? chunk.on_host() : chunk.on_device());
      segments->back().position = b * kTokens;
    }
  }
  for (size_t b = 0; b < turns.size(); ++b) on_host[b].turn = on_device[b].turn = turns[b];
  const std::vector<int32_t> rows = {0, 1};
  const std::vector<int32_t> positions = {kBindings * kTokens - 700, kBindings * kTokens + 5};
  const RowGroup group{rows, uses};
  AttendArgs args = arguments(shape);
  args.groups = {&group, 1};
  args.positions = positions;
  args.active = kRows;
  args.pass = 1000 + static_cast<uint64_t>(dim);  // no other test's
  const size_t row_heads = kRows * 8, values = row_heads * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(values, random_);
  const DeviceFloats query_there(*device_, query), out_there(*device_, values),
      lse_there(*device_, row_heads);
  for (args.layer = 0; args.layer < 2; ++args.layer) {
    std::vector<double> out(values), lse(row_heads), expected(size_t{kBindings} * kTokens);
    args.segments = on_host;
    args.query = query.data();
    attend_reference(args, out.data(), lse.data());
    attend_mass_reference(args, lse.data(), expected.data());
    args.segments = on_device;
    args.query = query_there.data();
    args.out = out_there.data();
    args.lse = lse_there.data();
    device_->attend(args);
    expect_lse(lse_there.read(), lse, kRows * 8);
    expect_mass(mass_of(*device_, args, expected.size()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceMassOfMany,
                         testing::Combine(testing::ValuesIn(kDevices), testing::Values(64, 128)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace looseleaf

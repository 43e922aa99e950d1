// Many rows over runs of short chunks, which some devices bring together before they attend.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "compute/cpu/cpu_device.h"
#include "devices.h"

namespace looseleaf {
namespace {

class DeviceShortChunks : public DeviceTest<int> {};

TEST_P(DeviceShortChunks, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const int dim = param();
  constexpr int kHeads = 8, kRows = 300;
  const KvLayout layout{KvType::kBF16, 2, 2, dim};
  std::vector<double> frequencies(static_cast<size_t>(dim / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.8, double(j));
  std::vector<std::unique_ptr<BothSegments>> parts;
  std::vector<SegmentUse> uses;
  int position = 0;
  // A header, a run, a long chunk, a run with a gap in it, one short chunk alone, the rows' text.
  for (const int count :
       {5, 20, 150, 100, 33, 192, 1, 500, 90, 40, -7, 64, 64, 700, 30, -2, kRows}) {
    if (count < 0) {
      position -= count;
      continue;
    }
    parts.push_back(std::make_unique<BothSegments>(*device_, layout, count, random_));
    const bool turned = position > 0 && count != kRows;
    if (turned)
      parts.back()->bind(position, frequencies, position);
    else
      parts.back()->segment.position = position;
    uses.push_back({static_cast<int32_t>(uses.size())});
    position += count;
  }
  std::vector<int32_t> rows(kRows), positions(kRows);
  for (int r = 0; r < kRows; ++r) {
    rows[static_cast<size_t>(r)] = r;
    positions[static_cast<size_t>(r)] = position - kRows + r;
  }
  positions[7] = 130;  // inside a run
  std::vector<Segment> on_host, on_device;
  for (const auto& part : parts) {
    on_host.push_back(part->on_host());
    on_device.push_back(part->on_device());
  }
  const RowGroup group{rows, uses};
  AttendArgs args;
  args.heads = kHeads;
  args.kv_heads = layout.kv_heads;
  args.head_dim = args.rotary_dims = dim;
  args.scale = 1 / std::sqrt(static_cast<float>(dim));
  args.groups = {&group, 1};
  args.positions = positions;
  args.active = kRows;
  args.pass = 1 + static_cast<uint64_t>(dim);
  const size_t count = size_t{kRows} * kHeads * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(count, random_);
  const DeviceFloats query_there(*device_, query);
  for (args.layer = 0; args.layer < 2; ++args.layer) {
    std::vector<double> expected(count), lse(size_t{kRows} * kHeads);
    args.segments = on_host;
    args.query = query.data();
    attend_reference(args, expected.data(), lse.data());
    const DeviceFloats out_there(*device_, std::vector<float>(count, std::nanf("")));
    args.segments = on_device;
    args.query = query_there.data();
    args.out = out_there.data();
    device_->attend(args);
    const std::vector<float> out = out_there.read();
    for (size_t i = 0; i < count; ++i)
      ASSERT_TRUE(std::isfinite(out[i])) << "row " << i / (kHeads * static_cast<size_t>(dim));
    // As for DevicePrefill: bf16 in place of float32.
    EXPECT_LT(relative_error(out, expected), 8e-3) << "layer " << args.layer;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceShortChunks,
                         testing::Combine(testing::ValuesIn(kDevices), testing::Values(64, 128)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace looseleaf

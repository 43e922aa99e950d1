// Decode steps of many requests that share chunks, on every device against attention by its
// definition in float64: chunks of any length at places of their own, text in another type.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "compute/cpu/cpu_device.h"
#include "devices.h"

namespace looseleaf {
namespace {

struct Types {
  KvType chunks, text;
};

class DeviceSharedDecode : public DeviceTest<std::tuple<Types, int>> {};

TEST_P(DeviceSharedDecode, MatchesTheReference) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const auto [types, dim] = param();
  // Four vectors a request and KV head: more than one tile of 64 for a chunk that all use.
  constexpr int kRequests = 21, kHeads = 8, kKvHeads = 2;
  const KvLayout chunk_layout{types.chunks, 2, kKvHeads, dim};
  const KvLayout text_layout{types.text, 2, kKvHeads, dim};
  std::vector<double> frequencies(static_cast<size_t>(dim / 2));
  for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.8, double(j));

  std::vector<std::unique_ptr<BothSegments>> chunks, texts;
  for (const int tokens : {1, 31, 32, 33, 64, 97, 500})
    chunks.push_back(std::make_unique<BothSegments>(*device_, chunk_layout, tokens, random_));
  std::vector<std::vector<float>> turns;
  turns.reserve(kRequests * chunks.size());  // segments point into them
  std::vector<Segment> on_host, on_device;
  std::vector<std::vector<int32_t>> rows;
  std::vector<std::vector<SegmentUse>> uses;
  std::vector<int32_t> positions;
  const auto add = [&](Segment host, Segment there, int position) {
    host.position = there.position = position;
    uses.back().push_back({static_cast<int32_t>(on_host.size())});
    on_host.push_back(host);
    on_device.push_back(there);
  };
  for (int r = 0; r < kRequests; ++r) {
    rows.push_back({r});
    uses.emplace_back();
    int at = r * 531;
    for (size_t c = 0; c < chunks.size(); ++c) {
      // All use the longest; the rest is used by some, in another order each.
      const size_t which = (c * 3 + static_cast<size_t>(r)) % chunks.size();
      if (which + 1 < chunks.size() && random_() % 3 == 0) continue;
      Segment host = chunks[which]->on_host(), there = chunks[which]->on_device();
      if (r > 0) {
        turns.emplace_back(frequencies.size() * 2);
        rotary_angles(frequencies, at, 1.0, turns.back().data());
        host.turn = there.turn = turns.back();
      }
      add(host, there, at);
      at += host.count;
    }
    texts.push_back(std::make_unique<BothSegments>(*device_, text_layout, 1 + r * 7 % 70, random_));
    add(texts.back()->on_host(), texts.back()->on_device(), at);
    positions.push_back(at + texts.back()->segment.count - 1);
  }
  std::vector<RowGroup> groups;
  for (size_t r = 0; r < kRequests; ++r) groups.push_back({rows[r], uses[r]});
  const size_t values = size_t{kRequests} * kHeads * static_cast<size_t>(dim);
  const std::vector<float> query = random_floats(values, random_);
  const DeviceFloats query_there(*device_, query);
  const DeviceFloats out_there(*device_, std::vector<float>(values, std::nanf("")));
  AttendArgs args;
  args.layer = 1;
  args.heads = kHeads;
  args.kv_heads = kKvHeads;
  args.head_dim = args.rotary_dims = dim;
  args.pairs = RopePairs::kHalves;
  args.scale = 1 / std::sqrt(static_cast<float>(dim));
  args.groups = groups;
  args.positions = positions;
  args.active = kRequests;
  args.segments = on_device;
  args.query = query_there.data();
  args.out = out_there.data();
  device_->attend(args);
  const std::vector<float> out = out_there.read();

  std::vector<double> expected(values), lse(size_t{kRequests} * kHeads);
  args.segments = on_host;
  args.query = query.data();
  attend_reference(args, expected.data(), lse.data());
  // Tensor cores take queries and weights with errors of 2^-8 of themselves (bf16, or two e4m3
  // codes), and results are rounded to bf16. Half of one request's chunks at a wrong place, or
  // scales of neighbours, cost more than ten times that.
  for (size_t i = 0; i < values; ++i) {
    ASSERT_TRUE(std::isfinite(out[i])) << "row " << i / (kHeads * static_cast<size_t>(dim));
    ASSERT_NEAR(out[i], expected[i], 3e-2) << i;
  }
  EXPECT_LT(relative_error(out, expected), 8e-3);
}

INSTANTIATE_TEST_SUITE_P(
    All, DeviceSharedDecode,
    testing::Combine(testing::ValuesIn(kDevices),
                     testing::Combine(testing::Values(Types{KvType::kBF16, KvType::kBF16},
                                                      Types{KvType::kFP8, KvType::kFP8},
                                                      Types{KvType::kFP8, KvType::kBF16},
                                                      Types{KvType::kBF16, KvType::kFP8},
                                                      Types{KvType::kFP8, KvType::kF32}),
                                      testing::Values(64, 128, 96))),
    [](const auto& info) {
      const auto& c = std::get<1>(info.param);
      return std::string(std::get<0>(info.param)) + "_" +
             std::string(kv_type_name(std::get<0>(c).chunks)) + "_" +
             std::string(kv_type_name(std::get<0>(c).text)) + "_" + std::to_string(std::get<1>(c));
    });

}  // namespace
}  // namespace looseleaf

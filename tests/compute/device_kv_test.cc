// Storing and moving keys and values on every device: the same stored values as the CPU's codec.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "compute/cpu/rotary.h"
#include "devices.h"

namespace looseleaf {
namespace {

class DeviceKv : public DeviceTest<KvType> {
 protected:
  // All tokens of a layer as floats, brought to f32 pages, which lie the same on every device.
  // [count][K, V][kv_heads][head_dim]
  std::vector<float> read(const BothSegments& from, const Segment& source, int layer,
                          int rotary_dims, RopePairs pairs) {
    const KvLayout stored = *source.layout;
    const KvLayout plain{KvType::kF32, stored.layers, stored.kv_heads, stored.head_dim};
    BothSegments target(*device_, plain, source.count, random_);
    std::vector<int32_t> tokens(static_cast<size_t>(source.count));
    std::iota(tokens.begin(), tokens.end(), 0);
    std::vector<KvSlot> slots;
    for (const int32_t t : tokens) slots.push_back(target.slot(t));
    Segment there = from.on_device();
    there.turn = source.turn;
    device_->gather({layer, rotary_dims, pairs, &there, tokens, slots});
    std::vector<float> values;
    for (const int32_t t : tokens) {
      std::vector<std::byte> page(static_cast<size_t>(plain.page_bytes()));
      device_->download(page.data(), target.slot(t).page, page.size());
      EXPECT_TRUE(device_->wait());
      append(plain, page.data(), layer, t % kPageTokens, values);
    }
    return values;
  }
  static void append(const KvLayout& layout, const std::byte* page, int layer, int slot,
                     std::vector<float>& values) {
    std::vector<float> row(static_cast<size_t>(layout.head_dim));
    for (const bool value : {false, true})
      for (int head = 0; head < layout.kv_heads; ++head) {
        load_kv(layout,
                page + (value ? layout.value_offset(layer, head) : layout.key_offset(layer, head)),
                slot, 1, row.data());
        values.insert(values.end(), row.begin(), row.end());
      }
  }
};

TEST_P(DeviceKv, StoresTheSameValuesAsTheCodec) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  for (const int dim : {2, 20, 33, 64, 96, 128, 256}) {
    const KvLayout layout{param(), 2, 2, dim};
    const BothSegments data(*device_, layout, 37, random_);
    const Segment host = data.on_host();
    const std::vector<float> got = read(data, host, 1, 0, RopePairs::kHalves);
    std::vector<float> expected;
    for (int t = 0; t < 37; ++t)
      append(layout, host.pages[static_cast<size_t>(t / kPageTokens)], 1, t % kPageTokens,
             expected);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << "size " << dim;
  }
}

TEST_P(DeviceKv, GatherTurnsKeysOnly) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent})
    for (const int dim : {24, 128}) {
      const KvLayout layout{param(), 2, 3, dim};
      BothSegments data(*device_, layout, 40, random_);
      std::vector<double> frequencies(10);  // 20 dimensions turn
      for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.4, double(j));
      data.bind(1234, frequencies, 1234);
      const Segment host = data.on_host();
      const std::vector<float> got = read(data, host, 0, 20, pairs);
      std::vector<float> expected;
      for (int t = 0; t < 40; ++t) {
        append(layout, host.pages[static_cast<size_t>(t / kPageTokens)], 0, t % kPageTokens,
               expected);
        const size_t begin = expected.size() - 6 * static_cast<size_t>(dim);
        for (size_t head = 0; head < 3; ++head)
          turn_head<Turn::kForward>(expected.data() + begin + head * static_cast<size_t>(dim),
                                    host.turn.data(), 20, pairs);
      }
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << i;
    }
}

// Moved keys are rounded again; values keep the codes that they have.
TEST_P(DeviceKv, GatherIntoTheSameTypeCopiesValues) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  constexpr int kTokens = 40, kHeads = 2;
  for (const int dim : {24, 64, 128}) {
    const KvLayout layout{param(), 2, kHeads, dim};
    BothSegments data(*device_, layout, kTokens, random_);
    const BothSegments target(*device_, layout, kTokens, random_);
    const std::vector<float> before = read(data, data.on_host(), 1, 0, RopePairs::kHalves);
    const std::vector<double> frequencies(static_cast<size_t>(dim / 2), 0.3);
    data.bind(77, frequencies, 77);
    std::vector<int32_t> tokens(kTokens);
    std::iota(tokens.begin(), tokens.end(), 0);
    std::vector<KvSlot> slots;
    for (const int32_t t : tokens) slots.push_back(target.slot(kTokens - 1 - t));
    const Segment there = data.on_device();
    device_->gather({1, dim, RopePairs::kHalves, &there, tokens, slots});
    const std::vector<float> after = read(target, target.on_host(), 1, 0, RopePairs::kHalves);
    const auto half = static_cast<size_t>(kHeads * dim);  // K of a token, or V
    for (size_t t = 0; t < kTokens; ++t)
      for (size_t i = half; i < 2 * half; ++i)
        ASSERT_EQ(after[(kTokens - 1 - t) * 2 * half + i], before[t * 2 * half + i])
            << "size " << dim << " token " << t;
  }
}

// Three sources, of two types, two of them turned by angles of their own: as one after the other.
TEST_P(DeviceKv, GathersFromSeveralSourcesAtOnce) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  constexpr int kTokens = 20, kDim = 64;
  const KvLayout layout{param(), 2, 2, kDim}, plain{KvType::kF32, 2, 2, kDim};
  BothSegments first(*device_, layout, kTokens, random_), last(*device_, layout, kTokens, random_);
  const BothSegments middle(*device_, plain, kTokens, random_);
  const std::vector<double> frequencies(kDim / 2, 0.3);
  first.bind(77, frequencies, 77);
  last.bind(5, frequencies, 5);
  const Segment sources[] = {first.on_device(), middle.on_device(), last.on_device()};
  const BothSegments together(*device_, plain, 3 * kTokens, random_);
  const BothSegments apart(*device_, plain, 3 * kTokens, random_);
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<KvSlot> slots[3];
  std::vector<GatherArgs> parts;
  for (int s = 0; s < 3; ++s) {
    std::vector<KvSlot> alone;
    for (const int32_t t : tokens) {
      slots[s].push_back(together.slot(s * kTokens + t));
      alone.push_back(apart.slot(s * kTokens + t));
    }
    parts.push_back({1, kDim, RopePairs::kHalves, &sources[s], tokens, slots[s]});
    device_->gather({1, kDim, RopePairs::kHalves, &sources[s], tokens, alone});
    ASSERT_TRUE(device_->wait());
  }
  device_->gather(parts);
  EXPECT_EQ(read(together, together.on_host(), 1, 0, RopePairs::kHalves),
            read(apart, apart.on_host(), 1, 0, RopePairs::kHalves));
}

TEST_P(DeviceKv, ValueDeviationMatchesItsDefinition) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  constexpr int kTokens = 40, kFirst = 13, kHeads = 3, kDim = 20;
  const BothSegments stored(*device_, {param(), 2, kHeads, kDim}, kTokens, random_);
  const BothSegments fresh(*device_, {KvType::kF32, 2, kHeads, kDim}, kFirst + kTokens, random_);
  const DeviceFloats out_there(*device_, std::vector<float>(kTokens, std::nanf("")));
  const Segment a = fresh.on_device(), b = stored.on_device();
  device_->value_deviation({1, &a, &b, kFirst, out_there.data()});
  const std::vector<float> out = out_there.read();
  const auto values = [](const Segment& s, int32_t token) {
    std::vector<float> both;
    append(*s.layout, s.pages[static_cast<size_t>(token / kPageTokens)], 1, token % kPageTokens,
           both);
    return both;  // K, then V
  };
  for (int t = 0; t < kTokens; ++t) {
    const auto x = values(fresh.on_host(), kFirst + t), y = values(stored.on_host(), t);
    double expected = 0;
    for (size_t i = kHeads * kDim; i < x.size(); ++i) expected += std::pow(double{x[i]} - y[i], 2);
    ASSERT_NEAR(out[static_cast<size_t>(t)], expected, 1e-6 * expected) << "token " << t;
  }
}

// A layout without the first layers stores nothing there; one of a single layer serves any.
TEST_P(DeviceKv, LayersWithoutAPlace) {
  const KvLayout late{param(), 3, 1, 4, 1};
  const auto bytes = static_cast<size_t>(late.page_bytes());
  auto page = device_->allocate_page(bytes);
  ASSERT_TRUE(page);
  const std::vector<std::byte> before(bytes, std::byte{0x5A});
  device_->upload(page->get(), before.data(), bytes);
  const DeviceFloats row(*device_, std::vector<float>(4, 1.0f));
  const std::vector<KvSlot> slots = {{&late, page->get(), 0}};
  std::vector<std::byte> after(bytes);
  device_->store(0, row.data(), row.data(), slots);
  device_->download(after.data(), page->get(), bytes);
  ASSERT_TRUE(device_->wait());
  EXPECT_EQ(after, before);
  device_->store(2, row.data(), row.data(), slots);
  device_->download(after.data(), page->get(), bytes);
  ASSERT_TRUE(device_->wait());
  std::vector<float> back(4);
  load_kv(late, after.data() + late.value_offset(2, 0), 0, 1, back.data());
  for (const float x : back) EXPECT_NEAR(x, 1, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceKv,
                         testing::Combine(testing::ValuesIn(kDevices),
                                          testing::Values(KvType::kF32, KvType::kBF16, KvType::kF16,
                                                          KvType::kQ8_0, KvType::kFP8)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::string(kv_type_name(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace looseleaf

// Storing, loading and moving keys and values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "attend_cases.h"
#include "base/thread_pool.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

class KvTypeTest : public testing::TestWithParam<KvType> {};

// Half a unit in the last place of what is stored, for values up to `largest`.
double rounding(KvType type, double value, double largest) {
  switch (type) {
    case KvType::kF32:
      return 0;
    case KvType::kF16:
      return std::max(std::abs(value) * 0x1p-11, 0x1p-25);
    case KvType::kBF16:
      return std::abs(value) * 0x1p-8;
    // Half a code; the scale is rounded up to f16, by 2^-10 of itself or the least subnormal.
    case KvType::kQ8_0:
      return 0.5 * (largest / 127 * (1 + 0x1p-10) + 0x1p-24) * (1 + 1e-4);
    // Half of the last of four significant bits, or half of the least code, 2^-9 of the scale.
    case KvType::kFP8: {
      const double scale = largest / 448 * (1 + 0x1p-10) + 0x1p-24;
      return std::max(std::abs(value) * 0x1p-4, scale * 0x1p-10) * (1 + 1e-4);
    }
  }
  return 0;
}

TEST_P(KvTypeTest, RoundTripWithinRounding) {
  std::mt19937 random(std::random_device{}());
  for (const int dim : {1, 2, 15, 16, 33, 64, 80, 128}) {
    const KvLayout layout{GetParam(), 1, 1, dim};
    std::vector<std::byte> head(static_cast<size_t>(layout.head_bytes()));
    for (const float magnitude : {1e-5f, 1e-3f, 1.0f, 300.0f}) {
      std::vector<std::vector<float>> rows;
      for (int slot = 0; slot < kPageTokens; ++slot) {
        rows.push_back(random_floats(static_cast<size_t>(dim), random));
        for (float& x : rows.back()) x *= magnitude;
        store_kv(layout, head.data(), slot, rows.back().data());
      }
      std::vector<float> out(static_cast<size_t>(7 * dim), std::nanf(""));
      load_kv(layout, head.data(), 20, 7, out.data());
      for (int t = 0; t < 7; ++t) {
        const auto& row = rows[static_cast<size_t>(20 + t)];
        double largest = 0;
        for (const float x : row) largest = std::max(largest, std::abs(double{x}));
        for (int d = 0; d < dim; ++d) {
          const double x = row[static_cast<size_t>(d)];
          ASSERT_NEAR(out[static_cast<size_t>(t * dim + d)], x, rounding(GetParam(), x, largest));
        }
      }
    }
  }
}

TEST_P(KvTypeTest, ExtremesStayFinite) {
  const KvLayout layout{GetParam(), 1, 1, 4};
  std::vector<std::byte> head(static_cast<size_t>(layout.head_bytes()));
  const float row[4] = {0, -0.0f, 6e4f, -6e4f}, zeros[4] = {};
  float out[4];
  store_kv(layout, head.data(), 0, row);
  load_kv(layout, head.data(), 0, 1, out);
  for (const float x : out) EXPECT_TRUE(std::isfinite(x));
  EXPECT_NEAR(out[2], 6e4f, 6e4f * 0x1p-7);
  store_kv(layout, head.data(), 1, zeros);
  load_kv(layout, head.data(), 1, 1, out);
  for (const float x : out) EXPECT_EQ(x, 0);
}

// Gathering brings keys to prompt positions: a query at that position scores them as it scores the
// bound chunk.
TEST_P(KvTypeTest, GatherMovesKeys) {
  std::mt19937 random(std::random_device{}());
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
    const KvLayout layout{GetParam(), 2, 3, 24}, plain{KvType::kF32, 2, 3, 24};
    std::vector<double> frequencies(10);  // 20 of 24 dimensions turn
    for (size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = std::pow(0.4, double(j));
    SegmentData chunk(layout, 50, random), target(plain, 40, random);
    chunk.bind(1234, frequencies, 1234);
    std::vector<int32_t> tokens(40), positions(40);
    std::vector<KvSlot> slots;
    for (int32_t i = 0; i < 40; ++i) {
      tokens[static_cast<size_t>(i)] = (i * 7) % 50;
      positions[static_cast<size_t>(i)] = 1234 + (i * 7) % 50;
      slots.push_back(
          {&plain, target.segment.pages[static_cast<size_t>(i / kPageTokens)], i % kPageTokens});
    }
    ThreadPool pool(2);
    for (int layer = 0; layer < 2; ++layer)
      cpu_gather(pool, {layer, 20, pairs, &chunk.segment, tokens, slots});
    // The bound chunk with all but the gathered tokens stale, against the gathered segment.
    std::vector<uint64_t> stale(2, ~uint64_t{0});
    for (const int32_t t : tokens)
      for (uint64_t& word : stale) word &= ~(uint64_t{1} << t);
    chunk.segment.stale = stale;
    target.set_positions(positions);
    const std::vector<Segment> segments = {chunk.segment, target.segment};
    const std::vector<float> query = random_floats(3 * 24, random);
    const std::vector<int32_t> row = {0}, at = {1270};
    for (int layer = 0; layer < 2; ++layer) {
      std::vector<double> out[2];
      for (const int which : {0, 1}) {
        const std::vector<SegmentUse> uses = {{which}};
        const std::vector<RowGroup> groups = {{row, uses}};
        AttendArgs args;
        args.layer = layer;
        args.heads = args.kv_heads = 3;
        args.head_dim = 24;
        args.scale = 0.2f;
        args.rotary_dims = 20;
        args.pairs = pairs;
        args.segments = segments;
        args.groups = groups;
        args.positions = at;
        args.active = 1;
        args.query = query.data();
        out[which].resize(3 * 24);
        double lse[3];
        attend_reference(args, out[which].data(), lse);
      }
      for (size_t i = 0; i < out[0].size(); ++i) ASSERT_NEAR(out[0][i], out[1][i], 1e-5);
    }
  }
}

// Gathering into the same type copies values as they are stored, and keys that are not turned.
TEST_P(KvTypeTest, GatherCopiesWhatIsNotTurned) {
  std::mt19937 random(std::random_device{}());
  const KvLayout layout{GetParam(), 2, 3, 24};
  SegmentData chunk(layout, 50, random), target(layout, 40, random);
  const std::vector<double> frequencies(12, 0.3);
  ThreadPool pool(2);
  for (const bool turned : {false, true}) {
    if (turned) chunk.bind(77, frequencies, 77);
    std::vector<int32_t> tokens;
    std::vector<KvSlot> slots;
    for (int32_t i = 0; i < 40; ++i) {
      tokens.push_back((i * 7) % 50);
      slots.push_back(
          {&layout, target.segment.pages[static_cast<size_t>(i / kPageTokens)], i % kPageTokens});
    }
    cpu_gather(pool, {1, 24, RopePairs::kHalves, &chunk.segment, tokens, slots});
    for (size_t i = 0; i < 40; ++i)
      for (int head = 0; head < 3; ++head)
        for (const bool value : {false, true}) {
          const int64_t at = value ? layout.value_offset(1, head) : layout.key_offset(1, head);
          const std::byte* from = chunk.segment.pages[static_cast<size_t>(tokens[i] / 32)] + at;
          const std::byte* to = slots[i].page + at;
          const auto same = [&](int64_t start, int64_t bytes) {
            return std::memcmp(from + start + tokens[i] % 32 * bytes,
                               to + start + slots[i].slot * bytes, static_cast<size_t>(bytes)) == 0;
          };
          const bool copied = same(0, 24 * layout.element_bytes()) &&
                              same(layout.scales_offset(), layout.scale_bytes());
          EXPECT_EQ(copied, value || !turned) << "token " << i;
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, KvTypeTest,
                         testing::Values(KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0,
                                         KvType::kFP8),
                         [](const auto& info) { return std::string(kv_type_name(info.param)); });

// The value of an e4m3 code by its definition: 1 sign, 4 exponent (bias 7) and 3 mantissa bits, no
// infinities, one NaN a sign.
double e4m3(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double sign = code & 0x80 ? -1 : 1;
  if ((code & 0x7F) == 0x7F) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, -9);
  return sign * std::ldexp(8 + mantissa, exponent - 10);
}

constexpr KvLayout kOneFP8{KvType::kFP8, 1, 1, 256};

std::vector<float> stored_row(const KvLayout& layout, const std::vector<float>& row,
                              std::vector<std::byte>& head) {
  head.assign(static_cast<size_t>(layout.head_bytes()), std::byte{0xFF});
  store_kv(layout, head.data(), 3, row.data());
  std::vector<float> out(row.size());
  load_kv(layout, head.data(), 3, 1, out.data());
  return out;
}

// All codes, with a scale of 1 and one of 2^-5 x 1.5.
TEST(FP8, EveryCodeHasItsValue) {
  for (const auto& [bits, scale] : {std::pair{0x3C00, 1.0}, {0x2A00, 0x1.8p-5}}) {
    std::vector<std::byte> head(static_cast<size_t>(kOneFP8.head_bytes()));
    for (int code = 0; code < 256; ++code)
      head[static_cast<size_t>(code)] = static_cast<std::byte>(code);
    const auto half = static_cast<uint16_t>(bits);
    std::memcpy(head.data() + kOneFP8.scales_offset(), &half, sizeof half);
    std::vector<float> out(256);
    load_kv(kOneFP8, head.data(), 0, 1, out.data());
    for (int code = 0; code < 256; ++code) {
      const double expected = e4m3(code) * scale;
      const float got = out[static_cast<size_t>(code)];
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << code;
      } else {
        EXPECT_EQ(got, expected) << code;
        EXPECT_EQ(std::signbit(got), code >= 128) << code;
      }
    }
  }
}

// With 448 in the row the scale is 1: each code comes back as itself, each number as the nearest
// one, of two as near the even one.
TEST(FP8, RoundsToTheNearestCode) {
  std::mt19937 random(std::random_device{}());
  std::vector<std::byte> head;
  std::vector<float> row(256);
  for (int code = 0; code < 256; ++code)
    row[static_cast<size_t>(code)] = (code & 0x7F) == 0x7F ? 0 : static_cast<float>(e4m3(code));
  const std::vector<float> same = stored_row(kOneFP8, row, head);
  EXPECT_EQ(same, row);
  std::uniform_real_distribution<float> exponent(-11, 8.8f);
  for (int round = 0; round < 50; ++round) {
    row[0] = 448;
    for (size_t i = 1; i < row.size(); ++i) {
      const float magnitude = std::min(448.0f, std::exp2(exponent(random)));
      row[i] = random() % 2 ? magnitude : -magnitude;
    }
    for (int code = 0; code < 0x7E; ++code)  // halfway between neighbours
      if (random() % 4 == 0)
        row[static_cast<size_t>(1 + code)] = static_cast<float>((e4m3(code) + e4m3(code + 1)) / 2);
    const std::vector<float> out = stored_row(kOneFP8, row, head);
    for (size_t i = 0; i < row.size(); ++i) {
      int nearest = 0;
      for (int code = 1; code < 0x7F; ++code) {
        const double here = std::abs(std::abs(double{row[i]}) - e4m3(code));
        const double best = std::abs(std::abs(double{row[i]}) - e4m3(nearest));
        if (here < best || (here == best && code % 2 == 0)) nearest = code;
      }
      ASSERT_EQ(std::abs(out[i]), e4m3(nearest)) << row[i];
      if (out[i] != 0) {
        ASSERT_EQ(std::signbit(out[i]), std::signbit(row[i]));
      }
    }
  }
}

TEST(FP8, WhatIsNoNumberStaysVisible) {
  std::vector<std::byte> head;
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> row(256, 1.0f);
  row[7] = std::nanf("");
  std::vector<float> out = stored_row(kOneFP8, row, head);
  for (size_t i = 0; i < row.size(); ++i) {
    if (i == 7)
      EXPECT_TRUE(std::isnan(out[i]));
    else
      EXPECT_NEAR(out[i], 1, 1e-3);
  }
  row[7] = infinity;
  row[8] = -infinity;
  out = stored_row(kOneFP8, row, head);
  EXPECT_EQ(out[7], 448.0f * 65504);
  EXPECT_EQ(out[8], -448.0f * 65504);
}

TEST(KvLayout, PiecesDoNotOverlap) {
  for (const KvType type :
       {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0, KvType::kFP8}) {
    const KvLayout layout{type, 3, 2, 20};
    std::vector<int64_t> starts;
    for (int layer = 0; layer < 3; ++layer)
      for (int head = 0; head < 2; ++head) {
        starts.push_back(layout.key_offset(layer, head));
        starts.push_back(layout.value_offset(layer, head));
      }
    std::sort(starts.begin(), starts.end());
    for (size_t i = 0; i < starts.size(); ++i)
      EXPECT_EQ(starts[i], static_cast<int64_t>(i) * layout.head_bytes());
    EXPECT_EQ(layout.page_bytes(), static_cast<int64_t>(starts.size()) * layout.head_bytes());
    EXPECT_GE(layout.head_bytes(), int64_t{kPageTokens} * 20 * layout.element_bytes() +
                                       kPageTokens * layout.scale_bytes());
    EXPECT_EQ(layout.scale_bytes(), type == KvType::kQ8_0 || type == KvType::kFP8 ? 2 : 0);
  }
}

TEST(Rotate, IsAdditiveAndLeavesTheRestAlone) {
  std::mt19937 random(std::random_device{}());
  ThreadPool pool(1);
  const std::vector<double> frequencies = {1.0, 0.1, 0.01, 0.001};
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
    std::vector<float> once = random_floats(2 * 11, random), twice = once;
    const std::vector<float> original = once;
    const auto turn = [&](std::vector<float>& x, double position) {
      std::vector<float> angles(8);
      rotary_angles(frequencies, position, 1.0, angles.data());
      cpu_rotate(pool, x.data(), angles, 1, 2, 11, 8, pairs);
    };
    turn(once, 100000 + 7);
    turn(twice, 100000);
    turn(twice, 7);
    for (size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], twice[i], 2e-6);
    for (const size_t head : {0, 1})
      for (size_t d = 8; d < 11; ++d) EXPECT_EQ(once[head * 11 + d], original[head * 11 + d]);
  }
}

// A layout without the first layers has no place for them; one of a single layer serves any.
TEST(KvLayoutTest, LayersWithoutAPlace) {
  const KvLayout late{KvType::kF32, 3, 1, 4, 1};
  EXPECT_FALSE(late.has(0));
  EXPECT_EQ(late.key_offset(1, 0), 0);
  EXPECT_EQ(late.key_offset(2, 0), late.layer_bytes());
  const KvLayout scratch{KvType::kF32, 1, 1, 4};
  EXPECT_EQ(scratch.value_offset(7, 0), scratch.value_offset(0, 0));
}

}  // namespace
}  // namespace looseleaf

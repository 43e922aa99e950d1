#include <gtest/gtest.h>

#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gguf_builder.h"
#include "model/weight_type.h"
#include "model/weight_types/half.h"
#include "test_files.h"

namespace looseleaf {
namespace {

const WeightType& type_named(std::string_view name) {
  for (const WeightType* type : weight_types())
    if (type->name == name) return *type;
  std::abort();
}

std::vector<float> dequantize(const WeightType& type, const std::string& bytes) {
  const auto blocks = static_cast<int64_t>(bytes.size()) / type.block_bytes;
  std::vector<float> out(static_cast<size_t>(blocks * type.block),
                         std::numeric_limits<float>::quiet_NaN());
  // At an odd address, since files may align weights to anything.
  std::vector<std::byte> moved(bytes.size() + 1);
  std::memcpy(moved.data() + 1, bytes.data(), bytes.size());
  type.dequantize(moved.data() + 1, out.data(), blocks);
  return out;
}

// The definition of binary16, without bit tricks.
double half_value(uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::string random_bytes(size_t size, std::mt19937& random) {
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random());
  return bytes;
}

// A block's scale: any half but infinities and NaNs, which no quantizer writes.
std::string random_scale(std::mt19937& random) {
  return raw(static_cast<uint16_t>((random() & 0x8000) | (random() % 0x7C00)));
}

TEST(HalfToFloat, IsExactForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    const double expected = half_value(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_EQ(std::bit_cast<uint32_t>(value) >> 13 & 1023, bits & 1023) << "payload of " << bits;
    } else {
      EXPECT_EQ(value, expected) << bits;
      EXPECT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    }
  }
}

TEST(WeightTypes, TableFindsEachOnce) {
  for (const WeightType* type : weight_types()) {
    EXPECT_EQ(find_gguf_weight_type(static_cast<uint32_t>(type->gguf_id)), type);
    if (!type->safetensors_name.empty()) {
      EXPECT_EQ(find_safetensors_weight_type(type->safetensors_name), type);
    }
  }
  EXPECT_EQ(weight_types().size(), 14u);
  EXPECT_EQ(find_gguf_weight_type(15), nullptr);
  EXPECT_EQ(find_gguf_weight_type(UINT32_MAX), nullptr);
  EXPECT_EQ(find_safetensors_weight_type(""), nullptr);
  EXPECT_EQ(find_safetensors_weight_type("F8_E4M3"), nullptr);
}

TEST(WeightTypes, PlainNumbersAreExact) {
  EXPECT_EQ(dequantize(type_named("f32"), raw(1.5f) + raw(-0.1f)),
            (std::vector<float>{1.5f, -0.1f}));
  // 1, -2, the smallest subnormal, 65504
  EXPECT_EQ(dequantize(type_named("f16"), raw(uint16_t{0x3C00}) + raw(uint16_t{0xC000}) +
                                              raw(uint16_t{0x0001}) + raw(uint16_t{0x7BFF})),
            (std::vector<float>{1, -2, 0x1p-24f, 65504}));
  EXPECT_EQ(dequantize(type_named("bf16"), raw(uint16_t{0x3F80}) + raw(uint16_t{0xC0A0})),
            (std::vector<float>{1, -5}));
}

TEST(WeightTypes, BlocksByHand) {
  std::string codes;
  for (int i = 0; i < 16; ++i) codes += static_cast<char>(i | (15 - i) << 4);
  const std::string half = raw(uint16_t{0x3800});  // 0.5
  const std::string minus_three = raw(uint16_t{0xC200});
  const auto q4_0 = dequantize(type_named("q4_0"), half + codes);
  const auto q4_1 = dequantize(type_named("q4_1"), half + minus_three + codes);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(q4_0[i], 0.5f * (i - 8));
    EXPECT_EQ(q4_0[i + 16], 0.5f * (7 - i));
    EXPECT_EQ(q4_1[i], 0.5f * i - 3);
    EXPECT_EQ(q4_1[i + 16], 0.5f * (15 - i) - 3);
  }
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(i * 8 - 128);
  const auto q8_0 = dequantize(type_named("q8_0"), half + bytes);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(q8_0[i], 0.5f * (i * 8 - 128));
}

TEST(WeightTypes, RandomBlocksFollowTheFormula) {
  std::mt19937 random(7);
  for (const std::string_view name : {"q8_0", "q4_0", "q4_1"}) {
    const WeightType& type = type_named(name);
    const size_t scales = name == "q4_1" ? 2 : 1;
    std::string bytes;
    for (int block = 0; block < 100; ++block) {
      for (size_t s = 0; s < scales; ++s) bytes += random_scale(random);
      bytes += random_bytes(static_cast<size_t>(type.block_bytes) - 2 * scales, random);
    }
    const auto values = dequantize(type, bytes);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto* block = reinterpret_cast<const uint8_t*>(bytes.data()) +
                          i / 32 * static_cast<size_t>(type.block_bytes);
      const size_t j = i % 32;
      const double d = half_value(static_cast<uint16_t>(block[0] | block[1] << 8));
      const double m =
          scales == 2 ? half_value(static_cast<uint16_t>(block[2] | block[3] << 8)) : 0;
      const uint8_t* codes = block + 2 * scales;
      const int nibble = j < 16 ? codes[j] & 15 : codes[j - 16] >> 4;
      // Products and sums of so few bits are rounded once at most.
      const double expected = name == "q8_0"   ? d * static_cast<int8_t>(codes[j])
                              : name == "q4_0" ? d * (nibble - 8)
                                               : d * nibble + m;
      EXPECT_EQ(values[i], static_cast<float>(expected)) << name << " " << i;
    }
  }
}

// One weight a case is worked out from the layout that ggml documents; all other bytes are 0.
struct HandBlock {
  const char* type;
  std::vector<std::pair<size_t, int>> bytes;  // (place, value)
  size_t weight;
  float expected;
};

TEST(WeightTypes, SingleWeightsOfLargeBlocksByHand) {
  constexpr int kHalf = 0x38, kTwo = 0x40;  // the high bytes of 0.5 and 2 as halves
  const std::vector<HandBlock> cases = {
      {"q5_0", {{1, kHalf}, {2, 0x08}, {6 + 3, 0x05}}, 3, 0.5f * (5 + 16 - 16)},
      {"q5_0", {{1, kHalf}, {5, 0x80}, {6 + 15, 0x70}}, 31, 0.5f * (7 + 16 - 16)},
      {"q5_1", {{1, kHalf}, {3, kTwo}, {4, 0x01}, {8, 0x0F}}, 0, 0.5f * 31 + 2},
      {"q5_1", {{1, kHalf}, {3, kTwo}, {6, 0x01}, {8, 0xF0}}, 16, 0.5f * 31 + 2},
      {"iq4_nl", {{1, kHalf}, {2 + 4, 0x0F}}, 4, 0.5f * 113},
      {"iq4_nl", {{1, kHalf}, {2 + 4, 0x80}}, 20, 0.5f * 1},
      // Weight 200 is number 72 of the second half: group 12, bits 4 and 5 of byte 8 of that half.
      {"q2_K",
       {{81, kHalf}, {83, kTwo}, {12, 0x75}, {16 + 32 + 8, 0x30}},
       200,
       0.5f * 5 * 3 - 2 * 7},
      // Group 12: its low bits are the high half of byte 4, its high ones bits 6 and 7 of byte 8.
      {"q3_K",
       {{109, kHalf}, {96 + 4, 0x50}, {96 + 8, 0xC0}, {32 + 32 + 8, 0x20}, {8, 0x40}},
       200,
       0.5f * (5 + 48 - 32) * (2 + 4 - 4)},
      {"q3_K", {{109, kHalf}}, 0, 0.5f * -32 * -4},
      // Group 1: scale in byte 1, minimum in byte 5, codes in the high halves of the first quarter.
      {"q4_K",
       {{1, kHalf}, {3, kTwo}, {4 + 1, 0x3F}, {4 + 5, 0x03}, {16 + 9, 0xE0}},
       41,
       0.5f * 63 * 14 - 2 * 3},
      // Group 6: low bits in byte 10, the scale's high bits in byte 2, the minimum's in byte 6.
      {"q4_K",
       {{1, kHalf}, {3, kTwo}, {4 + 10, 0x21}, {4 + 2, 0x80}, {4 + 6, 0x40}, {16 + 96, 0x0B}},
       192,
       0.5f * (1 + 32) * 11 - 2 * (2 + 16)},
      {"q5_K",
       {{1, kHalf}, {3, kTwo}, {4 + 10, 0x21}, {4 + 2, 0x80}, {16, 0x40}, {48 + 96, 0x0B}},
       192,
       0.5f * (1 + 32) * (11 + 16) - 2 * 2},
      // Weight 200 is number 72 of the second half: high four bits of byte 8, bits 4 and 5.
      {"q6_K",
       {{209, kHalf}, {192 + 12, 0xFE}, {64 + 8, 0x90}, {128 + 32 + 8, 0x30}},
       200,
       0.5f * -2 * (9 + 48 - 32)},
  };
  for (const HandBlock& c : cases) {
    const WeightType& type = type_named(c.type);
    std::string block(static_cast<size_t>(type.block_bytes), '\0');
    for (const auto& [place, value] : c.bytes) block[place] = static_cast<char>(value);
    EXPECT_EQ(dequantize(type, block)[c.weight], c.expected) << c.type << " weight " << c.weight;
  }
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            .find(c);
    if (digit == std::string_view::npos) break;  // the padding
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

// tests/golden/weight_blocks.py wrote what the gguf package makes of the same bytes.
TEST(WeightTypes, SameBitsAsTheGgufPackage) {
  const auto path = std::filesystem::path(LOOSELEAF_GOLDEN_DIR) / "weight_blocks.json";
  size_t seen = 0;
  const auto rows = boost::json::parse(read_file(path));
  for (const auto& row : rows.as_array()) {
    std::string name = boost::json::value_to<std::string>(row.at("type"));
    for (char& c : name)
      if (c != 'K') c = static_cast<char>(std::tolower(c));
    const auto values = dequantize(
        type_named(name), from_base64(boost::json::value_to<std::string>(row.at("blocks"))));
    const auto expected = from_base64(boost::json::value_to<std::string>(row.at("values")));
    ASSERT_EQ(values.size() * sizeof(float), expected.size()) << name;
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << name;
    ++seen;
  }
  EXPECT_EQ(seen, 11u);
}

TEST(WeightMatrix, RowsAreFoundByTheirBytes) {
  std::mt19937 random(8);
  const WeightType& type = type_named("q8_0");
  std::string bytes;
  for (int block = 0; block < 6; ++block) bytes += random_scale(random) + random_bytes(32, random);
  const WeightMatrix matrix = {&type, reinterpret_cast<const std::byte*>(bytes.data()), 3, 64};
  EXPECT_EQ(matrix.row_bytes(), 68);
  EXPECT_EQ(matrix.bytes(), 204);
  const auto all = dequantize(type, bytes);
  std::vector<float> row(64);
  matrix.dequantize_row(2, row.data());
  EXPECT_EQ(row, std::vector<float>(all.begin() + 128, all.end()));
}

}  // namespace
}  // namespace looseleaf

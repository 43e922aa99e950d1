#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gguf_builder.h"
#include "model/weight_type.h"
#include "model/weight_types/half.h"

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
  EXPECT_EQ(weight_types().size(), 6u);
  EXPECT_EQ(find_gguf_weight_type(14), nullptr);
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

#include "model/random_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace looseleaf {
namespace {

// The sum of four bytes is close to normal: mean 510, variance 4 (256^2 - 1) / 12.
constexpr int kSums = 4 * 255 + 1;
constexpr double kMean = 510;
constexpr double kVariance = 4 * (256.0 * 256.0 - 1) / 12;

// bfloat16 of a number that is no NaN, rounded to nearest, ties to even.
uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Output `counter` of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), whose state counts.
uint64_t random_bits(uint64_t counter) {
  uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The four bytes of each half.
uint32_t sum_of_bytes(uint32_t bits) {
  const uint32_t pairs = (bits & 0x00ff00ff) + ((bits >> 8) & 0x00ff00ff);
  return (pairs & 0xffff) + (pairs >> 16);
}

}  // namespace

void fill_random_bf16(ThreadPool& pool, int64_t number, int64_t rows, int64_t cols,
                      std::byte* target) {
  std::array<uint16_t, kSums> value_of;  // a sum's weight
  const double scale = 1 / std::sqrt(kVariance * static_cast<double>(cols));
  for (int sum = 0; sum < kSums; ++sum)
    value_of[static_cast<size_t>(sum)] = to_bf16(static_cast<float>((sum - kMean) * scale));

  constexpr int64_t kPiece = 1 << 18;  // weights
  const int64_t count = rows * cols;
  pool.parallel_for((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t end = std::min(count, (piece + 1) * kPiece);
    // 2^40 pairs for each matrix.
    uint64_t counter =
        (static_cast<uint64_t>(number) << 40) + static_cast<uint64_t>(piece) * kPiece / 2;
    for (int64_t i = piece * kPiece; i < end; i += 2) {
      const uint64_t bits = random_bits(counter++);
      const std::array<uint16_t, 2> pair = {
          value_of[sum_of_bytes(static_cast<uint32_t>(bits))],
          value_of[sum_of_bytes(static_cast<uint32_t>(bits >> 32))]};
      std::memcpy(target + i * 2, pair.data(),
                  static_cast<size_t>(std::min<int64_t>(2, end - i)) * 2);
    }
  });
}

}  // namespace looseleaf

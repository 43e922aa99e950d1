// Random numbers that are the same with every compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace looseleaf {

// SplitMix64 (Steele, Lea and Flood 2014).
class EvalRandom {
 public:
  // Different streams of one seed are independent, so that a sample does not depend on how many
  // others there are.
  EvalRandom(uint64_t seed, uint64_t stream) : state_(mix(seed) ^ mix(~stream)) {}

  uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  // 0 <= result < n. The bias is below n / 2^32. REQUIRES: 0 < n <= 2^32.
  size_t below(size_t n) { return static_cast<size_t>(((next() >> 32) * n) >> 32); }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  uint64_t state_;
};

}  // namespace looseleaf

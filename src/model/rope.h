// Rotary position embedding: which pairs of a head's dimensions turn, and how fast.
#pragma once

#include <cstdint>
#include <vector>

namespace looseleaf {

// Which dimensions form pair j of `dims` rotary dimensions.
enum class RopePairs : uint8_t {
  kHalves,    // (j, j + dims/2): Hugging Face
  kAdjacent,  // (2j, 2j + 1): GGUF files of the llama architecture, whose q and k rows are permuted
};

// Llama 3's frequency scaling: wavelengths above `original_context / low` are slowed by `factor`,
// those below `original_context / high` are kept, between them it is interpolated.
struct Llama3Scaling {
  double factor = 1;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  double original_context = 8192;
};

struct RopeConfig {
  double base = 10000;
  int dims = 0;  // rotary dimensions of a head, even; the rest of the head is left alone
  RopePairs pairs = RopePairs::kHalves;
  bool llama3 = false;  // `llama3_scaling` holds
  Llama3Scaling llama3_scaling;
  std::vector<float>
      divisors;  // [dims/2] or empty: each frequency is divided by these (`rope_freqs`)
  double attention_factor =
      1;  // multiplies cos and sin of queries and stored keys, never of a move
};

// Radians a position for each pair. [dims/2]
std::vector<double> rope_frequencies(const RopeConfig& rope);

}  // namespace looseleaf

// Rotary position embedding: which pairs of a head's dimensions turn, and how fast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace looseleaf {

// Which dimensions form pair j of `dims` rotary dimensions.
enum class RopePairs : uint8_t {
  kHalves,    // (j, j + dims/2): Hugging Face
  kAdjacent,  // (2j, 2j + 1): GGUF files of the llama architecture, whose q and k rows are permuted
};

// How the frequencies base^(-2j / dims) are changed for longer contexts.
enum class RopeScaling : uint8_t {
  kNone,
  kLinear,  // all divided by `factor`
  kLlama3,  // wavelengths above original_context / low_frequency_factor divided by `factor`, those
            // below original_context / high_frequency_factor kept, between them interpolated
  kYarn,    // 2309.00071: pairs that make fewer than `beta_slow` turns in the original context
            // divided by `factor`, those that make more than `beta_fast` kept, a ramp over pairs
            // between them
  kLongRope,    // 2402.13753: `divisors` up to the original context, `long_divisors` beyond it
  kDynamicNtk,  // beyond the original context the base grows with the prompt's length
};

std::string_view rope_scaling_name(RopeScaling scaling);  // "yarn"

struct RopeConfig {
  double base = 10000;
  int dims = 0;  // rotary dimensions of a head, even; the rest of the head is left alone
  RopePairs pairs = RopePairs::kHalves;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;            // linear, llama3, yarn, dynamic
  double original_context = 0;  // positions before scaling: llama3, yarn, longrope, dynamic
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;                        // yarn, in turns
  bool truncate = true;  // yarn: the ramp's ends are whole pairs
  // [dims/2] or empty: each frequency is divided by these (`rope_freqs`, LongRoPE's short factors).
  std::vector<float> divisors;
  std::vector<float> long_divisors;  // [dims/2] LongRoPE's long factors
  // Multiplies cos and sin of queries and stored keys, never of a move.
  double attention_factor = 1;
};

// How the positions of one prompt become angles. All that one prompt binds has the same regime: it
// is fixed at admission by the prompt's length and held through decode.
struct RopeRegime {
  std::string name;  // part of a chunk's identity: "short", "long"; "" where there is only one
  std::vector<double> frequencies;  // [dims/2] radians a position
  double attention_factor = 1;      // see RopeConfig
};

// A prompt of exactly original_context tokens is still the short one.
RopeRegime rope_regime(const RopeConfig& rope, int prompt_tokens);

// Whether a chunk's keys are the same in prompts of other lengths, but for a few regimes. Dynamic
// NTK has as many as there are lengths.
inline bool can_reuse_chunks(const RopeConfig& rope) {
  return rope.scaling != RopeScaling::kDynamicNtk;
}

}  // namespace looseleaf

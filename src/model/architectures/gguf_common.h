// What GGUF files say in the same way for each family, under keys that begin with its name.
#pragma once

#include <string_view>

#include "model/architectures.h"

namespace looseleaf {

struct GgufFamily {
  std::string_view name;  // general.architecture, which its keys begin with
  RopePairs pairs = RopePairs::kHalves;
  bool partial_rotary = false;  // heads may turn in some of their dimensions only
  bool long_rope = false;       // rope_factors_short and rope_factors_long are known
  bool sliding_window = false;
};

// Errors: kCorrupt, kUnsupported (metadata that would change the computation, by name).
Expected<ModelConfig> config_from_gguf(const GgufFile& file, const GgufFamily& family);

// Names with a matrix each for query, key, value, gate and up.
inline constexpr TensorNames kGgufNames = {
    .embedding = "token_embd",
    .output_norm = "output_norm",
    .output = "output",
    .attention_norm = "blk.{}.attn_norm",
    .query = "blk.{}.attn_q",
    .key = "blk.{}.attn_k",
    .value = "blk.{}.attn_v",
    .query_key_value = "",
    .query_norm = "",
    .key_norm = "",
    .attention_output = "blk.{}.attn_output",
    .ffn_norm = "blk.{}.ffn_norm",
    .gate = "blk.{}.ffn_gate",
    .up = "blk.{}.ffn_up",
    .gate_up = "",
    .down = "blk.{}.ffn_down",
    .rope_divisors = "rope_freqs",
    .rope_short_divisors = "",
    .rope_long_divisors = "",
    .ignored_end = "",
};

}  // namespace looseleaf

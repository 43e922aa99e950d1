// What config.json says in the same way for each family.
#pragma once

#include <string_view>

#include "model/architectures.h"

namespace looseleaf {

struct HfFamily {
  std::string_view name;        // model_type
  bool partial_rotary = false;  // heads may turn in some of their dimensions only
  int default_head_dim = 0;     // where `head_dim` is missing; 0: hidden_size / heads
};

// Errors: kCorrupt, kUnsupported (fields that would change the computation, by name).
Expected<ModelConfig> config_from_json(const ObjectReader& json, const HfFamily& family);

// `sliding_window`: 0 where it is null or missing. Errors: kCorrupt (below 1).
Expected<int> window_from_json(const ObjectReader& json);
// Qwen's: only with `use_sliding_window`, from layer `max_window_layers` on.
// Errors: kUnsupported (a window in some layers only).
Expected<int> window_where_used(const ObjectReader& json, int layers);
// Errors: kUnsupported (there is one).
Status refuse_window(const ObjectReader& json, std::string_view family);

// Names with a matrix each for query, key, value, gate and up.
inline constexpr TensorNames kHfNames = {
    .embedding = "model.embed_tokens",
    .output_norm = "model.norm",
    .output = "lm_head",
    .attention_norm = "model.layers.{}.input_layernorm",
    .query = "model.layers.{}.self_attn.q_proj",
    .key = "model.layers.{}.self_attn.k_proj",
    .value = "model.layers.{}.self_attn.v_proj",
    .query_key_value = "",
    .query_norm = "",
    .key_norm = "",
    .attention_output = "model.layers.{}.self_attn.o_proj",
    .ffn_norm = "model.layers.{}.post_attention_layernorm",
    .gate = "model.layers.{}.mlp.gate_proj",
    .up = "model.layers.{}.mlp.up_proj",
    .gate_up = "",
    .down = "model.layers.{}.mlp.down_proj",
    .rope_divisors = "",
    .rope_short_divisors = "",
    .rope_long_divisors = "",
    .ignored_end = ".rotary_emb.inv_freq",
};

}  // namespace looseleaf

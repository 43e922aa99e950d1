// Phi-3, Phi-3.5-mini, Phi-4 and Phi-4-mini: fused projections, heads that may turn only in part,
// LongRoPE, a sliding window.
#include "model/architectures/gguf_common.h"
#include "model/architectures/hf_common.h"

namespace looseleaf {
namespace {

constexpr TensorNames fused(TensorNames names, std::string_view query_key_value,
                            std::string_view gate_up) {
  names.query = names.key = names.value = "";
  names.query_key_value = query_key_value;
  names.gate = names.up = "";
  names.gate_up = gate_up;
  return names;
}

constexpr TensorNames gguf_names() {
  TensorNames names = fused(kGgufNames, "blk.{}.attn_qkv", "blk.{}.ffn_up");
  names.rope_short_divisors = "rope_factors_short";
  names.rope_long_divisors = "rope_factors_long";
  return names;
}

Expected<Declaration> from_gguf(const GgufFile& file) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_gguf(file, {.name = "phi3",
                                                .partial_rotary = true,
                                                .long_rope = true,
                                                .sliding_window = true}));
  return out;
}

Expected<Declaration> from_json(const ObjectReader& json) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_json(json, {.name = "phi3", .partial_rotary = true}));
  LL_ASSIGN(out.config.sliding_window, window_from_json(json));
  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  out.weights = {tied.value_or(false), false, false, false};
  return out;
}

}  // namespace

extern constinit const Architecture kPhi3 = {
    .gguf_name = "phi3",
    .model_type = "phi3",
    .hf_class = "Phi3ForCausalLM",
    .from_gguf = from_gguf,
    .from_json = from_json,
    .gguf_tensors = gguf_names(),
    .hf_tensors =
        fused(kHfNames, "model.layers.{}.self_attn.qkv_proj", "model.layers.{}.mlp.gate_up_proj"),
};

}  // namespace looseleaf

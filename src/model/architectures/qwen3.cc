// Qwen3: each head's query and key are normalized before they turn.
#include "model/architectures/gguf_common.h"
#include "model/architectures/hf_common.h"

namespace looseleaf {
namespace {

constexpr TensorNames with_norms(TensorNames names, std::string_view query, std::string_view key) {
  names.query_norm = query;
  names.key_norm = key;
  return names;
}

Expected<Declaration> from_gguf(const GgufFile& file) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_gguf(file, {.name = "qwen3"}));
  return out;
}

Expected<Declaration> from_json(const ObjectReader& json) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_json(json, {.name = "qwen3", .default_head_dim = 128}));
  LL_ASSIGN(out.config.sliding_window, window_where_used(json, out.config.layers));
  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  LL_ASSIGN(const auto bias, json.find<bool>("attention_bias"));
  out.weights = {tied.value_or(false), bias.value_or(false), bias.value_or(false), false};
  return out;
}

}  // namespace

extern constinit const Architecture kQwen3 = {
    .gguf_name = "qwen3",
    .model_type = "qwen3",
    .hf_class = "Qwen3ForCausalLM",
    .from_gguf = from_gguf,
    .from_json = from_json,
    .gguf_tensors = with_norms(kGgufNames, "blk.{}.attn_q_norm", "blk.{}.attn_k_norm"),
    .hf_tensors = with_norms(kHfNames, "model.layers.{}.self_attn.q_norm",
                             "model.layers.{}.self_attn.k_norm"),
};

}  // namespace looseleaf

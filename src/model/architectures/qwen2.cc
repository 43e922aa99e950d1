// Qwen2 and Qwen2.5: query, key and value have biases.
#include "model/architectures/gguf_common.h"
#include "model/architectures/hf_common.h"

namespace looseleaf {
namespace {

Expected<Declaration> from_gguf(const GgufFile& file) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_gguf(file, {.name = "qwen2"}));
  out.weights.attention_bias = true;
  return out;
}

Expected<Declaration> from_json(const ObjectReader& json) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_json(json, {.name = "qwen2"}));
  LL_ASSIGN(out.config.sliding_window, window_where_used(json, out.config.layers));
  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  out.weights = {tied.value_or(false), true, false, false};
  return out;
}

}  // namespace

extern constinit const Architecture kQwen2 = {
    .gguf_name = "qwen2",
    .model_type = "qwen2",
    .hf_class = "Qwen2ForCausalLM",
    .from_gguf = from_gguf,
    .from_json = from_json,
    .gguf_tensors = kGgufNames,
    .hf_tensors = kHfNames,
};

}  // namespace looseleaf

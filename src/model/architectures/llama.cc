// Llama 2 and 3 and what is built like them (SmolLM2, TinyLlama). GGUF files of Mistral models call
// themselves llama too, and say nothing of a sliding window: only config.json does.
#include "model/architectures/gguf_common.h"
#include "model/architectures/hf_common.h"

namespace looseleaf {
namespace {

Expected<Declaration> from_gguf(const GgufFile& file) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_gguf(file, {.name = "llama", .pairs = RopePairs::kAdjacent}));
  return out;
}

Expected<Declaration> from_json(const ObjectReader& json) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_json(json, {.name = "llama"}));
  LL_RETURN_IF_ERROR(refuse_window(json, "llama"));
  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  LL_ASSIGN(const auto attention_bias, json.find<bool>("attention_bias"));
  LL_ASSIGN(const auto mlp_bias, json.find<bool>("mlp_bias"));
  out.weights = {tied.value_or(false), attention_bias.value_or(false),
                 attention_bias.value_or(false), mlp_bias.value_or(false)};
  return out;
}

}  // namespace

extern constinit const Architecture kLlama = {
    .gguf_name = "llama",
    .model_type = "llama",
    .hf_class = "LlamaForCausalLM",
    .from_gguf = from_gguf,
    .from_json = from_json,
    .gguf_tensors = kGgufNames,
    .hf_tensors = kHfNames,
};

}  // namespace looseleaf

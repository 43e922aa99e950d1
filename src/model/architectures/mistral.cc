// Mistral: llama with a sliding window, which only config.json tells.
#include <boost/json/object.hpp>

#include "model/architectures/hf_common.h"

namespace looseleaf {
namespace {

Expected<Declaration> from_json(const ObjectReader& json) {
  Declaration out;
  LL_ASSIGN(out.config, config_from_json(json, {.name = "mistral"}));
  LL_ASSIGN(out.config.sliding_window, window_from_json(json));
  // null is none; a field that is missing has transformers' default.
  if (!json.object().contains("sliding_window")) out.config.sliding_window = 4096;
  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  out.weights = {tied.value_or(false), false, false, false};
  return out;
}

}  // namespace

extern constinit const Architecture kMistral = {
    .gguf_name = "",
    .model_type = "mistral",
    .hf_class = "MistralForCausalLM",
    .from_gguf = nullptr,
    .from_json = from_json,
    .gguf_tensors = {},
    .hf_tensors = kHfNames,
};

}  // namespace looseleaf

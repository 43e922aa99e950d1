#include "model/architectures/hf_common.h"

#include "model/architectures/hf_rope.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Fields of config.json that would change the computation.
Status check_extras(const ObjectReader& json, std::string_view family) {
  LL_ASSIGN(const auto activation, json.find<std::string_view>("hidden_act"));
  if (activation.value_or("silu") != "silu")
    return error(ErrorCode::kUnsupported, "{}: hidden_act {} is not run for {}, only silu",
                 json.where(), quote(*activation), family);
  LL_ASSIGN(const auto quantization, json.find<ObjectReader>("quantization_config"));
  if (quantization)
    return error(ErrorCode::kUnsupported,
                 "{}: quantization_config is not read: use the original weights or a GGUF file",
                 json.where());
  LL_ASSIGN(const auto interleaved, json.find<bool>("rope_interleaved"));
  if (interleaved.value_or(false))
    return error(ErrorCode::kUnsupported, "{}: rope_interleaved is not run for {}", json.where(),
                 family);
  return {};
}

}  // namespace

Expected<ModelConfig> config_from_json(const ObjectReader& json, const HfFamily& family) {
  LL_RETURN_IF_ERROR(check_extras(json, family.name));
  ModelConfig config;
  config.architecture = family.name;
  LL_ASSIGN(config.vocab, json.get<int32_t>("vocab_size"));
  if (config.vocab < 1)
    return error(ErrorCode::kCorrupt, "{}: vocab_size is {}", json.where(), config.vocab);
  LL_ASSIGN(config.hidden, json.get<int32_t>("hidden_size"));
  LL_ASSIGN(config.layers, json.get<int32_t>("num_hidden_layers"));
  LL_ASSIGN(config.heads, json.get<int32_t>("num_attention_heads"));
  LL_ASSIGN(const auto kv_heads, json.find<int32_t>("num_key_value_heads"));
  config.kv_heads = kv_heads.value_or(config.heads);
  LL_ASSIGN(config.ffn, json.get<int32_t>("intermediate_size"));
  LL_ASSIGN(const double eps, json.get<double>("rms_norm_eps"));
  config.norm_eps = static_cast<float>(eps);
  LL_ASSIGN(config.context_length, json.get<int32_t>("max_position_embeddings"));
  LL_ASSIGN(const auto head_dim, json.find<int32_t>("head_dim"));
  const bool divided = !head_dim && family.default_head_dim == 0;
  if (divided && (config.heads < 1 || config.hidden % config.heads != 0))
    return error(ErrorCode::kCorrupt, "{}: {} num_attention_heads do not divide hidden_size {}",
                 json.where(), config.heads, config.hidden);
  config.head_dim =
      divided ? config.hidden / config.heads : head_dim.value_or(family.default_head_dim);
  LL_ASSIGN(config.rope, rope_from_json(json, family, config.head_dim, config.context_length));
  config.context_length = scaled_context(config.rope, config.context_length);
  return config;
}

Expected<int> window_from_json(const ObjectReader& json) {
  LL_ASSIGN(const auto window, json.find<int32_t>("sliding_window"));
  if (window && *window < 1)
    return error(ErrorCode::kCorrupt, "{}: sliding_window is {}: it must be at least 1",
                 json.where(), *window);
  return window.value_or(0);
}

Expected<int> window_where_used(const ObjectReader& json, int layers) {
  LL_ASSIGN(const auto used, json.find<bool>("use_sliding_window"));
  if (!used.value_or(false)) return 0;
  LL_ASSIGN(const int window, window_from_json(json));
  LL_ASSIGN(const auto stored_first, json.find<int32_t>("max_window_layers"));
  const int first = stored_first.value_or(28);  // transformers' default
  if (window == 0 || first >= layers) return 0;
  if (first > 0)
    return error(ErrorCode::kUnsupported,
                 "{}: sliding_window {} from layer {} of {} on is not run, only in all layers or "
                 "in none",
                 json.where(), window, first, layers);
  return window;
}

Status refuse_window(const ObjectReader& json, std::string_view family) {
  LL_ASSIGN(const auto window, json.find<int64_t>("sliding_window"));
  if (window)
    return error(ErrorCode::kUnsupported, "{}: sliding_window {} is not run for {}", json.where(),
                 *window, family);
  return {};
}

}  // namespace looseleaf

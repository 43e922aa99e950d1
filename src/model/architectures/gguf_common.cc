#include "model/architectures/gguf_common.h"

#include "model/architectures/gguf_rope.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Metadata that would change the computation, and the only value of it that is computed here.
Status check_extras(const GgufFile& file, std::string_view family) {
  const auto key = [family](std::string_view rest) { return fmt::format("{}.{}", family, rest); };
  LL_ASSIGN(const auto experts, file.find<uint32_t>(key("expert_count")));
  if (experts.value_or(0) != 0)
    return error(ErrorCode::kUnsupported, "{}: a mixture of {} experts is not run by this build",
                 file.path(), *experts);
  LL_ASSIGN(const auto causal, file.find<bool>(key("attention.causal")));
  if (!causal.value_or(true))
    return error(ErrorCode::kUnsupported, "{}: attention that is not causal is not run",
                 file.path());
  struct Factor {
    std::string_view key;
    double neutral;
  };
  for (const auto& [rest, neutral] : {
           Factor{"attention.scale", 0},
           Factor{"attention.clamp_kqv", 0},
           Factor{"attention.max_alibi_bias", 0},
           Factor{"attn_logit_softcapping", 0},
           Factor{"final_logit_softcapping", 0},
           Factor{"embedding_scale", 1},
           Factor{"residual_scale", 1},
           Factor{"logit_scale", 1},
       }) {
    LL_ASSIGN(const auto factor, file.find<double>(key(rest)));
    if (factor.value_or(neutral) != neutral)
      return error(ErrorCode::kUnsupported, "{}: metadata '{}' is {}: only {} is run by this build",
                   file.path(), key(rest), *factor, neutral);
  }
  return {};
}

}  // namespace

Expected<ModelConfig> config_from_gguf(const GgufFile& file, const GgufFamily& family) {
  LL_RETURN_IF_ERROR(check_extras(file, family.name));
  const auto key = [&](std::string_view rest) { return fmt::format("{}.{}", family.name, rest); };
  ModelConfig config;
  config.architecture = family.name;
  LL_ASSIGN(const auto name, file.find<std::string_view>("general.name"));
  config.name = name.value_or("");
  LL_ASSIGN(const auto vocab, file.find<int32_t>(key("vocab_size")));
  if (vocab.value_or(1) < 1)
    return error(ErrorCode::kCorrupt, "{}: vocab_size is {}", file.path(), *vocab);
  config.vocab = vocab.value_or(0);
  LL_ASSIGN(config.hidden, file.get<int32_t>(key("embedding_length")));
  LL_ASSIGN(config.layers, file.get<int32_t>(key("block_count")));
  LL_ASSIGN(config.heads, file.get<int32_t>(key("attention.head_count")));
  LL_ASSIGN(const auto kv_heads, file.find<int32_t>(key("attention.head_count_kv")));
  config.kv_heads = kv_heads.value_or(config.heads);
  LL_ASSIGN(config.ffn, file.get<int32_t>(key("feed_forward_length")));
  LL_ASSIGN(config.norm_eps, file.get<float>(key("attention.layer_norm_rms_epsilon")));
  LL_ASSIGN(config.context_length, file.get<int32_t>(key("context_length")));

  LL_ASSIGN(const auto key_length, file.find<int32_t>(key("attention.key_length")));
  LL_ASSIGN(const auto value_length, file.find<int32_t>(key("attention.value_length")));
  if (!key_length && (config.heads < 1 || config.hidden % config.heads != 0))
    return error(ErrorCode::kCorrupt, "{}: {} heads do not divide embedding_length {}", file.path(),
                 config.heads, config.hidden);
  config.head_dim = key_length ? *key_length : config.hidden / config.heads;
  if (value_length.value_or(config.head_dim) != config.head_dim)
    return error(ErrorCode::kUnsupported, "{}: keys of {} and values of {} dimensions differ",
                 file.path(), config.head_dim, *value_length);

  LL_ASSIGN(const auto window, file.find<int32_t>(key("attention.sliding_window")));
  if (window.value_or(0) != 0 && !family.sliding_window)
    return error(ErrorCode::kUnsupported, "{}: sliding window attention ({}) is not run for {}",
                 file.path(), *window, family.name);
  config.sliding_window = window.value_or(0);

  LL_ASSIGN(config.rope, rope_from_gguf(file, family, config.head_dim, config.context_length));
  config.context_length = scaled_context(config.rope, config.context_length);
  return config;
}

}  // namespace looseleaf

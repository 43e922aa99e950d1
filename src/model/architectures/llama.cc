// Llama 2 and 3 and what is built like them (SmolLM2, TinyLlama).
#include <cmath>

#include "model/architectures.h"
#include "model/architectures/hf_rope.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Metadata that would change the computation, and the only value of it that is computed here.
Status check_gguf_extras(const GgufFile& file) {
  LL_ASSIGN(const auto experts, file.find<uint32_t>("llama.expert_count"));
  if (experts.value_or(0) != 0)
    return error(ErrorCode::kUnsupported, "{}: a mixture of {} experts is not run by this build",
                 file.path(), *experts);
  LL_ASSIGN(const auto window, file.find<uint32_t>("llama.attention.sliding_window"));
  if (window.value_or(0) != 0)
    return error(ErrorCode::kUnsupported, "{}: sliding window attention ({}) is not run for llama",
                 file.path(), *window);
  LL_ASSIGN(const auto causal, file.find<bool>("llama.attention.causal"));
  if (!causal.value_or(true))
    return error(ErrorCode::kUnsupported, "{}: attention that is not causal is not run",
                 file.path());
  LL_ASSIGN(const auto scaling, file.find<std::string_view>("llama.rope.scaling.type"));
  if (scaling.value_or("none") != "none")
    return error(ErrorCode::kUnsupported, "{}: rope scaling {} is not run by this build",
                 file.path(), quote(*scaling));
  struct Factor {
    std::string_view key;
    double neutral;
  };
  for (const auto& [key, neutral] : {
           Factor{"llama.rope.scale_linear", 1},  // from before `rope.scaling`
           Factor{"llama.rope.scaling.factor", 1},
           Factor{"llama.rope.scaling.attn_factor", 1},
           Factor{"llama.attention.scale", 0},
           Factor{"llama.attention.clamp_kqv", 0},
           Factor{"llama.embedding_scale", 1},
           Factor{"llama.residual_scale", 1},
           Factor{"llama.logit_scale", 1},
       }) {
    LL_ASSIGN(const auto factor, file.find<double>(key));
    if (factor.value_or(neutral) != neutral)
      return error(ErrorCode::kUnsupported, "{}: metadata '{}' is {}: only {} is run by this build",
                   file.path(), key, *factor, neutral);
  }
  return {};
}

Expected<Declaration> from_gguf(const GgufFile& file) {
  LL_RETURN_IF_ERROR(check_gguf_extras(file));
  Declaration out;
  ModelConfig& config = out.config;
  config.architecture = "llama";
  LL_ASSIGN(const auto name, file.find<std::string_view>("general.name"));
  config.name = name.value_or("");
  LL_ASSIGN(const auto vocab, file.find<int32_t>("llama.vocab_size"));
  if (vocab.value_or(1) < 1)
    return error(ErrorCode::kCorrupt, "{}: vocab_size is {}", file.path(), *vocab);
  config.vocab = vocab.value_or(0);
  LL_ASSIGN(config.hidden, file.get<int32_t>("llama.embedding_length"));
  LL_ASSIGN(config.layers, file.get<int32_t>("llama.block_count"));
  LL_ASSIGN(config.heads, file.get<int32_t>("llama.attention.head_count"));
  LL_ASSIGN(const auto kv_heads, file.find<int32_t>("llama.attention.head_count_kv"));
  config.kv_heads = kv_heads.value_or(config.heads);
  LL_ASSIGN(config.ffn, file.get<int32_t>("llama.feed_forward_length"));
  LL_ASSIGN(config.norm_eps, file.get<float>("llama.attention.layer_norm_rms_epsilon"));
  LL_ASSIGN(config.context_length, file.get<int32_t>("llama.context_length"));

  LL_ASSIGN(const auto key_length, file.find<int32_t>("llama.attention.key_length"));
  LL_ASSIGN(const auto value_length, file.find<int32_t>("llama.attention.value_length"));
  if (!key_length && (config.heads < 1 || config.hidden % config.heads != 0))
    return error(ErrorCode::kCorrupt, "{}: {} heads do not divide embedding_length {}", file.path(),
                 config.heads, config.hidden);
  config.head_dim = key_length ? *key_length : config.hidden / config.heads;
  if (value_length.value_or(config.head_dim) != config.head_dim)
    return error(ErrorCode::kUnsupported, "{}: keys of {} and values of {} dimensions differ",
                 file.path(), config.head_dim, *value_length);

  LL_ASSIGN(const auto base, file.find<double>("llama.rope.freq_base"));
  config.rope.base = base.value_or(10000);
  LL_ASSIGN(const auto dims, file.find<int32_t>("llama.rope.dimension_count"));
  config.rope.dims = dims.value_or(config.head_dim);
  config.rope.pairs = RopePairs::kAdjacent;
  return out;
}

// Fields of config.json that would change the computation.
Status check_json_extras(const JsonView& json) {
  LL_ASSIGN(const auto activation, json.find<std::string_view>("hidden_act"));
  if (activation.value_or("silu") != "silu")
    return error(ErrorCode::kUnsupported, "{}: hidden_act {} is not run for llama, only silu",
                 json.where(), quote(*activation));
  LL_ASSIGN(const auto window, json.find<int64_t>("sliding_window"));
  if (window)
    return error(ErrorCode::kUnsupported, "{}: sliding_window {} is not run for llama",
                 json.where(), *window);
  LL_ASSIGN(const auto quantization, json.find<JsonView>("quantization_config"));
  if (quantization)
    return error(ErrorCode::kUnsupported,
                 "{}: quantization_config is not read: use the original weights or a GGUF file",
                 json.where());
  LL_ASSIGN(const auto interleaved, json.find<bool>("rope_interleaved"));
  if (interleaved.value_or(false))
    return error(ErrorCode::kUnsupported, "{}: rope_interleaved is not run for llama",
                 json.where());
  LL_ASSIGN(const auto rotary_part, json.find<double>("partial_rotary_factor"));
  if (rotary_part.value_or(1) != 1)
    return error(ErrorCode::kUnsupported, "{}: partial_rotary_factor {} is not run for llama",
                 json.where(), *rotary_part);
  return {};
}

Expected<Declaration> from_json(const JsonView& json) {
  LL_RETURN_IF_ERROR(check_json_extras(json));
  Declaration out;
  ModelConfig& config = out.config;
  config.architecture = "llama";
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
  if (!head_dim && (config.heads < 1 || config.hidden % config.heads != 0))
    return error(ErrorCode::kCorrupt, "{}: {} num_attention_heads do not divide hidden_size {}",
                 json.where(), config.heads, config.hidden);
  config.head_dim = head_dim ? *head_dim : config.hidden / config.heads;
  LL_ASSIGN(config.rope, rope_from_json(json, config.head_dim));

  LL_ASSIGN(const auto tied, json.find<bool>("tie_word_embeddings"));
  LL_ASSIGN(const auto attention_bias, json.find<bool>("attention_bias"));
  LL_ASSIGN(const auto mlp_bias, json.find<bool>("mlp_bias"));
  out.weights = {tied.value_or(false), attention_bias.value_or(false), mlp_bias.value_or(false)};
  return out;
}

}  // namespace

extern constinit const Architecture kLlama = {
    .gguf_name = "llama",
    .model_type = "llama",
    .hf_class = "LlamaForCausalLM",
    .from_gguf = from_gguf,
    .from_json = from_json,
    .gguf_tensors = {.embedding = "token_embd",
                     .output_norm = "output_norm",
                     .output = "output",
                     .attention_norm = "blk.{}.attn_norm",
                     .query = "blk.{}.attn_q",
                     .key = "blk.{}.attn_k",
                     .value = "blk.{}.attn_v",
                     .attention_output = "blk.{}.attn_output",
                     .ffn_norm = "blk.{}.ffn_norm",
                     .gate = "blk.{}.ffn_gate",
                     .up = "blk.{}.ffn_up",
                     .down = "blk.{}.ffn_down",
                     .rope_divisors = "rope_freqs",
                     .ignored_end = ""},
    .hf_tensors = {.embedding = "model.embed_tokens",
                   .output_norm = "model.norm",
                   .output = "lm_head",
                   .attention_norm = "model.layers.{}.input_layernorm",
                   .query = "model.layers.{}.self_attn.q_proj",
                   .key = "model.layers.{}.self_attn.k_proj",
                   .value = "model.layers.{}.self_attn.v_proj",
                   .attention_output = "model.layers.{}.self_attn.o_proj",
                   .ffn_norm = "model.layers.{}.post_attention_layernorm",
                   .gate = "model.layers.{}.mlp.gate_proj",
                   .up = "model.layers.{}.mlp.up_proj",
                   .down = "model.layers.{}.mlp.down_proj",
                   .rope_divisors = "",
                   .ignored_end = ".rotary_emb.inv_freq"},
};

}  // namespace looseleaf

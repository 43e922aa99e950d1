#include "model/architectures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "text/quote.h"

namespace looseleaf {

// One name and one entry a file in architectures/.
extern const Architecture kLlama, kMistral, kPhi3, kQwen2, kQwen3;

namespace {

constexpr std::array kArchitectures = {&kLlama, &kMistral, &kPhi3, &kQwen2, &kQwen3};

std::string known(std::string_view Architecture::*name) {
  std::string names;
  for (const Architecture* family : kArchitectures)
    if (!(family->*name).empty()) names += (names.empty() ? "" : ", ") + std::string(family->*name);
  return names;
}

// Which numbers a scaling is made of.
Status check_scaling(const RopeConfig& rope, std::string_view where) {
  const RopeScaling kind = rope.scaling;
  const bool llama3 = kind == RopeScaling::kLlama3, yarn = kind == RopeScaling::kYarn;
  const bool long_rope = kind == RopeScaling::kLongRope;
  const bool dynamic = kind == RopeScaling::kDynamicNtk;
  struct Number {
    std::string_view name;
    double value, least;
    bool used;
  };
  constexpr double kPositive = std::numeric_limits<double>::min();
  for (const auto& [name, value, least, used] :
       {Number{"factor", rope.factor, kPositive, !long_rope},
        Number{"original context", rope.original_context, 1,
               llama3 || yarn || long_rope || dynamic},
        Number{"low_freq_factor", rope.low_frequency_factor, kPositive, llama3},
        Number{"high_freq_factor", rope.high_frequency_factor, kPositive, llama3},
        Number{"beta_fast", rope.beta_fast, kPositive, yarn},
        Number{"beta_slow", rope.beta_slow, kPositive, yarn},
        Number{"attention factor", rope.attention_factor, kPositive, true}})
    if (used && (!std::isfinite(value) || value < least))
      return error(ErrorCode::kCorrupt, "{}: {} rope scaling: {} is {}: it must be {}", where,
                   rope_scaling_name(kind), name, value, least == 1 ? "at least 1" : "positive");
  if (llama3 && rope.low_frequency_factor >= rope.high_frequency_factor)
    return error(ErrorCode::kCorrupt,
                 "{}: llama3 rope scaling: low_freq_factor {} is not below high_freq_factor {}",
                 where, rope.low_frequency_factor, rope.high_frequency_factor);
  if (yarn && (rope.beta_fast < rope.beta_slow || rope.base <= 1))
    return error(ErrorCode::kCorrupt,
                 "{}: yarn rope scaling: beta_fast {} is below beta_slow {}, or the base is {}",
                 where, rope.beta_fast, rope.beta_slow, rope.base);
  if (dynamic && (rope.dims <= 2 || rope.factor < 1))
    return error(ErrorCode::kCorrupt,
                 "{}: dynamic rope scaling: {} rotary dimensions and factor {}: more than 2 and at "
                 "least 1 are needed",
                 where, rope.dims, rope.factor);
  return {};
}

Status check_rope(const RopeConfig& rope, int head_dim, std::string_view where) {
  if (rope.dims < 2 || rope.dims % 2 != 0 || rope.dims > head_dim)
    return error(ErrorCode::kCorrupt, "{}: {} rotary dimensions: an even number up to head_dim {}",
                 where, rope.dims, head_dim);
  if (!std::isfinite(rope.base) || rope.base < 1)
    return error(ErrorCode::kCorrupt, "{}: rope base is {}: it must be at least 1", where,
                 rope.base);
  return check_scaling(rope, where);
}

}  // namespace

Expected<const Architecture*> find_architecture(const GgufFile& file) {
  LL_ASSIGN(const auto name, file.get<std::string_view>("general.architecture"));
  for (const Architecture* family : kArchitectures)
    if (family->gguf_name == name && !name.empty()) return family;
  return error(ErrorCode::kUnsupported, "{}: architecture {} is not known: this build runs {}",
               file.path(), quote(name), known(&Architecture::gguf_name));
}

Expected<const Architecture*> find_architecture(const ObjectReader& config) {
  LL_ASSIGN(const auto type, config.get<std::string_view>("model_type"));
  for (const Architecture* family : kArchitectures) {
    if (family->model_type != type) continue;
    const auto* classes = config.object().if_contains("architectures");
    if (classes == nullptr || classes->is_null()) return family;
    if (!classes->is_array() || classes->get_array().size() != 1 ||
        !classes->get_array()[0].is_string())
      return error(ErrorCode::kCorrupt, "{}: 'architectures' is not an array of one name",
                   config.where());
    const std::string_view hf_class = classes->get_array()[0].get_string();
    if (hf_class == family->hf_class) return family;
    return error(ErrorCode::kUnsupported, "{}: architecture {} is not known: this build runs {}",
                 config.where(), quote(hf_class), known(&Architecture::hf_class));
  }
  return error(ErrorCode::kUnsupported, "{}: model_type {} is not known: this build runs {}",
               config.where(), quote(type), known(&Architecture::model_type));
}

int scaled_context(const RopeConfig& rope, int context) {
  double stretched = context;
  if (rope.scaling == RopeScaling::kLinear || rope.scaling == RopeScaling::kDynamicNtk)
    stretched *= rope.factor;
  if (rope.scaling == RopeScaling::kYarn)
    stretched = std::max(stretched, rope.original_context * rope.factor);
  // A factor that is no such thing is told by check_config.
  return stretched >= 1 && stretched < INT32_MAX ? static_cast<int>(stretched) : context;
}

Status check_config(const ModelConfig& config, std::string_view where) {
  struct Count {
    std::string_view name;
    int value;
  };
  for (const auto& [name, value] :
       {Count{"layers", config.layers}, Count{"hidden", config.hidden},
        Count{"heads", config.heads}, Count{"kv_heads", config.kv_heads},
        Count{"head_dim", config.head_dim}, Count{"ffn", config.ffn},
        Count{"context_length", config.context_length}})
    if (value < 1)
      return error(ErrorCode::kCorrupt, "{}: {} is {}: it must be at least 1", where, name, value);
  if (config.heads % config.kv_heads != 0)
    return error(ErrorCode::kCorrupt, "{}: {} heads cannot share {} kv_heads equally", where,
                 config.heads, config.kv_heads);
  if (int64_t{config.heads} * config.head_dim > INT32_MAX)
    return error(ErrorCode::kCorrupt, "{}: {} heads of {} dimensions overflow 31 bits", where,
                 config.heads, config.head_dim);
  if (!std::isfinite(config.norm_eps) || config.norm_eps <= 0)
    return error(ErrorCode::kCorrupt, "{}: norm_eps is {}: it must be positive", where,
                 config.norm_eps);
  if (config.sliding_window < 0)
    return error(ErrorCode::kCorrupt, "{}: sliding_window is {}: it must be at least 1", where,
                 config.sliding_window);
  return check_rope(config.rope, config.head_dim, where);
}

}  // namespace looseleaf

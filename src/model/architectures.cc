#include "model/architectures.h"

#include <array>
#include <cmath>

#include "text/quote.h"

namespace looseleaf {

// One name and one entry a file in architectures/.
extern const Architecture kLlama;

namespace {

constexpr std::array kArchitectures = {&kLlama};

std::string known(std::string_view Architecture::*name) {
  std::string names;
  for (const Architecture* family : kArchitectures)
    names += (names.empty() ? "" : ", ") + std::string(family->*name);
  return names;
}

}  // namespace

Expected<const Architecture*> find_architecture(const GgufFile& file) {
  LL_ASSIGN(const auto name, file.get<std::string_view>("general.architecture"));
  for (const Architecture* family : kArchitectures)
    if (family->gguf_name == name) return family;
  return error(ErrorCode::kUnsupported, "{}: architecture {} is not known: this build runs {}",
               file.path(), quote(name), known(&Architecture::gguf_name));
}

Expected<const Architecture*> find_architecture(const JsonView& config) {
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
  const RopeConfig& rope = config.rope;
  if (rope.dims < 2 || rope.dims % 2 != 0 || rope.dims > config.head_dim)
    return error(ErrorCode::kCorrupt, "{}: {} rotary dimensions: an even number up to head_dim {}",
                 where, rope.dims, config.head_dim);
  if (!std::isfinite(rope.base) || rope.base < 1)
    return error(ErrorCode::kCorrupt, "{}: rope base is {}: it must be at least 1", where,
                 rope.base);
  if (rope.llama3) {
    const Llama3Scaling& s = rope.llama3_scaling;
    for (const double value :
         {s.factor, s.low_frequency_factor, s.high_frequency_factor, s.original_context})
      if (!std::isfinite(value) || value <= 0)
        return error(ErrorCode::kCorrupt, "{}: llama3 rope scaling has {}: all must be positive",
                     where, value);
    if (s.low_frequency_factor >= s.high_frequency_factor)
      return error(ErrorCode::kCorrupt,
                   "{}: llama3 rope scaling: low_freq_factor {} is not below high_freq_factor {}",
                   where, s.low_frequency_factor, s.high_frequency_factor);
  }
  return {};
}

}  // namespace looseleaf

#include "model/generation.h"

#include <limits>

namespace looseleaf {
namespace {

Status check(std::optional<float> value, std::string_view name, float least, float most,
             std::string_view where) {
  if (!value || (*value >= least && *value <= most)) return {};  // a NaN is neither
  return error(ErrorCode::kCorrupt, "{}: {} is {}, not {} to {}", where, name, *value, least, most);
}

Expected<std::optional<float>> find_float(const ObjectReader& config, std::string_view key) {
  LL_ASSIGN(const auto value, config.find<double>(key));
  if (!value) return std::optional<float>();
  return std::optional<float>(static_cast<float>(*value));
}

}  // namespace

Status check_generation(const GenerationDefaults& defaults, std::string_view where) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::min();
  LL_RETURN_IF_ERROR(check(defaults.temperature, "temperature", 0, kMost, where));
  LL_RETURN_IF_ERROR(check(defaults.top_p, "top_p", 0, 1, where));
  LL_RETURN_IF_ERROR(check(defaults.min_p, "min_p", 0, 1, where));
  LL_RETURN_IF_ERROR(
      check(defaults.repetition_penalty, "repetition_penalty", kLeast, kMost, where));
  if (defaults.top_k.value_or(0) < 0)
    return error(ErrorCode::kCorrupt, "{}: top_k is {}, below 0", where, *defaults.top_k);
  return {};
}

Expected<GenerationDefaults> generation_from_json(const ObjectReader& config) {
  GenerationDefaults out;
  LL_ASSIGN(const auto sample, config.find<bool>("do_sample"));
  if (!sample.value_or(false)) return out;
  LL_ASSIGN(out.temperature, find_float(config, "temperature"));
  LL_ASSIGN(out.top_p, find_float(config, "top_p"));
  LL_ASSIGN(out.min_p, find_float(config, "min_p"));
  LL_ASSIGN(out.repetition_penalty, find_float(config, "repetition_penalty"));
  LL_ASSIGN(out.top_k, config.find<int32_t>("top_k"));
  LL_RETURN_IF_ERROR(check_generation(out, config.where()));
  return out;
}

}  // namespace looseleaf

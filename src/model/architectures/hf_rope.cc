#include "model/architectures/hf_rope.h"

#include <boost/json/value.hpp>
#include <cmath>
#include <limits>

#include "text/quote.h"

namespace looseleaf {
namespace {

// The object that holds the scaling, if any.
Expected<std::optional<ObjectReader>> scaling_object(const ObjectReader& config) {
  LL_ASSIGN(const auto old_form, config.find<ObjectReader>("rope_scaling"));
  LL_ASSIGN(const auto new_form, config.find<ObjectReader>("rope_parameters"));
  if (old_form && new_form && old_form->object() != new_form->object())
    return error(ErrorCode::kCorrupt, "{}: rope_scaling and rope_parameters differ: keep one",
                 config.where());
  return new_form ? new_form : old_form;
}

Expected<std::string_view> scaling_type(const ObjectReader& scaling) {
  LL_ASSIGN(const auto new_name, scaling.find<std::string_view>("rope_type"));
  LL_ASSIGN(const auto old_name, scaling.find<std::string_view>("type"));
  if (new_name && old_name && *new_name != *old_name)
    return error(ErrorCode::kCorrupt, "{}: rope_type {} and type {} differ: keep one",
                 scaling.where(), quote(*new_name), quote(*old_name));
  if (!new_name && !old_name)
    return error(ErrorCode::kCorrupt, "{} is missing; fetch the file again",
                 scaling.where("rope_type"));
  return new_name ? *new_name : *old_name;
}

Expected<double> base(const ObjectReader& config, const std::optional<ObjectReader>& scaling) {
  LL_ASSIGN(const auto outer, config.find<double>("rope_theta"));
  std::optional<double> inner;
  if (scaling) {
    LL_ASSIGN(inner, scaling->find<double>("rope_theta"));
  }
  if (outer && inner && *outer != *inner)
    return error(ErrorCode::kCorrupt, "{}: rope_theta is {} and {}: keep one", config.where(),
                 *outer, *inner);
  return inner ? *inner : outer.value_or(10000);
}

// Rotary dimensions of a head.
Expected<int> rotary_dims(const ObjectReader& config, const std::optional<ObjectReader>& scaling,
                          const HfFamily& family, int head_dim) {
  LL_ASSIGN(const auto outer, config.find<double>("partial_rotary_factor"));
  std::optional<double> inner;
  if (scaling) {
    LL_ASSIGN(inner, scaling->find<double>("partial_rotary_factor"));
  }
  if (outer && inner && *outer != *inner)
    return error(ErrorCode::kCorrupt, "{}: partial_rotary_factor is {} and {}: keep one",
                 config.where(), *outer, *inner);
  const double part = inner ? *inner : outer.value_or(1);
  if (part != 1 && !family.partial_rotary)
    return error(ErrorCode::kUnsupported, "{}: partial_rotary_factor {} is not run for {}",
                 config.where(), part, family.name);
  if (!(part > 0 && part <= 1))
    return error(ErrorCode::kCorrupt,
                 "{}: partial_rotary_factor is {}: it must be above 0, up to 1", config.where(),
                 part);
  return static_cast<int>(head_dim * part);
}

// Some models say it beside the scaling, which then holds.
Expected<double> original_context(const ObjectReader& config, const ObjectReader& scaling,
                                  int context) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  LL_ASSIGN(const auto outer, config.find<double>(kKey));
  LL_ASSIGN(const auto inner, scaling.find<double>(kKey));
  return outer ? *outer : inner.value_or(context);
}

Status read_llama3(const ObjectReader& scaling, RopeConfig& rope) {
  rope.scaling = RopeScaling::kLlama3;
  LL_ASSIGN(rope.factor, scaling.get<double>("factor"));
  LL_ASSIGN(rope.low_frequency_factor, scaling.get<double>("low_freq_factor"));
  LL_ASSIGN(rope.high_frequency_factor, scaling.get<double>("high_freq_factor"));
  LL_ASSIGN(rope.original_context, scaling.get<double>("original_max_position_embeddings"));
  return {};
}

// 2309.00071, section 3.4; `mscale` is DeepSeek's.
double yarn_attention(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

Status read_yarn(const ObjectReader& config, const ObjectReader& scaling, int context,
                 RopeConfig& rope) {
  rope.scaling = RopeScaling::kYarn;
  LL_ASSIGN(rope.original_context, original_context(config, scaling, context));
  LL_ASSIGN(const auto factor, scaling.find<double>("factor"));
  rope.factor = factor.value_or(context / rope.original_context);
  LL_ASSIGN(const auto fast, scaling.find<double>("beta_fast"));
  LL_ASSIGN(const auto slow, scaling.find<double>("beta_slow"));
  rope.beta_fast = fast.value_or(0) == 0 ? 32 : *fast;
  rope.beta_slow = slow.value_or(0) == 0 ? 1 : *slow;
  LL_ASSIGN(const auto truncate, scaling.find<bool>("truncate"));
  rope.truncate = truncate.value_or(true);
  LL_ASSIGN(const auto attention, scaling.find<double>("attention_factor"));
  LL_ASSIGN(const auto mscale, scaling.find<double>("mscale"));
  LL_ASSIGN(const auto all_dims, scaling.find<double>("mscale_all_dim"));
  rope.attention_factor = yarn_attention(rope.factor, 1);
  if (mscale.value_or(0) != 0 && all_dims.value_or(0) != 0)
    rope.attention_factor =
        yarn_attention(rope.factor, *mscale) / yarn_attention(rope.factor, *all_dims);
  if (attention) rope.attention_factor = *attention;
  return {};
}

Expected<std::vector<float>> divisors(const ObjectReader& scaling, std::string_view key, int dims) {
  LL_ASSIGN(const auto numbers, scaling.get<std::vector<double>>(key));
  if (numbers.size() != static_cast<size_t>(dims / 2))
    return error(ErrorCode::kCorrupt, "{}: '{}' has {} numbers for {} rotary dimensions: {} belong",
                 scaling.where(), key, numbers.size(), dims, dims / 2);
  std::vector<float> out;
  for (const double number : numbers) {
    out.push_back(number <= std::numeric_limits<float>::max() ? static_cast<float>(number) : 0);
    if (out.back() <= 0)
      return error(ErrorCode::kCorrupt, "{}: '{}' has {}: divisors are positive", scaling.where(),
                   key, number);
  }
  return out;
}

Status read_long_rope(const ObjectReader& config, const ObjectReader& scaling, int context,
                      RopeConfig& rope) {
  rope.scaling = RopeScaling::kLongRope;
  LL_ASSIGN(rope.original_context, original_context(config, scaling, context));
  LL_ASSIGN(rope.divisors, divisors(scaling, "short_factor", rope.dims));
  LL_ASSIGN(rope.long_divisors, divisors(scaling, "long_factor", rope.dims));
  LL_ASSIGN(const auto factor, scaling.find<double>("factor"));
  LL_ASSIGN(const auto attention, scaling.find<double>("attention_factor"));
  const double stretch = factor.value_or(context / rope.original_context);
  if (attention)
    rope.attention_factor = *attention;
  else if (stretch > 1)
    rope.attention_factor = std::sqrt(1 + std::log(stretch) / std::log(rope.original_context));
  return {};
}

}  // namespace

Expected<RopeConfig> rope_from_json(const ObjectReader& config, const HfFamily& family,
                                    int head_dim, int context) {
  RopeConfig rope;
  LL_ASSIGN(const auto scaling, scaling_object(config));
  LL_ASSIGN(rope.dims, rotary_dims(config, scaling, family, head_dim));
  LL_ASSIGN(rope.base, base(config, scaling));
  if (!scaling) return rope;
  LL_ASSIGN(const auto type, scaling_type(*scaling));
  if (type == "default") return rope;
  // Phi-3's first files call LongRoPE "su" and "yarn".
  const bool long_rope = type == "longrope" || type == "su" ||
                         (type == "yarn" && scaling->object().contains("short_factor"));
  if (long_rope) {
    LL_RETURN_IF_ERROR(read_long_rope(config, *scaling, context, rope));
  } else if (type == "llama3") {
    LL_RETURN_IF_ERROR(read_llama3(*scaling, rope));
  } else if (type == "yarn") {
    LL_RETURN_IF_ERROR(read_yarn(config, *scaling, context, rope));
  } else if (type == "linear" || type == "dynamic") {
    rope.scaling = type == "linear" ? RopeScaling::kLinear : RopeScaling::kDynamicNtk;
    rope.original_context = context;
    LL_ASSIGN(rope.factor, scaling->get<double>("factor"));
  } else {
    return error(
        ErrorCode::kUnsupported,
        "{}: rope type {} is not run by this build, only default, linear, dynamic, llama3, "
        "yarn and longrope",
        scaling->where(), quote(type));
  }
  return rope;
}

}  // namespace looseleaf

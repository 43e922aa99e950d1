#include "model/architectures/hf_rope.h"

#include <boost/json/value.hpp>

#include "text/quote.h"

namespace looseleaf {
namespace {

// The object that holds the scaling, if any.
Expected<std::optional<JsonView>> scaling_object(const JsonView& config) {
  LL_ASSIGN(const auto old_form, config.find<JsonView>("rope_scaling"));
  LL_ASSIGN(const auto new_form, config.find<JsonView>("rope_parameters"));
  if (old_form && new_form && old_form->object() != new_form->object())
    return error(ErrorCode::kCorrupt, "{}: rope_scaling and rope_parameters differ: keep one",
                 config.where());
  return new_form ? new_form : old_form;
}

Expected<std::string_view> scaling_type(const JsonView& scaling) {
  LL_ASSIGN(const auto new_name, scaling.find<std::string_view>("rope_type"));
  LL_ASSIGN(const auto old_name, scaling.find<std::string_view>("type"));
  if (new_name && old_name && *new_name != *old_name)
    return error(ErrorCode::kCorrupt, "{}: rope_type {} and type {} differ: keep one",
                 scaling.where(), quote(*new_name), quote(*old_name));
  if (!new_name && !old_name)
    return error(ErrorCode::kCorrupt, "{}: 'rope_type' is missing", scaling.where());
  return new_name ? *new_name : *old_name;
}

Expected<double> base(const JsonView& config, const std::optional<JsonView>& scaling) {
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

}  // namespace

Expected<RopeConfig> rope_from_json(const JsonView& config, int dims) {
  RopeConfig rope;
  rope.dims = dims;
  rope.pairs = RopePairs::kHalves;
  LL_ASSIGN(const auto scaling, scaling_object(config));
  LL_ASSIGN(rope.base, base(config, scaling));
  if (!scaling) return rope;
  LL_ASSIGN(const auto rotary_part, scaling->find<double>("partial_rotary_factor"));
  if (rotary_part.value_or(1) != 1)
    return error(ErrorCode::kUnsupported, "{}: partial_rotary_factor {} is not run by this build",
                 scaling->where(), *rotary_part);
  LL_ASSIGN(const auto type, scaling_type(*scaling));
  if (type == "default") return rope;
  if (type != "llama3")
    return error(ErrorCode::kUnsupported,
                 "{}: rope type {} is not run by this build, only default and llama3",
                 scaling->where(), quote(type));
  rope.llama3 = true;
  Llama3Scaling& s = rope.llama3_scaling;
  LL_ASSIGN(s.factor, scaling->get<double>("factor"));
  LL_ASSIGN(s.low_frequency_factor, scaling->get<double>("low_freq_factor"));
  LL_ASSIGN(s.high_frequency_factor, scaling->get<double>("high_freq_factor"));
  LL_ASSIGN(s.original_context, scaling->get<double>("original_max_position_embeddings"));
  return rope;
}

}  // namespace looseleaf

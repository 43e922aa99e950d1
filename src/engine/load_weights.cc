#include "engine/load_weights.h"

namespace looseleaf {

Status load_weights(const Model& model, Device& device) {
  const auto vector = [&](const std::vector<float>& values) -> Status {
    if (values.empty()) return {};
    return device.load(std::span<const float>(values));
  };
  LL_RETURN_IF_ERROR(device.load(model.embedding));
  LL_RETURN_IF_ERROR(vector(model.output_norm));
  for (const LayerWeights& layer : model.layers) {
    for (const WeightMatrix* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up,
          &layer.down})
      LL_RETURN_IF_ERROR(device.load(*matrix));
    for (const std::vector<float>* values :
         {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.query_bias,
          &layer.key_bias, &layer.value_bias, &layer.attention_output_bias, &layer.ffn_norm,
          &layer.gate_bias, &layer.up_bias, &layer.down_bias})
      LL_RETURN_IF_ERROR(vector(*values));
  }
  return device.load(model.output);
}

}  // namespace looseleaf

// describe_weight_types: which number formats a model is made of.
#include <algorithm>
#include <map>

#include "model/model.h"

namespace looseleaf {

std::string describe_weight_types(const Model& model) {
  std::map<std::string_view, int> counts;
  const auto count = [&](const WeightMatrix& matrix) { ++counts[matrix.type->name]; };
  count(model.embedding);
  if (!model.tied) count(model.output);
  for (const LayerWeights& layer : model.layers)
    for (const WeightMatrix* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up,
          &layer.down})
      count(*matrix);
  std::vector<std::pair<std::string_view, int>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.second, a.first) < std::pair(-b.second, b.first);
  });
  std::string text;
  for (const auto& [name, number] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, number);
  return text;
}

}  // namespace looseleaf

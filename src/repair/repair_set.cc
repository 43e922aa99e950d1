#include "repair/repair_set.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace looseleaf {
namespace {

// Where each document begins; behind the last, the number of tokens.
std::vector<int32_t> document_starts(const std::vector<int32_t>& chunks) {
  std::vector<int32_t> starts;
  for (size_t i = 0; i < chunks.size(); ++i)
    if (i == 0 || chunks[i] != chunks[i - 1]) starts.push_back(static_cast<int32_t>(i));
  starts.push_back(static_cast<int32_t>(chunks.size()));
  return starts;
}

// The recorded token that each one stands for.
std::vector<int32_t> sources(const RepairSet& set, const PromptShape& shape) {
  const auto recorded = document_starts(set.chunks), wanted = document_starts(shape.chunks);
  const int64_t documents = std::ssize(recorded) - 1, count = std::ssize(wanted) - 1;
  std::vector<int32_t> out;
  for (int64_t d = 0; d < count; ++d) {
    const auto from = static_cast<size_t>(d * documents / count);
    const int64_t length = recorded[from + 1] - recorded[from];
    const int64_t tokens = wanted[static_cast<size_t>(d) + 1] - wanted[static_cast<size_t>(d)];
    for (int64_t place = 0; place < tokens; ++place)
      out.push_back(recorded[from] + static_cast<int32_t>(place * length / tokens));
  }
  return out;
}

int32_t scaled(int32_t depth, int layers, int wanted) {
  if (depth <= 0 || wanted < 2) return std::min(depth, 0);
  const int from = layers - 1, to = wanted - 1;
  return std::max(1, (2 * depth * to + from) / (2 * from));
}

// An order of equals that favours no place.
uint32_t scattered(int32_t i) { return static_cast<uint32_t>(i) * 2654435769U; }

}  // namespace

std::vector<int32_t> map_repair_set(const RepairSet& set, const PromptShape& shape) {
  const std::vector<int32_t> source = sources(set, shape);
  const auto depth = [&](int32_t i) {
    return set.depths[static_cast<size_t>(source[static_cast<size_t>(i)])];
  };
  std::vector<int32_t> order(source.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return depth(a) != depth(b) ? depth(a) > depth(b) : scattered(a) < scattered(b);
  });
  // The sources' own counts would miss the recorded shares by whatever the scaling doubled or
  // dropped.
  std::vector<int32_t> falling = set.depths;
  std::sort(falling.begin(), falling.end(), std::greater());
  const auto from = static_cast<int64_t>(falling.size()), to = static_cast<int64_t>(order.size());
  std::vector<int32_t> depths(order.size());
  for (int64_t rank = 0; rank < to; ++rank) {
    const auto quantile = static_cast<size_t>((2 * rank + 1) * from / (2 * to));
    depths[static_cast<size_t>(order[static_cast<size_t>(rank)])] =
        scaled(falling[quantile], set.layers, shape.layers);
  }
  return depths;
}

std::vector<std::vector<int32_t>> targets_of_depths(const std::vector<int32_t>& depths,
                                                    int layers) {
  std::vector<std::vector<int32_t>> targets(static_cast<size_t>(layers));
  for (size_t i = 0; i < depths.size(); ++i)
    if (depths[i] != RepairPlan::kOutside)
      targets[static_cast<size_t>(depths[i])].push_back(static_cast<int32_t>(i));
  return targets;
}

}  // namespace looseleaf

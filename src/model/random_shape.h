// Models named random:NAME[/LAYERS]: the shape of a known model, for benches where its weights are
// not at hand. What they say means nothing.
#pragma once

#include <string_view>

#include "base/status.h"
#include "model/config.h"

namespace looseleaf {

struct RandomShape {
  ModelConfig config;
  bool tied = false;            // the output matrix is the embedding
  bool attention_bias = false;  // of query, key and value
  bool head_norms = false;      // of each head's query and key, before they turn
};

bool is_random_name(std::string_view path);

// "random:llama-3.1-8b" is the model's shape, "random:llama-3.1-8b/12" its first 12 layers.
// Errors: kUsage (an unknown name, with those that are known; a number of layers that it has not).
Expected<RandomShape> parse_random_name(std::string_view path);

}  // namespace looseleaf

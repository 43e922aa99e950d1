#include "engine/flops.h"

#include <algorithm>

namespace looseleaf {
namespace {

struct Rows {
  double count = 0;
  double pairs = 0;       // visible (row, key) pairs of all rows
  double last_pairs = 0;  // of the last row

  void add(const ModelConfig& config, int position) {
    const int visible =
        config.sliding_window > 0 ? std::min(position + 1, config.sliding_window) : position + 1;
    count += 1;
    pairs += visible;
    last_pairs = visible;
  }
};

double flops(const ModelConfig& config, const Rows& rows) {
  const double hidden = config.hidden, layers = config.layers;
  const double query_width = double(config.heads) * config.head_dim;
  const double key_value = 2.0 * config.kv_heads * config.head_dim * hidden;
  const double rest = 2 * query_width * hidden + 3.0 * config.ffn * hidden;
  const double products = 2 * (rows.count * ((layers - 1) * (key_value + rest) + key_value) + rest +
                               double(config.vocab) * hidden);
  const double attention = 4 * query_width * (rows.pairs * (layers - 1) + rows.last_pairs);
  return products + attention;
}

}  // namespace

double pending_flops(const ModelConfig& config, const Sequence& sequence) {
  Rows rows;
  for (const auto& part : sequence.parts)
    if (const auto* run = std::get_if<TextRun>(&part))
      for (int i = run->computed; i < static_cast<int>(run->tokens.size()); ++i)
        rows.add(config, run->position + i);
  return flops(config, rows);
}

double full_prefill_flops(const ModelConfig& config, int prompt_tokens) {
  Rows rows;
  for (int i = 0; i < prompt_tokens; ++i) rows.add(config, i);
  return flops(config, rows);
}

}  // namespace looseleaf

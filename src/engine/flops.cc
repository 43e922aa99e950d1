#include "engine/flops.h"

#include <algorithm>
#include <vector>

#include "engine/visible_pairs.h"

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

double pass_flops(const ModelConfig& config, const Pass& pass) {
  const double query_width = double(config.heads) * config.head_dim;
  const double key_value = 2.0 * config.kv_heads * config.head_dim * config.hidden;
  const double rest = 2 * query_width * config.hidden + 3.0 * config.ffn * config.hidden;
  std::vector<int32_t> positions;
  std::vector<std::vector<int32_t>> rows(pass.groups.size());
  for (const PassRow& row : pass.rows) {
    rows[static_cast<size_t>(row.group)].push_back(static_cast<int32_t>(positions.size()));
    positions.push_back(row.last_seen());
  }
  std::vector<RowGroup> groups;
  for (size_t g = 0; g < rows.size(); ++g) groups.push_back({rows[g], pass.groups[g].uses});
  AttendArgs args;
  args.window = config.sliding_window;
  args.segments = pass.segments;
  args.groups = groups;
  args.positions = positions;

  double flops = 2.0 * pass.outputs * config.vocab * config.hidden;
  for (int layer = pass.first_layer; layer < std::min(config.layers, pass.end_layer); ++layer) {
    const auto deeper = [&](int depth) {
      return std::count_if(pass.rows.begin(), pass.rows.end(),
                           [&](const PassRow& row) { return row.depth >= depth; });
    };
    args.layer = layer;
    args.active = static_cast<int>(deeper(layer + 1));
    if (layer >= pass.first_kv_layer) flops += 2 * key_value * static_cast<double>(deeper(layer));
    flops += 2 * rest * args.active;
    flops += 4 * query_width * static_cast<double>(visible_pairs(args));
  }
  return flops;
}

double full_prefill_flops(const ModelConfig& config, int prompt_tokens) {
  Rows rows;
  for (int i = 0; i < prompt_tokens; ++i) rows.add(config, i);
  return flops(config, rows);
}

}  // namespace looseleaf

#include <cmath>
#include <limits>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"
#include "compute/cpu/rotary.h"

namespace looseleaf {
namespace {

// One token's K or V row as float64.
std::vector<double> stored_row(const Segment& s, int64_t head_offset, int32_t token) {
  std::vector<float> row(static_cast<size_t>(s.layout->head_dim));
  const std::byte* page = s.pages[static_cast<size_t>(token / kPageTokens)];
  load_kv(*s.layout, page + head_offset, token % kPageTokens, 1, row.data());
  return {row.begin(), row.end()};
}

// Calls use(use, key index, segment, score) for each key that the row may see, uses in order.
template <typename Body>
void for_visible_scores(const AttendArgs& args, const RowGroup& group, int32_t row, int head,
                        const Body& body) {
  const int share = args.heads / args.kv_heads;
  const int64_t position = args.positions[static_cast<size_t>(row)];
  const float* query = args.query + (int64_t{row} * args.heads + head) * args.head_dim;
  for (const SegmentUse& use : group.uses) {
    const Segment& s = args.segments[static_cast<size_t>(use.segment)];
    for (int32_t i = 0; i < s.tokens(args.layer); ++i) {
      const int64_t key_position = s.position_of(i);
      if (key_position > position || key_position >= use.limit) continue;
      if (args.window > 0 && position - key_position >= args.window) continue;
      if (s.is_stale(args.layer, i)) continue;
      auto key = stored_row(s, s.layout->key_offset(args.layer, head / share), i);
      // The key is turned forward, where the fast path turns the query back.
      if (!s.turn.empty())
        turn_head<Turn::kForward>(key.data(), s.turn.data(), args.rotary_dims, args.pairs);
      double score = 0;
      for (size_t d = 0; d < key.size(); ++d) score += key[d] * query[d];
      score *= args.scale;
      if (!args.alibi.empty())
        score +=
            args.alibi[static_cast<size_t>(head)] * static_cast<double>(key_position - position);
      body(use, i, s, score);
    }
  }
}

}  // namespace

void attend_reference(const AttendArgs& args, double* out, double* lse) {
  const int share = args.heads / args.kv_heads;
  for (const RowGroup& group : args.groups) {
    for (const int32_t row : group.rows) {
      if (row >= args.active) continue;
      for (int head = 0; head < args.heads; ++head) {
        const int64_t at = int64_t{row} * args.heads + head;
        std::vector<double> scores;
        std::vector<std::vector<double>> values;
        for_visible_scores(
            args, group, row, head,
            [&](const SegmentUse&, int32_t i, const Segment& s, double score) {
              scores.push_back(score);
              values.push_back(stored_row(s, s.layout->value_offset(args.layer, head / share), i));
            });
        double largest = -std::numeric_limits<double>::infinity();
        for (const double score : scores) largest = std::max(largest, score);
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - largest);
        for (int d = 0; d < args.head_dim; ++d) {
          double value = 0;
          for (size_t i = 0; i < scores.size(); ++i)
            value += scores[i] * values[i][static_cast<size_t>(d)];
          out[at * args.head_dim + d] = scores.empty() ? 0 : value / sum;
        }
        lse[at] = largest + std::log(sum);
      }
    }
  }
}

void attend_mass_reference(const AttendArgs& args, const double* lse, double* mass) {
  for (const RowGroup& group : args.groups)
    for (const int32_t row : group.rows)
      for (int head = 0; row < args.active && head < args.heads; ++head)
        for_visible_scores(args, group, row, head,
                           [&](const SegmentUse& use, int32_t i, const Segment&, double score) {
                             if (use.mass >= 0)
                               mass[use.mass + i] +=
                                   std::exp(score - lse[int64_t{row} * args.heads + head]);
                           });
}

}  // namespace looseleaf

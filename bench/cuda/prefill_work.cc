#include "prefill_work.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compute/kv_layout.h"

namespace looseleaf::bench {

bool parse_prefill_row(const std::string& text, PrefillRow* row) {
  int end = 0;
  if (std::sscanf(text.c_str(), "%d/%d/%d%n", &row->rows, &row->cached, &row->chunk, &end) != 3 ||
      static_cast<size_t>(end) != text.size())
    return false;
  return row->rows > 0 && row->cached >= 0 && row->chunk > 0 && row->rows <= (1 << 20) &&
         row->cached <= (1 << 20);
}

std::vector<PrefillRow> default_prefill_rows() {
  return {{64, 16384, 512},   {64, 131072, 512},  {2048, 16384, 2048}, {2048, 16384, 512},
          {2048, 16384, 100}, {4096, 32768, 512}, {2048, 0, 512}};
}

int32_t PrefillWork::add_turn(int64_t offset, int head_dim) {
  const int half = head_dim / 2;
  const auto number = static_cast<int32_t>(turns.size()) / head_dim;
  const auto angle = [&](int j) {
    return static_cast<double>(offset) * std::pow(500000.0, -static_cast<double>(j) / half);
  };
  for (int j = 0; j < half; ++j) turns.push_back(static_cast<float>(std::cos(angle(j))));
  for (int j = 0; j < half; ++j) turns.push_back(static_cast<float>(std::sin(angle(j))));
  return number;
}

PrefillSpan& PrefillWork::add_span(int tokens, int position) {
  PrefillSpan span;
  span.first_page = pages;
  span.tokens = tokens;
  span.position = position;
  pages += pages_for(tokens);
  ++groups.back().spans;
  return spans.emplace_back(span);
}

void PrefillWork::begin_group() {
  groups.push_back({static_cast<int32_t>(rows.size()), 0, static_cast<int32_t>(spans.size()), 0});
}

void PrefillWork::add_rows(const std::vector<int32_t>& at) {
  for (const int32_t position : at) {
    rows.push_back(static_cast<int32_t>(positions.size()));
    positions.push_back(position);
  }
  groups.back().rows += static_cast<int32_t>(at.size());
}

std::vector<PrefillGroup> PrefillWork::plan_groups() const {
  std::vector<PrefillGroup> list;
  for (const Group& group : groups)
    list.push_back({group.first_row, group.rows,
                    std::span(spans).subspan(static_cast<size_t>(group.first_span),
                                             static_cast<size_t>(group.spans))});
  return list;
}

PrefillWork make_work(const PrefillRow& row, int head_dim) {
  PrefillWork work;
  work.begin_group();
  for (int at = 0; at < row.cached; at += row.chunk)
    work.add_span(std::min(row.chunk, row.cached - at), at).turn = work.add_turn(at, head_dim);
  work.add_span(row.rows, row.cached);
  std::vector<int32_t> positions;
  for (int r = 0; r < row.rows; ++r) positions.push_back(row.cached + r);
  work.add_rows(positions);
  return work;
}

PrefillWork without_turns(PrefillWork from) {
  for (PrefillSpan& span : from.spans) span.turn = -1;
  return from;
}

double prefill_flops(const Heads& heads, const PrefillRow& row) {
  const double pairs = double{1} * row.rows * row.cached + 0.5 * row.rows * (row.rows + 1.0);
  return 4.0 * heads.head_dim * heads.heads * pairs;
}

}  // namespace looseleaf::bench

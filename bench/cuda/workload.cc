#include "workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compute/kv_layout.h"

namespace looseleaf::bench {

bool parse_row(const std::string& text, WorkloadRow* row) {
  int end = 0;
  if (std::sscanf(text.c_str(), "%dx%d/%d/%lf/%d%n", &row->requests, &row->each, &row->pool,
                  &row->zipf, &row->tokens, &end) != 5 ||
      static_cast<size_t>(end) != text.size())
    return false;
  return row->requests > 0 && row->each > 0 && row->each <= row->pool && row->zipf >= 0 &&
         row->tokens > 0;
}

std::vector<WorkloadRow> default_rows() {
  return {{16, 16, 1000, 1.0, 512}, {64, 16, 1000, 1.0, 512}, {128, 10, 2000, 1.2, 512},
          {64, 16, 1000, 0.0, 512}, {64, 32, 500, 0.8, 512},  {1, 32, 1000, 0.0, 512},
          {64, 16, 1000, 1.0, 100}};
}

int Workload::pages() const {
  return chunks.empty() ? 0 : chunks.back().first_page + pages_for(chunks.back().tokens);
}

int Workload::unique_chunks() const {
  std::vector<char> used(chunks.size());
  for (const PlanUse& use : uses) used[static_cast<size_t>(use.chunk)] = 1;
  return static_cast<int>(std::count(used.begin(), used.end(), 1));
}

void Workload::add_chunk(int tokens) { chunks.push_back({pages(), tokens}); }

void Workload::add_use(int chunk, int64_t offset, int head_dim) {
  const int half = head_dim / 2;
  uses.push_back({chunk, static_cast<int32_t>(turns.size()) / head_dim});
  const auto angle = [&](int j) {
    return static_cast<double>(offset) * std::pow(500000.0, -static_cast<double>(j) / half);
  };
  for (int j = 0; j < half; ++j) turns.push_back(static_cast<float>(std::cos(angle(j))));
  for (int j = 0; j < half; ++j) turns.push_back(static_cast<float>(std::sin(angle(j))));
}

Workload draw(const WorkloadRow& row, int head_dim, std::mt19937& random) {
  Workload load;
  std::vector<double> weight_to(static_cast<size_t>(row.pool));
  double weight = 0;
  for (int c = 0; c < row.pool; ++c) {
    load.add_chunk(row.tokens);
    weight_to[static_cast<size_t>(c)] = weight += std::pow(c + 1.0, -row.zipf);
  }
  std::uniform_real_distribution<double> pick(0, weight);
  for (int r = 0; r < row.requests; ++r) {
    std::vector<char> taken(weight_to.size());
    for (int n = 0; n < row.each;) {
      const auto chunk = static_cast<size_t>(
          std::lower_bound(weight_to.begin(), weight_to.end() - 1, pick(random)) -
          weight_to.begin());
      if (taken[chunk]++) continue;
      load.add_use(static_cast<int>(chunk), int64_t{n} * row.tokens + random() % 64, head_dim);
      ++n;
    }
    load.end_request();
  }
  return load;
}

Workload without_turns(Workload from) {
  for (PlanUse& use : from.uses) use.turn = -1;
  return from;
}

Workload private_copies(const Workload& from) {
  Workload load;
  load.first_use = from.first_use;
  for (const PlanUse& use : from.uses) {
    load.add_chunk(from.chunks[static_cast<size_t>(use.chunk)].tokens);
    load.uses.push_back({static_cast<int32_t>(load.chunks.size()) - 1, -1});
  }
  return load;
}

}  // namespace looseleaf::bench

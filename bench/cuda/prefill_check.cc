#include "prefill_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "compute/cuda/page_layout.h"
#include "decode_reference.h"
#include "prefill_run.h"
#include "random_pages.h"

namespace looseleaf::bench {
namespace {

// A sequence: odd chunks at far offsets, one of them with stale tokens that an overlay replaces, a
// gathered segment with a limit, its own keys; rows that are its last tokens, or scattered over the
// whole prompt.
void add_sequence(PrefillWork& work, int rows, bool scattered, int head_dim, std::mt19937& random) {
  work.begin_group();
  int position = random() % 2 ? 90'000 : 0;
  const int start = position;
  for (const int tokens :
       {1 + static_cast<int>(random() % 40), 100, 128, 300, 1 + static_cast<int>(random() % 700)}) {
    PrefillSpan& span = work.add_span(tokens, position);
    if (random() % 4 > 0) span.turn = work.add_turn(position, head_dim);
    position += tokens;
    if (random() % 2) continue;
    work.spans.back().stale = static_cast<int32_t>(work.stale.size());
    std::vector<int32_t> replaced;
    for (int i = 0; i < pages_for(tokens); ++i) work.stale.push_back(0);
    for (int i = 0; i < tokens; ++i)
      if (random() % 5 == 0) {
        work.stale[work.stale.size() - static_cast<size_t>(pages_for(tokens)) +
                   static_cast<size_t>(i / 32)] |= 1u << (i % 32);
        replaced.push_back(position - tokens + i);
      }
    if (replaced.empty()) continue;
    PrefillSpan& overlay = work.add_span(static_cast<int>(replaced.size()), 0);
    overlay.key_positions = static_cast<int32_t>(work.key_positions.size());
    if (random() % 2) overlay.limit = position - tokens / 2;
    work.key_positions.insert(work.key_positions.end(), replaced.begin(), replaced.end());
  }
  work.add_span(rows, position);
  std::vector<int32_t> at;
  for (int r = 0; r < rows; ++r)
    at.push_back(scattered ? start + static_cast<int>(
                                         random() % static_cast<unsigned>(position + rows - start))
                           : position + r);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  work.add_rows(at);
}

bool visible(const PrefillWork& work, const PrefillSpan& span, int key, int row_position) {
  const int position = span.key_positions < 0
                           ? span.position + key
                           : work.key_positions[static_cast<size_t>(span.key_positions + key)];
  const bool stale =
      span.stale >= 0 &&
      (work.stale[static_cast<size_t>(span.stale + key / 32)] >> (key % 32) & 1) != 0;
  return position <= row_position && position < span.limit && !stale &&
         (work.window == 0 || row_position - position < work.window);
}

// Attention by its definition in float64. Returns [rows, heads, head_dim].
std::vector<double> reference(const Heads& heads, const PrefillWork& work,
                              const std::vector<std::byte>& pages,
                              const std::vector<uint16_t>& query) {
  const int dim = heads.head_dim, half = dim / 2;
  std::vector<double> out(query.size());
  const auto element = [&](const PrefillSpan& span, int key, int64_t piece, int d) {
    uint16_t bits;
    std::memcpy(&bits,
                pages.data() +
                    int64_t{span.first_page + key / kPageTokens} *
                        cuda::page_layer_bytes(heads.kv_heads, dim) +
                    piece + cuda::element_offset(key % kPageTokens, d, dim),
                sizeof(bits));
    return static_cast<double>(from_bf16(bits));
  };
  std::vector<double> q(static_cast<size_t>(dim)), scores, values;
  for (const PrefillWork::Group& group : work.groups)
    for (int r = group.first_row; r < group.first_row + group.rows; ++r)
      for (int head = 0; head < heads.heads; ++head) {
        const int32_t row = work.rows[static_cast<size_t>(r)];
        const size_t at = (static_cast<size_t>(row) * static_cast<size_t>(heads.heads) +
                           static_cast<size_t>(head)) *
                          static_cast<size_t>(dim);
        const int kv_head = head / (heads.heads / heads.kv_heads);
        double largest = -INFINITY, sum = 0;
        values.assign(static_cast<size_t>(dim), 0);
        for (int pass = 0; pass < 2; ++pass)
          for (int s = group.first_span; s < group.first_span + group.spans; ++s) {
            const PrefillSpan& span = work.spans[static_cast<size_t>(s)];
            for (int j = 0; j < half; ++j) {
              const double a = from_bf16(query[at + static_cast<size_t>(j)]);
              const double b = from_bf16(query[at + static_cast<size_t>(j + half)]);
              const float* turn =
                  span.turn < 0 ? nullptr : work.turns.data() + int64_t{span.turn} * dim;
              const double cos = turn ? turn[j] : 1, sin = turn ? turn[j + half] : 0;
              q[static_cast<size_t>(j)] = a * cos + b * sin;
              q[static_cast<size_t>(j + half)] = b * cos - a * sin;
            }
            for (int key = 0; key < span.tokens; ++key) {
              if (!visible(work, span, key, work.positions[static_cast<size_t>(row)])) continue;
              double score = 0;
              for (int d = 0; d < dim; ++d)
                score += q[static_cast<size_t>(d)] *
                         element(span, key, cuda::key_piece(kv_head, dim), d);
              score /= std::sqrt(static_cast<double>(dim));
              if (pass == 0) {
                largest = std::max(largest, score);
                continue;
              }
              const double weight = std::exp(score - largest);
              sum += weight;
              for (int d = 0; d < dim; ++d)
                values[static_cast<size_t>(d)] +=
                    weight * element(span, key, cuda::value_piece(kv_head, heads.kv_heads, dim), d);
            }
          }
        for (int d = 0; d < dim; ++d)
          out[at + static_cast<size_t>(d)] = sum > 0 ? values[static_cast<size_t>(d)] / sum : 0;
      }
  return out;
}

struct Case {
  const char* name;
  int heads, kv_heads, blocks, window;
  std::vector<int> rows;  // of each sequence
  bool scattered;
};

bool check(const Case& of, int head_dim, std::mt19937& random) {
  constexpr double kBound = 4.0 / 512;  // as for decode
  const Heads heads = {of.heads, of.kv_heads, head_dim};
  PrefillWork work;
  work.window = of.window;
  for (const int rows : of.rows) add_sequence(work, rows, of.scattered, head_dim, random);
  const std::vector<std::byte> host_pages = random_pages(heads, work, random);
  std::vector<uint16_t> host_query(work.positions.size() *
                                   static_cast<size_t>(of.heads * head_dim));
  for (uint16_t& q : host_query) q = random_bf16(random);
  const std::vector<double> want = reference(heads, work, host_pages, host_query);

  Pages pages(heads, work.pages);
  require(cudaMemcpy(pages.memory().data(), host_pages.data(), host_pages.size(),
                     cudaMemcpyHostToDevice),
          "copying");
  const GpuArray<uint16_t> query(host_query);
  GpuArray<__nv_bfloat16> out(host_query.size());
  out.poison();
  PrefillPlanner planner;
  const std::vector<PrefillGroup> groups = work.plan_groups();
  const PrefillPlan& plan = planner.plan({of.heads, of.kv_heads, of.blocks, of.window}, groups,
                                         work.rows, work.positions);
  const PrefillRun run(heads, work, plan, pages,
                       reinterpret_cast<const __nv_bfloat16*>(query.data()), out.data());
  run.launch(nullptr);
  require(cudaDeviceSynchronize(), of.name);
  const double error = relative_error(out.to_host(), want);
  const bool within = error < kBound;
  std::printf("prefill, %s, size %d: %zu items, %zu merged, relative error %.1e %s\n", of.name,
              head_dim, plan.items.size(), plan.merged.size(), error, within ? "ok" : "WRONG");
  return within;
}

}  // namespace

bool check_prefill() {
  std::mt19937 random(std::random_device{}());
  const std::vector<Case> cases = {
      {"one row", 8, 2, 132, 0, {1}, false},
      {"few rows, whole items", 8, 2, 1, 0, {40}, false},
      {"three heads a KV head", 9, 3, 7, 0, {50, 3}, false},
      {"many rows, cut", 8, 2, 132, 0, {300}, false},
      {"one head a KV head, window", 2, 2, 5, 150, {270, 17}, false},
      {"scattered rows", 8, 2, 11, 0, {200, 64}, true},
      {"scattered rows, window", 4, 1, 132, 90, {333}, true},
  };
  bool good = true;
  for (const int head_dim : {128, 64})
    for (const Case& of : cases) good = check(of, head_dim, random) && good;
  return good;
}

}  // namespace looseleaf::bench

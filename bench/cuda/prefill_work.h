// Rows of sequences that are prefilled together, and the chunks that they attend over.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compute/prefill_plan.h"
#include "workload.h"

namespace looseleaf::bench {

// `rows` new tokens over `cached` tokens in chunks of `chunk` tokens, and over themselves.
struct PrefillRow {
  int rows = 0;
  int cached = 0;
  int chunk = 512;
};

// "2048/16384/512": rows / cached / tokens of a chunk. False where the text is none.
bool parse_prefill_row(const std::string& text, PrefillRow* row);

// The rows that docs/kernels.md tells of.
std::vector<PrefillRow> default_prefill_rows();

struct PrefillWork {
  struct Group {
    int32_t first_row = 0, rows = 0, first_span = 0, spans = 0;
  };
  std::vector<Group> groups;
  std::vector<PrefillSpan> spans;      // by group, in prompt order
  std::vector<int32_t> rows;           // row numbers, by group
  std::vector<int32_t> positions;      // [rows] of the pass
  std::vector<int32_t> key_positions;  // of spans that name them
  std::vector<uint32_t> stale;         // of spans that name them
  std::vector<float> turns;            // [bindings][2][head_dim / 2] cos, then sin
  int pages = 0;
  int window = 0;

  // A binding at `offset`; returns its number.
  int32_t add_turn(int64_t offset, int head_dim);
  // Takes fresh pages for that many tokens at `position`, and adds the span to the group at hand.
  PrefillSpan& add_span(int tokens, int position);
  void begin_group();
  // Rows of the group at hand, at ascending positions.
  void add_rows(const std::vector<int32_t>& at);

  std::vector<PrefillGroup> plan_groups() const;
};

PrefillWork make_work(const PrefillRow& row, int head_dim);

// The same without offsets: what turning costs is the difference.
PrefillWork without_turns(PrefillWork from);

// Multiplications and additions of the products: 4 head_dim a visible (row, key) pair and head.
double prefill_flops(const Heads& heads, const PrefillRow& row);

}  // namespace looseleaf::bench

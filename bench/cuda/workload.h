// Requests that decode together: which chunks each has in its prompt, and at which offsets.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compute/attend_plan.h"
#include "compute/kv_layout.h"

namespace looseleaf::bench {

struct Heads {
  int heads = 32;
  int kv_heads = 8;
  int head_dim = 128;
  KvType type = KvType::kBF16;  // of pages

  // One layer of a page.
  int64_t page_bytes() const { return KvLayout{type, 1, kv_heads, head_dim}.layer_bytes(); }
};

// `requests` with `each` different chunks of a pool, drawn with probability proportional to
// rank^-zipf.
struct WorkloadRow {
  int requests = 0;
  int each = 0;
  int pool = 0;
  double zipf = 0;   // 0: uniform
  int tokens = 512;  // of a chunk
};

// "64x16/1000/1.0/512": requests x chunks / pool / zipf / tokens. False where the text is none.
bool parse_row(const std::string& text, WorkloadRow* row);

// The rows that docs/kernels.md tells of.
std::vector<WorkloadRow> default_rows();

struct Workload {
  std::vector<PlanChunk> chunks;
  std::vector<PlanUse> uses;             // by request, in prompt order
  std::vector<int32_t> first_use = {0};  // [requests + 1]
  std::vector<float> turns;              // [bindings][2][head_dim / 2] cos, then sin

  int requests() const { return static_cast<int>(first_use.size()) - 1; }
  int pages() const;
  int unique_chunks() const;  // in use
  void add_chunk(int tokens);
  // A binding of the chunk at `offset` by the request that `end_request` will end.
  void add_use(int chunk, int64_t offset, int head_dim);
  void end_request() { first_use.push_back(static_cast<int32_t>(uses.size())); }
};

Workload draw(const WorkloadRow& row, int head_dim, std::mt19937& random);

// The same without offsets: what turning costs is the difference.
Workload without_turns(Workload from);

// Each use has a copy of its own, with keys at their prompt positions: what engines do that cannot
// share.
Workload private_copies(const Workload& from);

}  // namespace looseleaf::bench

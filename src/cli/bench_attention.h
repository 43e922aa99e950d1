// The attention operation by itself: `looseleaf bench attention`.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/attention_rows.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct AttentionBench {
  AttentionHeads heads;
  std::vector<std::string> rows;  // as parse_attention_row takes them; empty: the default ones
  std::vector<std::string> ways;  // names of kBenchWays; empty: all
  uint32_t seed = 7;
  bool check = false;  // compare with float64 instead of measuring
};

// These write into `bench`, which must outlive `app`.
void add_attention_flags(CLI::App& app, AttentionBench& bench);

// Of `options` it takes the device, its threads and numbers, the bytes of pages and the type of
// keys and values. repetitions: nothing is 50, on the CPU 5. Errors: kUsage, kUnsupported (the
// device), kUnavailable, kInternal (a check found a wrong result).
Status bench_attention(const AttentionBench& bench, const EngineOptions& options,
                       std::optional<int> repetitions, bool json);

}  // namespace looseleaf

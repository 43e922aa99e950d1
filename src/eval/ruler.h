// Tasks made from a seed in the manner of RULER (Hsieh et al. 2024, 2404.06654): facts hidden in
// documents of filler, and a question that needs one or several of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/data.h"
#include "eval/haystack.h"
#include "eval/task.h"

namespace looseleaf {

struct RulerOptions {
  int length = 4096;   // tokens of the prompt at most, with 64 kept free for template and answer
  int documents = 14;  // of equal length
  uint64_t seed = 0;
  const Haystack* haystack = nullptr;  // not null
  std::string haystack_hash{};         // what data_hash knows it by
};

// What is hidden and asked, before it is spread over documents.
struct Puzzle {
  // Each list is spread over different documents as far as there are enough; `ordered`: in prompt
  // order.
  std::vector<std::vector<std::string>> chains;
  bool ordered = false;
  std::string question;
  std::vector<std::string> answers;
  std::string gold;
};

// `kind`: single, multi-key, multi-value, multi-query, variable-tracking or two-hop.
// Errors: kUsage (no such kind).
Expected<Puzzle> make_puzzle(const std::string& kind, EvalRandom& random);

// Sample i depends on seed and i alone. Metrics recall (RULER's string_match_all, all references)
// and em against the whole gold answer; 64 tokens.
// Errors: kUsage (no such kind, documents that are too short for a sentence each).
Expected<EvalTask> make_ruler(const std::string& kind, const RulerOptions& ruler,
                              const DataOptions& options, const CountTokens& count_tokens);

}  // namespace looseleaf

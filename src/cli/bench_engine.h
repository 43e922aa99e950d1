// The engine's speed by itself: prefill and decode at a depth, and reuse of documents.
#pragma once

#include <memory>
#include <vector>

#include "cli/bench_result.h"
#include "compute/device.h"
#include "engine/core.h"
#include "looseleaf/looseleaf.h"
#include "repair/repair_set.h"

namespace looseleaf {

struct BenchPlan {
  std::vector<int> prefill;  // tokens
  int decode = 0;            // tokens; 0: not measured
  std::vector<int> depths;   // tokens of context before them
  int documents = 0;         // in a prompt; 0: not measured
  int document_tokens = 0;
  int repetitions = 0;
};

// Without a tokenizer: the benches make their own token ids. Errors: load_model's, kUsage.
Expected<std::unique_ptr<EngineCore>> load_core(const std::string& model,
                                                const EngineOptions& options);

// Tokens per second of `tokens` prefilled or generated behind `depth` others.
// Errors: kUnavailable (they do not fit the cache).
Expected<BenchRow> bench_prefill(EngineCore& core, int tokens, int depth, int repetitions);
Expected<BenchRow> bench_decode(EngineCore& core, int tokens, int depth, int repetitions);

// Time to the first token of a question behind cached documents in a new order: how far it is from
// its floor, what turning the queries costs, and one decoding pass of eight such prompts against
// eight passes of one. Errors: kUnavailable.
Expected<std::vector<BenchRow>> bench_documents(EngineCore& core, const BenchPlan& plan,
                                                const Ceilings& ceilings);

// Time of the repair that `set` recorded, in the context `context` (of the method `plan`), of such
// prompts, beside the time that full prefill of as many tokens takes for as many operations.
// Errors: kUnavailable.
Expected<BenchRow> bench_repair(EngineCore& core, const BenchPlan& plan, const RepairSet& set,
                                const std::string& context);

// Some token ids of the vocabulary, the same for the same seed.
std::vector<int32_t> bench_tokens(const EngineCore& core, int count, int seed);

// Bytes of all weights that a pass reads: every matrix of the layers, and the output.
int64_t pass_weight_bytes(const Model& model);

}  // namespace looseleaf

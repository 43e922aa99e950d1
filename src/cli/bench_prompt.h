// Prompts of the benches: a header, cached documents, a question, all of made-up token ids.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "cli/bench_engine.h"
#include "engine/sequence.h"

namespace looseleaf {

class BenchPrompts {
 public:
  static constexpr int kHeaderTokens = 16, kQuestionTokens = 32;

  BenchPrompts(EngineCore& core, const BenchPlan& plan);

  // Computes the documents' chunks. Errors: kUnavailable.
  Status prepare();

  // Header, all chunks in a new order, question, of which only the question is not computed.
  // Without turning, chunks keep the angles of position 0, but the memory that is read and the mask
  // are the same. Errors: kUnavailable.
  Expected<Sequence> prompt(bool turn = true);

  // As many tokens of text alone, none computed. Errors: kUnavailable.
  Expected<Sequence> text();

  int tokens() const;

 private:
  Status add_text(Sequence& sequence, int tokens, int position);

  EngineCore& core_;
  int documents_, document_tokens_;
  std::vector<float> logits_;  // [vocab]
  std::mt19937 random_;
  std::shared_ptr<const RopeRegime> rope_;
  std::vector<ChunkHandle> chunks_;
};

}  // namespace looseleaf

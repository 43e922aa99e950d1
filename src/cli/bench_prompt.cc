#include "cli/bench_prompt.h"

#include <algorithm>
#include <numeric>

#include "engine/chunk_prefill.h"

namespace looseleaf {

BenchPrompts::BenchPrompts(EngineCore& core, const BenchPlan& plan)
    : core_(core),
      documents_(plan.documents),
      document_tokens_(plan.document_tokens),
      logits_(static_cast<size_t>(core.model->config.vocab)),
      random_(1),
      rope_(core.rope_for(tokens())) {}

int BenchPrompts::tokens() const {
  return kHeaderTokens + documents_ * document_tokens_ + kQuestionTokens;
}

Status BenchPrompts::prepare() {
  for (int i = 0; i < documents_; ++i) {
    LL_ASSIGN(
        const AcquiredChunk chunk,
        acquire_chunk(core_, bench_tokens(core_, document_tokens_, 100 + i), {}, "", "", *rope_));
    chunks_.push_back(chunk.chunk);
  }
  return {};
}

Expected<Sequence> BenchPrompts::prompt(bool turn) {
  std::vector<size_t> order(chunks_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  Sequence sequence;
  sequence.rope = rope_;
  LL_RETURN_IF_ERROR(add_text(sequence, kHeaderTokens, 0));
  int position = kHeaderTokens;
  for (const size_t i : order) {
    Binding binding{.chunk = chunks_[i], .position = position, .copy = {}, .turn = {}};
    if (turn) binding.turn = Forward::turn(*rope_, position);
    position += chunks_[i]->tokens();
    sequence.parts.emplace_back(std::move(binding));
  }
  // The header is in the prefix cache when a question comes; what is measured begins behind it.
  LL_RETURN_IF_ERROR(compute_text(core_, sequence, logits_));
  LL_RETURN_IF_ERROR(add_text(sequence, kQuestionTokens, position));
  sequence.prompt_tokens = position + kQuestionTokens;
  return sequence;
}

Expected<Sequence> BenchPrompts::text() {
  Sequence sequence;
  sequence.rope = rope_;
  LL_RETURN_IF_ERROR(add_text(sequence, tokens(), 0));
  sequence.prompt_tokens = tokens();
  return sequence;
}

Status BenchPrompts::add_text(Sequence& sequence, int tokens, int position) {
  TextRun run{.position = position,
              .tokens = bench_tokens(core_, tokens, static_cast<int>(random_() % 1000)),
              .kv = KvRun(core_.private_layout),
              .computed = 0,
              .shared = false};
  LL_RETURN_IF_ERROR(run.kv.extend(core_.pool, tokens));
  sequence.parts.emplace_back(std::move(run));
  return {};
}

}  // namespace looseleaf

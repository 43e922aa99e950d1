// Reuse of documents, measured by itself: prompts of cached chunks and a question.
#include <fmt/format.h>

#include <algorithm>

#include "base/stopwatch.h"
#include "cli/bench_prompt.h"

namespace looseleaf {
namespace {

constexpr int kRows = 8;

class DocumentBench {
 public:
  DocumentBench(EngineCore& core, const BenchPlan& plan, const Ceilings& ceilings)
      : core_(core),
        plan_(plan),
        ceilings_(ceilings),
        logits_(static_cast<size_t>(core.model->config.vocab)),
        prompts_(core, plan) {}

  Status prepare() { return prompts_.prepare(); }

  // Turned and not turned alternate, so that both see the same machine.
  Status first_token(std::vector<BenchRow>& rows) {
    std::vector<double> turned, stored;
    double flops = 0, floor_ms = 0;
    for (int r = -1; r < plan_.repetitions; ++r)
      for (const bool turn : {true, false}) {
        LL_ASSIGN(Sequence sequence, prompts_.prompt(turn));
        const auto bytes =
            static_cast<double>(pass_weight_bytes(*core_.model)) + kv_bytes(sequence);
        const double before = core_.forward.operations();
        const Stopwatch watch;
        LL_RETURN_IF_ERROR(compute_text(core_, sequence, logits_));
        if (r >= 0) (turn ? turned : stored).push_back(watch.ms());
        flops = core_.forward.operations() - before;
        floor_ms =
            1000 * std::max(bytes / ceilings_.read_gbps, flops / ceilings_.matrix_gflops) / 1e9;
      }
    const Spread ms = spread(turned), without = spread(stored);
    rows.push_back(
        {fmt::format("question behind {} x {} cached tokens: {:.1f} ms ({:.1f} to {:.1f}), {:.2f}x "
                     "its floor of {:.1f} ms; {:.3f}x the same with chunks where they are stored",
                     plan_.documents, plan_.document_tokens, ms.median, ms.least, ms.most,
                     ms.median / floor_ms, floor_ms, ms.median / without.median),
         {{"test", "question"},
          {"documents", plan_.documents},
          {"document_tokens", plan_.document_tokens},
          {"question_tokens", BenchPrompts::kQuestionTokens},
          {"ms", spread_json(ms)},
          {"floor_ms", floor_ms},
          {"over_floor", ms.median / floor_ms},
          {"stored_ms", spread_json(without)},
          {"over_stored", ms.median / without.median}}});
    return {};
  }

  // Eight prompts over the same chunks, each in its own order, decode a token each.
  Status shared_rows(std::vector<BenchRow>& rows) {
    std::vector<Sequence> sequences;
    for (int i = 0; i < kRows; ++i) {
      LL_ASSIGN(Sequence sequence, prompts_.prompt(true));
      LL_RETURN_IF_ERROR(compute_text(core_, sequence, logits_));
      sequences.push_back(std::move(sequence));
    }
    std::vector<double> together, apart;
    std::vector<float> all(static_cast<size_t>(kRows) * logits_.size());
    for (int r = -1; r < plan_.repetitions; ++r) {
      for (Sequence& sequence : sequences) LL_RETURN_IF_ERROR(append_token(core_, sequence, 1));
      const Pass pass = decode_pass(sequences);
      const Stopwatch watch;
      LL_RETURN_IF_ERROR(core_.forward.run(pass, all));
      if (r >= 0) together.push_back(watch.ms());
      const Stopwatch one_by_one;
      for (Sequence& sequence : sequences)
        LL_RETURN_IF_ERROR(compute_text(core_, sequence, logits_));
      if (r >= 0) apart.push_back(one_by_one.ms());
    }
    const Spread ms = spread(together), request_ms = spread(apart);
    rows.push_back(
        {fmt::format("a token each of {} prompts over these: {:.1f} ms ({:.1f} to {:.1f}) in one "
                     "pass, chunk by chunk; {:.1f} ms request by request: {:.2f}x",
                     kRows, ms.median, ms.least, ms.most, request_ms.median,
                     request_ms.median / ms.median),
         {{"test", "shared_rows"},
          {"rows", kRows},
          {"ms", spread_json(ms)},
          {"request_ms", spread_json(request_ms)},
          {"speedup", request_ms.median / ms.median}}});
    return {};
  }

 private:
  double kv_bytes(const Sequence& sequence) const {
    const KvBytes bytes = sequence.kv_bytes();
    return static_cast<double>(bytes.chunks + bytes.private_pages);
  }

  Pass decode_pass(std::vector<Sequence>& sequences) const {
    Pass pass;
    for (Sequence& sequence : sequences) {
      PassGroup group{.uses = {}, .rope = sequence.rope.get()};
      for (const auto& part : sequence.parts) {
        group.uses.push_back({static_cast<int32_t>(pass.segments.size())});
        pass.segments.push_back(std::visit([](const auto& p) { return p.segment(); }, part));
      }
      const TextRun& tail = sequence.tail();
      const int last = static_cast<int>(tail.tokens.size()) - 1;
      pass.rows.push_back({tail.tokens.back(), tail.position + last, core_.model->config.layers,
                           tail.kv.slot(last), static_cast<int32_t>(pass.groups.size())});
      pass.groups.push_back(std::move(group));
    }
    pass.outputs = static_cast<int>(pass.rows.size());
    return pass;
  }

  EngineCore& core_;
  const BenchPlan& plan_;
  const Ceilings& ceilings_;
  std::vector<float> logits_;  // [vocab]
  BenchPrompts prompts_;
};

}  // namespace

Expected<std::vector<BenchRow>> bench_documents(EngineCore& core, const BenchPlan& plan,
                                                const Ceilings& ceilings) {
  std::vector<BenchRow> rows;
  DocumentBench bench(core, plan, ceilings);
  LL_RETURN_IF_ERROR(bench.prepare());
  LL_RETURN_IF_ERROR(bench.first_token(rows));
  LL_RETURN_IF_ERROR(bench.shared_rows(rows));
  return rows;
}

}  // namespace looseleaf

// A recorded repair, measured by itself: what recomputing scattered tokens takes beyond its
// operations.
#include <fmt/format.h>

#include "base/stopwatch.h"
#include "cli/bench_prompt.h"
#include "engine/document_tokens.h"
#include "engine/flops.h"
#include "engine/repair.h"
#include "engine/score.h"

namespace looseleaf {
namespace {

struct Cost {
  std::vector<double> ms;
  double flops = 0;  // of one run

  double gflops() const { return flops / spread(ms).median / 1e6; }
};

class RepairBench {
 public:
  RepairBench(EngineCore& core, const BenchPlan& plan, const RepairSet& set, const Method& method)
      : core_(core),
        set_(set),
        method_(method),
        prompts_(core, plan),
        logits_(static_cast<size_t>(core.model->config.vocab)) {}

  Status prepare() { return prompts_.prepare(); }

  // Full prefill and repair alternate, so that both see the same machine.
  Status round(bool counted) {
    LL_ASSIGN(Sequence whole, prompts_.text());
    LL_RETURN_IF_ERROR(measure(full_, counted, [&] { return compute(whole); }));
    whole = {};
    LL_RETURN_IF_ERROR(score(counted));
    LL_ASSIGN(Sequence sequence, prompts_.prompt());
    const PromptShape shape = shape_of(sequence, core_.model->config.layers);
    const GivenTargets given{targets_of_depths(map_repair_set(set_, shape), shape.layers), {}};
    LL_RETURN_IF_ERROR(measure(repair_, counted, [&]() -> Status {
      LL_RETURN_IF_ERROR(repair(core_, sequence, {method_, &given}, logits_));
      return core_.device->wait();
    }));
    targets_ = sequence.overlay ? sequence.overlay->count() : 0;
    if (targets_ == 0)
      return error(ErrorCode::kUsage,
                   "--repair-set recomputes none of {} tokens in {} layers; raise --documents or "
                   "--document-tokens",
                   shape.tokens(), shape.layers);
    return measure(question_, counted, [&] { return compute(sequence); });
  }

  BenchRow row(const BenchPlan& plan) const {
    const Spread ms = spread(repair_.ms), full = spread(full_.ms), question = spread(question_.ms);
    const double over_rate = full_.gflops() / repair_.gflops();
    const double share = (repair_.flops + question_.flops) /
                         full_prefill_flops(core_.model->config, prompts_.tokens());
    return {fmt::format(
                "repair of {} of {} x {} tokens ({}): {:.1f} ms ({:.1f} to {:.1f}), {:.2f}x "
                "its operations at the rate of full prefill; with the question {:.1f} % of "
                "full prefill's operations, {:.1f} % of its {:.1f} ms; scoring would be another "
                "{:.1f} ms",
                targets_, plan.documents, plan.document_tokens, method_.option("context"),
                ms.median, ms.least, ms.most, over_rate, 100 * share,
                100 * (ms.median + question.median) / full.median, full.median,
                spread(score_.ms).median),
            {{"test", "repair"},
             {"documents", plan.documents},
             {"document_tokens", plan.document_tokens},
             {"question_tokens", BenchPrompts::kQuestionTokens},
             {"repaired_tokens", targets_},
             {"context", method_.option("context")},
             {"ms", spread_json(ms)},
             {"question_ms", spread_json(question)},
             {"score_ms", spread_json(spread(score_.ms))},
             {"full_ms", spread_json(full)},
             {"gflops", repair_.gflops()},
             {"full_gflops", full_.gflops()},
             {"over_rate", over_rate},
             {"share_of_full", share}}};
  }

 private:
  // What a method that looks for tokens itself does first.
  Status score(bool counted) {
    LL_ASSIGN(Sequence sequence, prompts_.prompt());
    LL_RETURN_IF_ERROR(compute_text_before(core_, sequence, sequence.parts.size() - 1));
    return measure(score_, counted, [&]() -> Status {
      LL_RETURN_IF_ERROR(score_documents(core_, sequence, false, SIZE_MAX, {}));
      return {};
    });
  }

  Status compute(Sequence& sequence) { return compute_text(core_, sequence, logits_); }

  template <typename Work>
  Status measure(Cost& cost, bool counted, const Work& work) {
    const double before = core_.forward.operations();
    const Stopwatch watch;
    LL_RETURN_IF_ERROR(work());
    if (counted) cost.ms.push_back(watch.ms());
    cost.flops = core_.forward.operations() - before;
    return {};
  }

  EngineCore& core_;
  const RepairSet& set_;
  const Method& method_;
  BenchPrompts prompts_;
  std::vector<float> logits_;  // [vocab]
  Cost full_, score_, repair_, question_;
  int targets_ = 0;
};

}  // namespace

Expected<BenchRow> bench_repair(EngineCore& core, const BenchPlan& plan, const RepairSet& set,
                                const std::string& context) {
  LL_ASSIGN(const Method method, parse_method("plan:context=" + context, true));
  RepairBench bench(core, plan, set, method);
  LL_RETURN_IF_ERROR(bench.prepare());
  for (int r = -1; r < plan.repetitions; ++r) LL_RETURN_IF_ERROR(bench.round(r >= 0));
  return bench.row(plan);
}

}  // namespace looseleaf

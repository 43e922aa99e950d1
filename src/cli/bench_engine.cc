#include "cli/bench_engine.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "base/stopwatch.h"
#include "compute/open_device.h"
#include "engine/load_weights.h"
#include "engine/options.h"
#include "engine/sequence.h"

namespace looseleaf {
namespace {

struct Run {
  double seconds = 0;
  double bytes = 0;  // of weights and keys and values that were read
  double flops = 0;
};

// A prompt whose first `computed` tokens are in `before`, sharing its pages.
Expected<Sequence> sequence_behind(EngineCore& core, const KvRun* before,
                                   std::vector<int32_t> tokens, int computed) {
  Sequence sequence;
  const auto count = static_cast<int>(tokens.size());
  sequence.rope = core.rope_for(count);
  sequence.prompt_tokens = count;
  TextRun run{.position = 0,
              .tokens = std::move(tokens),
              .kv = KvRun(core.private_layout),
              .computed = computed,
              .shared = false};
  int shared = 0;
  for (; shared + kPageTokens <= computed; shared += kPageTokens)
    run.kv.share(before->pages()[static_cast<size_t>(shared / kPageTokens)], kPageTokens);
  LL_RETURN_IF_ERROR(run.kv.extend(core.pool, count - shared));
  if (shared < computed)
    core.device->copy(run.kv.pages()[static_cast<size_t>(shared / kPageTokens)]->data(),
                      before->pages()[static_cast<size_t>(shared / kPageTokens)]->data(),
                      static_cast<size_t>(core.private_layout.page_bytes()));
  sequence.parts.emplace_back(std::move(run));
  return sequence;
}

double kv_token_bytes(const EngineCore& core) {
  return static_cast<double>(core.private_layout.page_bytes()) / kPageTokens;
}

// Computes what the sequence lacks. Adds to `run`.
Status compute(EngineCore& core, Sequence& sequence, std::vector<float>& logits, Run& run) {
  const auto count = static_cast<double>(sequence.tail().tokens.size());
  const double passes = std::ceil((count - sequence.tail().computed) /
                                  static_cast<double>(core.device->facts().pass_rows));
  run.bytes +=
      passes * (static_cast<double>(pass_weight_bytes(*core.model)) + count * kv_token_bytes(core));
  const double before = core.forward.operations();
  const Stopwatch watch;
  LL_RETURN_IF_ERROR(compute_text(core, sequence, logits));
  run.seconds += watch.ms() / 1000;
  run.flops += core.forward.operations() - before;
  return {};
}

// The context before what is measured.
Expected<Sequence> depth_sequence(EngineCore& core, int depth, std::vector<float>& logits) {
  LL_ASSIGN(Sequence sequence, sequence_behind(core, nullptr, bench_tokens(core, depth, 1), 0));
  Run ignored;
  if (depth > 0) LL_RETURN_IF_ERROR(compute(core, sequence, logits, ignored));
  return sequence;
}

BenchRow row(const std::string& test, int tokens, int depth, const std::vector<Run>& runs) {
  std::vector<double> rates, bandwidths, operations;
  for (const Run& run : runs) {
    rates.push_back(tokens / run.seconds);
    bandwidths.push_back(run.bytes / run.seconds / 1e9);
    operations.push_back(run.flops / run.seconds / 1e9);
  }
  const Spread rate = spread(rates);
  const double gbps = spread(bandwidths).median, gflops = spread(operations).median;
  return {fmt::format("{:<8} {:>6} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.1f} {:>8.1f}", test, depth,
                      rate.median, rate.least, rate.most, gbps, gflops),
          {{"test", test},
           {"depth", depth},
           {"tokens_per_s", spread_json(rate)},
           {"gbps", gbps},
           {"gflops", gflops}}};
}

}  // namespace

std::vector<int32_t> bench_tokens(const EngineCore& core, int count, int seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens)
    token = static_cast<int32_t>(random() % static_cast<uint32_t>(core.model->config.vocab));
  return tokens;
}

int64_t pass_weight_bytes(const Model& model) {
  int64_t bytes = model.output.bytes();
  for (const LayerWeights& layer : model.layers)
    for (const WeightMatrix* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.attention_output, &layer.gate, &layer.up,
          &layer.down})
      bytes += matrix->bytes();
  return bytes;
}

Expected<std::unique_ptr<EngineCore>> load_core(const std::string& model,
                                                const EngineOptions& options) {
  LL_ASSIGN(std::shared_ptr<const Model> loaded, load_model(model));
  LL_ASSIGN(OpenedDevice opened,
            open_device(options.device, {options.threads, options.exact, options.deterministic}));
  LL_ASSIGN(ResolvedOptions resolved,
            resolve_options(options, loaded->config, opened.device->facts()));
  LL_RETURN_IF_ERROR(load_weights(*loaded, *opened.device));
  LL_ASSIGN(resolved.cache_bytes, opened.device->reserve_pages(resolved.cache_bytes));
  return std::make_unique<EngineCore>(std::move(loaded), nullptr, "", resolved,
                                      std::move(opened.device));
}

Expected<BenchRow> bench_prefill(EngineCore& core, int tokens, int depth, int repetitions) {
  std::vector<float> logits(static_cast<size_t>(core.model->config.vocab));
  LL_ASSIGN(const Sequence before, depth_sequence(core, depth, logits));
  const auto& context = std::get<TextRun>(before.parts.back());
  std::vector<Run> runs;
  for (int r = -1; r < repetitions; ++r) {  // the first one is not counted: memory is touched
    std::vector<int32_t> all = context.tokens;
    const auto more = bench_tokens(core, tokens, 2 + r);
    all.insert(all.end(), more.begin(), more.end());
    LL_ASSIGN(Sequence sequence, sequence_behind(core, &context.kv, std::move(all), depth));
    Run run;
    LL_RETURN_IF_ERROR(compute(core, sequence, logits, run));
    if (r >= 0) runs.push_back(run);
  }
  return row(fmt::format("pp{}", tokens), tokens, depth, runs);
}

Expected<BenchRow> bench_decode(EngineCore& core, int tokens, int depth, int repetitions) {
  std::vector<float> logits(static_cast<size_t>(core.model->config.vocab));
  LL_ASSIGN(const Sequence before, depth_sequence(core, depth, logits));
  const auto& context = std::get<TextRun>(before.parts.back());
  std::vector<Run> runs;
  for (int r = -1; r < repetitions; ++r) {
    LL_ASSIGN(Sequence sequence, sequence_behind(core, &context.kv, context.tokens, depth));
    Run run;
    for (const int32_t token : bench_tokens(core, tokens, 2 + r)) {
      LL_RETURN_IF_ERROR(append_token(core, sequence, token));
      LL_RETURN_IF_ERROR(compute(core, sequence, logits, run));
    }
    if (r >= 0) runs.push_back(run);
  }
  return row(fmt::format("tg{}", tokens), tokens, depth, runs);
}

}  // namespace looseleaf

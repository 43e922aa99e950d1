// ALiBi has nothing to rotate: a chunk's keys are the same everywhere, and the bias comes from
// prompt positions. No model family here has it, so a golden model is given slopes in place of its
// RoPE.
#include <cmath>

#include "engine/chunk_prefill.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "test_engine.h"

namespace looseleaf {
namespace {

std::unique_ptr<EngineCore> alibi_core() {
  auto model = std::make_shared<Model>(*value_of(load_model(golden_dir() / "llama_hf_f32")));
  ModelConfig& config = model->config;
  config.rope = {};
  config.rope.dims = 0;
  for (int h = 0; h < config.heads; ++h)  // 2108.12409, section 3
    config.alibi_slopes.push_back(std::exp2(-8.0f * static_cast<float>(h + 1) / config.heads));
  return make_core(model, {.threads = 2, .cache_bytes = 64 << 20, .exact = true});
}

std::vector<int32_t> ids(int count, int seed) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((seed * 131 + i * i * 7 + i * 29) % 320);
  return tokens;
}

const std::vector<int32_t> kHeader = ids(4, 1), kFirst = ids(40, 2), kSecond = ids(9, 3),
                           kTail = ids(6, 4);

// Everything in one pass at prompt positions, where each document sees itself alone: the mask form.
std::vector<float> masked_pass(EngineCore& core) {
  const int layers = core.model->config.layers;
  const auto rope = core.rope_for(1);
  std::vector<KvRun> runs;
  Pass pass;
  int position = 0;
  const std::vector<const std::vector<int32_t>*> pieces = {&kHeader, &kFirst, &kSecond, &kTail};
  runs.reserve(pieces.size());
  for (size_t p = 0; p < pieces.size(); ++p) {
    runs.emplace_back(core.private_layout);
    EXPECT_TRUE(runs.back().extend(core.pool, static_cast<int>(pieces[p]->size())));
    pass.segments.push_back(runs.back().segment(position));
    PassGroup group{.uses = {}, .rope = rope.get()};
    const size_t from = p + 1 == pieces.size() ? 0 : p;
    for (size_t s = from; s <= p; ++s) group.uses.push_back({static_cast<int32_t>(s)});
    pass.groups.push_back(group);
    for (size_t i = 0; i < pieces[p]->size(); ++i) {
      const bool last = p + 1 == pieces.size() && i + 1 == pieces[p]->size();
      pass.rows.push_back({(*pieces[p])[i], position++, last ? layers : layers - 1,
                           runs.back().slot(static_cast<int>(i)), static_cast<int32_t>(p)});
    }
  }
  pass.outputs = 1;
  pass.sort_rows();
  std::vector<float> logits(static_cast<size_t>(core.model->config.vocab));
  EXPECT_TRUE(core.forward.run(pass, logits));
  return logits;
}

std::vector<float> answer(EngineCore& core, const char* method) {
  const Prompt prompt = make_prompt(kHeader, {kFirst, kSecond}, kTail, {});
  auto sequence = value_of(bind_prompt(core, prompt, value_of(parse_method(method, true)), ""));
  std::vector<float> logits(static_cast<size_t>(core.model->config.vocab));
  EXPECT_TRUE(compute_text(core, sequence, logits));
  return logits;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (int32_t t = 0; t < static_cast<int32_t>(a.size()); ++t)
    worst = std::max(worst, std::abs(double{log_probability(a, t, 0).logprob} -
                                     log_probability(b, t, 0).logprob));
  return worst;
}

TEST(Alibi, ReuseIsTheMaskForm) {
  const auto core = alibi_core();
  const auto expected = masked_pass(*core);
  EXPECT_LT(largest_difference(answer(*core, "reuse"), expected), 1e-4);
  EXPECT_LT(largest_difference(answer(*core, "block"), expected), 1e-4);
  // The test would not notice a bias that is left out, or counted from the chunk's start,
  // otherwise.
  EXPECT_GT(largest_difference(answer(*core, "full"), expected), 1e-2);
  auto model = std::make_shared<Model>(*core->model);
  model->config.alibi_slopes.clear();
  const auto without = make_core(model, {.threads = 2, .cache_bytes = 64 << 20, .exact = true});
  EXPECT_GT(largest_difference(answer(*without, "reuse"), expected), 1e-2);
}

}  // namespace
}  // namespace looseleaf

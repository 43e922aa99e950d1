// The engine against an independent implementation in float64: top log-probabilities within 2e-3
// and the same greedy tokens, for every model, method and position that the golden files hold.
#include <cmath>
#include <cstdlib>

#include "engine/chunk_prefill.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "golden_file.h"
#include "test_engine.h"

namespace looseleaf {
namespace {

constexpr double kTolerance = 2e-3;

TextRun text_run(EngineCore& core, const std::vector<int32_t>& tokens, int position) {
  TextRun run{.position = position,
              .tokens = tokens,
              .kv = KvRun(core.private_layout),
              .computed = 0,
              .shared = false};
  EXPECT_TRUE(run.kv.extend(core.pool, static_cast<int>(tokens.size())));
  return run;
}

// The case's pieces at the case's positions, which need not touch.
Sequence sequence_at_offsets(EngineCore& core, const GoldenCase& c) {
  Sequence sequence;
  sequence.root = core.prefixes.root("golden");
  sequence.method = "reuse";
  sequence.rope = core.rope_for(c.tail_offset + static_cast<int>(c.tail.size()));
  if (!c.header.empty()) sequence.parts.emplace_back(text_run(core, c.header, c.header_offset));
  for (size_t i = 0; i < c.documents.size(); ++i) {
    auto acquired =
        value_of(acquire_chunk(core, c.documents[i], c.encoding_prefix, "", "", *sequence.rope));
    sequence.parts.emplace_back(Binding{.chunk = acquired.chunk,
                                        .position = c.offsets[i],
                                        .copy = {},
                                        .turn = Forward::turn(*sequence.rope, c.offsets[i])});
  }
  sequence.parts.emplace_back(text_run(core, c.tail, c.tail_offset));
  return sequence;
}

// Largest difference of a log-probability over all steps.
double check_steps(EngineCore& core, Sequence sequence, const GoldenCase& c, double tolerance) {
  std::vector<float> logits(static_cast<size_t>(core.model->config.vocab));
  double worst = 0;
  for (size_t step = 0; step < c.steps.size(); ++step) {
    if (step > 0) {
      EXPECT_TRUE(append_token(core, sequence, c.steps[step - 1].greedy));
    }
    EXPECT_TRUE(compute_text(core, sequence, logits));
    for (const auto& [token, expected] : c.steps[step].top) {
      const double got = log_probability(logits, token, 0).logprob;
      EXPECT_NEAR(got, expected, tolerance) << c.name << " step " << step << " token " << token;
      worst = std::max(worst, std::abs(got - expected));
    }
    EXPECT_EQ(log_probability(logits, 0, 1).top[0].first, c.steps[step].greedy)
        << c.name << " step " << step;
  }
  return worst;
}

std::vector<std::string> methods_for(const GoldenCase& c) {
  if (c.reuse) return {"reuse", "reuse", "block", "block:inplace=1", "block:inplace=1", "reuse"};
  return {"full", "prefix", "prefix", "full"};
}

// A model's file or folder in golden_dir().
class GoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTest, EveryCase) {
  const std::filesystem::path path = GetParam();
  const auto core =
      make_core(golden_dir() / path, {.threads = 2, .cache_bytes = 256 << 20, .exact = true});
  double worst = 0;
  const auto cases = read_golden(golden_dir() / (path.stem().string() + ".golden.json"));
  ASSERT_FALSE(cases.empty());
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name);
    if (c.reuse)
      worst = std::max(worst, check_steps(*core, sequence_at_offsets(*core, c), c, kTolerance));
    if (!c.contiguous()) continue;
    const Prompt prompt = make_prompt(c.header, c.documents, c.tail, c.encoding_prefix);
    // Each method twice, so that the second finds what the first left behind.
    for (const std::string& name : methods_for(c)) {
      SCOPED_TRACE(name);
      const Method method = value_of(parse_method(name, prompt.has_documents()));
      auto sequence = value_of(bind_prompt(*core, prompt, method, ""));
      std::vector<float> logits(static_cast<size_t>(core->model->config.vocab));
      worst = std::max(worst, check_steps(*core, std::move(sequence), c, kTolerance));
    }
  }
  std::printf("%s: largest log-probability difference %.1e over %zu cases\n", path.stem().c_str(),
              worst, cases.size());
  EXPECT_EQ(core->chunks.pinned_bytes(), 0);
}

// Each architecture, RoPE kind and weight type; tests/golden/README.md says what is in which.
constexpr const char* kModels[] = {
    "llama_hf_f32",     "llama3_hf_bf16",   "llama_hf_f16",         "llama_f32.gguf",
    "llama_f16.gguf",   "llama_bf16.gguf",  "llama_q8_0.gguf",      "llama_q4_0.gguf",
    "llama_q4_1.gguf",  "llama_q5_0.gguf",  "llama_q5_1.gguf",      "llama_k_high.gguf",
    "llama_k_low.gguf", "llama_bias_hf",    "llama_linear.gguf",    "llama_dynamic_hf",
    "qwen2_hf",         "qwen2_yarn_hf",    "qwen2_yarn.gguf",      "qwen3_hf",
    "qwen3_yarn_hf",    "qwen3.gguf",       "qwen3_yarn_mscale_hf", "mistral_hf",
    "phi3_hf",          "phi3_longrope_hf", "phi3_longrope.gguf",   "phi3.gguf",
};

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest, testing::ValuesIn(kModels), [](const auto& info) {
  return std::filesystem::path(info.param).stem().string();
});

// The stored types of keys and values: what each costs in accuracy, on the f32 model. Errors grow
// with the unit of rounding: of f16, bf16 and fp8 2^-11, 2^-8 and 2^-4, so that fp8 has sixteen
// times bf16's bound.
// Deterministic, so that products are in f32.
class GoldenKvTest : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(GoldenKvTest, ReuseWithinTheTypesRounding) {
  const auto [type, tolerance] = GetParam();
  const auto core = make_core(golden_dir() / "llama_hf_f32", {.threads = 2,
                                                              .cache_bytes = 256 << 20,
                                                              .kv_type = type,
                                                              .private_kv_type = "f32",
                                                              .deterministic = true});
  double worst = 0;
  for (const GoldenCase& c : read_golden(golden_dir() / "llama_hf_f32.golden.json"))
    if (c.reuse) {
      std::vector<float> logits(static_cast<size_t>(core->model->config.vocab));
      Sequence sequence = sequence_at_offsets(*core, c);
      ASSERT_TRUE(compute_text(*core, sequence, logits));
      for (const auto& [token, expected] : c.steps[0].top)
        worst = std::max(worst, std::abs(log_probability(logits, token, 0).logprob - expected));
    }
  std::printf("chunks in %s: largest log-probability difference %.1e\n", type, worst);
  EXPECT_LT(worst, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Types, GoldenKvTest,
                         testing::Values(std::pair{"f32", 2e-3}, std::pair{"f16", 2e-2},
                                         std::pair{"bf16", 2e-1}, std::pair{"q8_0", 4e-1},
                                         std::pair{"fp8", 3.2}));

// Devices that round factors of products to 16 bits: how far that takes the first answer, with
// chunks and text in bf16.
class GoldenRounded : public testing::TestWithParam<const char*> {};

TEST_P(GoldenRounded, FirstStepWithinBf16) {
  const std::filesystem::path path = GetParam();
  const auto core = make_core(golden_dir() / path, {.threads = 2, .cache_bytes = 256 << 20});
  if (core->device->facts().f32) GTEST_SKIP() << "this device's products are float32";
  double worst = 0;
  for (const GoldenCase& c : read_golden(golden_dir() / (path.stem().string() + ".golden.json"))) {
    if (!c.reuse) continue;
    std::vector<float> logits(static_cast<size_t>(core->model->config.vocab));
    Sequence sequence = sequence_at_offsets(*core, c);
    ASSERT_TRUE(compute_text(*core, sequence, logits)) << c.name;
    for (const auto& [token, expected] : c.steps[0].top)
      worst = std::max(worst, std::abs(log_probability(logits, token, 0).logprob - expected));
  }
  std::printf("%s: largest log-probability difference %.1e\n", path.stem().c_str(), worst);
  // Twice what chunks in bf16 alone may cost (GoldenKvTest): weights and activations are rounded
  // too.
  EXPECT_LT(worst, 4e-1);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenRounded, testing::ValuesIn(kModels), [](const auto& info) {
  return std::filesystem::path(info.param).stem().string();
});

// The real model: SmolLM2-135M-Instruct, Q4_1.
TEST(GoldenSmolLM2, EveryCase) {
  const char* path = std::getenv("LOOSELEAF_SMOLLM2");
  if (path == nullptr) GTEST_SKIP() << "LOOSELEAF_SMOLLM2 names no model";
  const auto core = make_core(path, {.cache_bytes = 1 << 30, .exact = true});
  double worst = 0;
  for (const GoldenCase& c : read_golden(golden_dir() / "smollm2_135m_q4_1.golden.json")) {
    SCOPED_TRACE(c.name);
    const Prompt prompt = make_prompt(c.header, c.documents, c.tail, c.encoding_prefix);
    const Method method = value_of(parse_method(c.reuse ? "reuse" : "full", c.reuse));
    auto sequence = value_of(bind_prompt(*core, prompt, method, ""));
    worst = std::max(worst, check_steps(*core, std::move(sequence), c, kTolerance));
  }
  std::printf("SmolLM2: largest log-probability difference %.1e\n", worst);
}

}  // namespace
}  // namespace looseleaf

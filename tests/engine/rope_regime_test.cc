// Prompts of several lengths on one engine: LongRoPE's two regimes keep chunks and text of their
// own, dynamic NTK keeps none.
#include "engine/chunk_prefill.h"
#include "engine/self_test.h"
#include "engine/sequence.h"
#include "looseleaf/looseleaf.h"
#include "test_engine.h"

namespace looseleaf {
namespace {

std::unique_ptr<EngineCore> core_of(const char* model) {
  return make_core(golden_dir() / model, {.threads = 2, .cache_bytes = 64 << 20, .exact = true});
}

std::vector<int32_t> ids(int count, int seed) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((seed * 31 + i * i * 7 + i * 29) % 64);
  return tokens;
}

struct Outcome {
  std::vector<float> logits;
  std::vector<ChunkUse> chunks;
  int cached_tokens = 0;
};

Outcome run(EngineCore& core, const Prompt& prompt, const char* method) {
  Outcome out;
  auto sequence = value_of(
      bind_prompt(core, prompt, value_of(parse_method(method, prompt.has_documents())), ""));
  out.logits.resize(static_cast<size_t>(core.model->config.vocab));
  EXPECT_TRUE(compute_text(core, sequence, out.logits));
  publish(core, sequence);
  out.chunks = sequence.chunks;
  out.cached_tokens = sequence.cached_tokens;
  return out;
}

// The model's original context is 64 tokens.
TEST(RopeRegimes, LongAndShortPromptsShareAnEngineAndNoChunk) {
  const auto document = ids(20, 1), header = ids(4, 2), question = ids(5, 3);
  const Prompt short_prompt = make_prompt(header, {document}, question, {1});
  const Prompt long_prompt = make_prompt(header, {document, ids(60, 4)}, question, {1});
  const auto core = core_of("phi3_longrope.gguf");
  const Outcome first = run(*core, short_prompt, "reuse");
  const Outcome beyond = run(*core, long_prompt, "reuse");
  EXPECT_EQ(beyond.chunks[0].source, "computed") << "the short regime's chunk must not serve it";
  EXPECT_NE(first.chunks[0].id, beyond.chunks[0].id);
  EXPECT_EQ(beyond.cached_tokens, 0) << "nor its text";
  const Outcome again = run(*core, short_prompt, "reuse");
  EXPECT_EQ(again.chunks[0].source, "host");
  // What an engine that saw nothing else answers.
  const auto fresh = core_of("phi3_longrope.gguf");
  EXPECT_EQ(run(*fresh, long_prompt, "reuse").logits, beyond.logits);
}

TEST(RopeRegimes, TheLimitItselfIsShort) {
  const auto core = core_of("phi3_longrope.gguf");
  EXPECT_EQ(core->rope_for(64)->name, "short");
  EXPECT_EQ(core->rope_for(65)->name, "long");
  EXPECT_GT(core->rope_for(64)->attention_factor, 1);
  EXPECT_TRUE(Forward::turn(*core->rope_for(65), 0)[0] == 1) << "a turn has no factor";
}

TEST(RopeRegimes, DynamicNtkRefusesReuse) {
  const auto core = core_of("llama_dynamic_hf");
  const Prompt prompt = make_prompt(ids(4, 1), {ids(20, 2)}, ids(5, 3), {});
  for (const char* method : {"reuse", "block", "auto"}) {
    const auto refused = bind_prompt(*core, prompt, value_of(parse_method(method, true)), "");
    ASSERT_FALSE(refused) << method;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(refused.error().param, "method");
    EXPECT_NE(refused.error().message.find("dynamic NTK"), std::string::npos);
  }
  EXPECT_EQ(core->pool.used_bytes(), 0);
  EXPECT_EQ(run(*core, prompt, "prefix").cached_tokens, 0);
  EXPECT_GT(run(*core, prompt, "prefix").cached_tokens, 0);
  // Beyond the original context each length is a regime of its own: no page is shared.
  const Prompt longer = make_prompt(ids(4, 1), {ids(90, 2)}, ids(5, 3), {});
  const Prompt longest = make_prompt(ids(4, 1), {ids(90, 2)}, ids(6, 3), {});
  run(*core, longer, "prefix");
  EXPECT_GT(run(*core, longer, "prefix").cached_tokens, 0);
  EXPECT_EQ(run(*core, longest, "prefix").cached_tokens, 0);
}

TEST(RopeRegimes, DynamicNtkRefusesThePublicCallsToo) {
  Engine engine = value_of(Engine::load((golden_dir() / "llama_dynamic_hf").string(),
                                        {.threads = 2, .cache_bytes = 64 << 20}));
  Request request;
  request.prompt = ids(5, 1);
  Document document;
  document.tokens = ids(9, 2);
  EXPECT_FALSE(engine.prefill(document, request));
  request.documents = {document};
  request.max_tokens = 3;
  request.method = "reuse";
  const auto refused = engine.ask(request, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  request.method = "full";
  const Answer full = value_of(engine.ask(request, {}));
  EXPECT_EQ(full.tokens.size(), 3u);
  EXPECT_EQ(full.method_reason, "");
  // Nobody asked for reuse here.
  request.method = "auto";
  const Answer answer = value_of(engine.ask(request, {}));
  EXPECT_EQ(answer.method, "full");
  EXPECT_EQ(answer.tokens, full.tokens);
  EXPECT_NE(answer.method_reason.find("dynamic NTK"), std::string::npos);
  request.documents.clear();
  EXPECT_EQ(value_of(engine.ask(request, {})).method, "prefix");
}

TEST(SelfTest, EveryKindOfModelPasses) {
  for (const char* model : {"llama_f32.gguf", "qwen2_yarn.gguf", "qwen3_hf", "mistral_hf",
                            "phi3_longrope.gguf", "phi3_hf", "llama_dynamic_hf"})
    for (const char* type : {"f32", "f16", "bf16", "q8_0", "fp8"}) {
      const auto core = make_core(
          golden_dir() / model,
          {.threads = 1, .cache_bytes = 64 << 20, .kv_type = type, .private_kv_type = type});
      const Status status = self_test(*core);
      EXPECT_TRUE(status) << type << ": " << status.error().message;
      EXPECT_EQ(core->pool.used_bytes(), 0);
      EXPECT_EQ(core->chunks.count(), 0);
    }
}

TEST(SelfTest, WeightsThatAreNoNumbersAreNamed) {
  auto model = std::make_shared<Model>(*value_of(load_model(golden_dir() / "llama_f32.gguf")));
  model->layers[1].ffn_norm[3] = 3e38f;
  const auto core = make_core(model, {.threads = 1, .cache_bytes = 64 << 20});
  const Status status = self_test(*core);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("self-test: a logit is"), std::string::npos);
}

TEST(SelfTest, FrequenciesThatCannotBeAddedAreFound) {
  auto model = std::make_shared<Model>(*value_of(load_model(golden_dir() / "llama_f32.gguf")));
  // 1e30 radians a position: float64 cannot tell such an angle, so a turn is not the difference of
  // two.
  model->config.rope.divisors.assign(static_cast<size_t>(model->config.rope.dims / 2), 1e-30f);
  const auto core = make_core(model, {.threads = 1, .cache_bytes = 64 << 20});
  const Status status = self_test(*core);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("at position 4099"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace looseleaf

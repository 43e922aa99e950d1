// The memory of repairs: what it holds, and that nothing of it stays.
#include "engine/overlay.h"

#include "asking.h"
#include "repairing.h"

namespace looseleaf {
namespace {

constexpr int kLayers = 6;

Request repair_request(const std::string& method) {
  Request request = completion({1, 5, 6}, {}, {7, 8, 9, 10}, method);
  for (int d = 0; d < 3; ++d) {
    Ids tokens = ids(60 + d, static_cast<uint64_t>(d));
    for (int32_t& token : tokens) token = 3 + token % 61;
    request.documents.push_back(document(tokens));
  }
  return request;
}

TEST(Overlay, StoresDeepestFirst) {
  PromptShape shape;
  shape.layers = 4;
  for (int32_t i = 0; i < 5; ++i) {
    shape.positions.push_back(10 + i);
    shape.chunks.push_back(i < 2 ? 0 : 1);
    shape.places.push_back(i < 2 ? i : i - 2);
  }
  RepairPlan plan;
  plan.depths = {1, 3, RepairPlan::kOutside, 0, 3};
  const KvLayout layout{KvType::kF32, 4, 2, 8};
  const Overlay overlay(layout, shape, plan, {2, 3});
  EXPECT_EQ(overlay.tokens(), (Ids{1, 4, 0}));
  EXPECT_EQ(overlay.depths(), (Ids{3, 3, 1}));
  const Segment segment = overlay.segment();
  for (const auto& [layer, count] : {std::pair{0, 0}, {1, 3}, {2, 2}, {3, 2}})
    EXPECT_EQ(segment.tokens(layer), count) << layer;
  EXPECT_EQ(segment.position_of(1), 14);
  const auto stale = [&](size_t binding, size_t layer) { return overlay.stale(binding)[layer]; };
  EXPECT_EQ(stale(0, 0), 0u);
  EXPECT_EQ(stale(0, 1), 0b11u);
  EXPECT_EQ(stale(0, 3), 0b10u);
  EXPECT_EQ(stale(1, 1), 0b100u);
  EXPECT_EQ(overlay.bytes(), (3 + 3 + 1) * 2 * 2 * 8 * 4);
}

// The reported bytes are those of the returned targets, in every private type.
TEST(Overlay, BytesAreDepthsTimesATokensBytes) {
  for (const auto& [type, element, scales] :
       {std::tuple{"f32", 4, 0}, {"bf16", 2, 0}, {"f16", 2, 0}, {"q8_0", 1, 2}, {"fp8", 1, 2}}) {
    Engine engine = load_engine({.private_kv_type = type}, "repair_hf");
    for (const char* method :
         {"weave:0.1:context=own+union", "prophetkv:0.1", "cacheblend:0.1", "epic:5"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, type));
      Request request = repair_request(method);
      request.return_targets = true;
      const Answer answer = ask(engine, request);
      int64_t depths = 0;
      for (size_t layer = 1; layer < kLayers; ++layer)
        depths += static_cast<int64_t>(answer.targets[layer].size());
      EXPECT_GT(depths, 0);
      EXPECT_EQ(answer.kv_bytes.overlay, depths * 2 * 2 * (16 * element + scales));
      EXPECT_EQ(answer.repaired_tokens, static_cast<int>(answer.targets[1].size()));
    }
    expect_idle(engine);
  }
}

// Repaired tokens count as repaired, not as cached.
TEST(Overlay, CachedTokensAreWhatIsNotRepaired) {
  Engine engine = load_engine({}, "repair_hf");
  const int reuse = [&] {
    ask(engine, repair_request("reuse"));
    return ask(engine, repair_request("reuse")).cached_tokens;
  }();
  const Answer answer = ask(engine, repair_request("prophetkv:0.5"));
  EXPECT_EQ(answer.repaired_tokens, 92);
  // `reuse` finds the question's tokens but the last one as well.
  EXPECT_EQ(answer.cached_tokens, reuse - 3 - 92);
}

// With every limit up to what is enough, so that every allocation is the first to fail once: either
// an answer or a clear refusal, and nothing is held.
TEST(Overlay, NothingStaysWhateverFails) {
  int answered = 0, refused = 0, by_repair = 0;
  for (int64_t limit = 8 << 10; limit < 3 << 20 && answered < 3; limit += 40 << 10) {
    auto loaded = Engine::load((golden_dir() / "repair_hf").string(),
                               {.threads = 1, .cache_bytes = limit, .exact = true});
    ASSERT_TRUE(loaded);
    for (const char* method : {"weave:0.5:context=own+union", "cacheblend:0.5"}) {
      const auto answer = loaded->ask(repair_request(method));
      if (answer) {
        ++answered;
      } else {
        ++refused;
        EXPECT_EQ(answer.error().code, ErrorCode::kKvBudget) << answer.error().message;
        if (answer.error().message.starts_with("repair: ")) ++by_repair;
      }
      expect_idle(*loaded);
    }
  }
  EXPECT_GT(answered, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(by_repair, 0) << "some limit is enough for the prompt and too small for its overlay";
}

// An answer that its reader ends early gives everything back too.
TEST(Overlay, NothingStaysWhenTheReaderStops) {
  Engine engine = load_engine({}, "llama_f32.gguf");
  Request request =
      completion({1, 5}, {ids(60, 1), ids(50, 2)}, ids(5, 3), "weave:0.3:context=own+union");
  const Answer answer = value_of(engine.ask(request, [](const std::string&) { return false; }));
  EXPECT_GT(answer.kv_bytes.overlay, 0);
  EXPECT_EQ(answer.finish_reason, "stop");
  expect_idle(engine);
}

}  // namespace
}  // namespace looseleaf

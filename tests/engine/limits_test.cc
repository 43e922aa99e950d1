// Limits are hard: too long a prompt and too small a cache are refused with their numbers, and what
// gives way under a small limit changes no answer.
#include "asking.h"

namespace looseleaf {
namespace {

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
  return testing::AssertionSuccess();
}

TEST(ContextTest, ThePromptLeavesRoomForOneToken) {
  Engine engine = load_engine({.context = 64});
  Request r = completion(ids(4, 1), {ids(40, 2)}, ids(20, 3), "reuse");
  const auto answer = engine.ask(r);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kContextLength);
  EXPECT_TRUE(
      says(answer.error().message, {"64 tokens", "40 in documents", "24 of text", "of 64"}));
  EXPECT_EQ(engine.cache_stats().used_bytes, 0) << "nothing is computed for it";
  r.prompt = ids(19, 3);
  const Answer last = ask(engine, r);
  EXPECT_EQ(last.tokens.size(), 1u);
  EXPECT_EQ(last.finish_reason, "length");
}

TEST(ContextTest, AnswersEndWhereTheContextDoes) {
  Engine engine = load_engine({.context = 50});
  Request r = completion({}, {}, ids(40, 1), "auto");
  r.max_tokens = 1000;
  const Answer answer = ask(engine, r);
  EXPECT_EQ(answer.tokens.size(), 10u);
  EXPECT_EQ(answer.finish_reason, "length");
  expect_idle(engine);
}

TEST(ContextTest, PrefillKeepsToItToo) {
  Engine engine = load_engine({.context = 50});
  const auto id = engine.prefill(document(ids(50, 1)));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::kContextLength);
}

// Room for eight f32 pages; chunks are kept in f32 too.
EngineOptions eight_pages() {
  EngineOptions options;
  options.cache_bytes = 8 * kF32Page;
  options.kv_type = options.private_kv_type = "f32";
  options.deterministic = true;
  return options;
}

class KvBudgetTest : public testing::TestWithParam<const char*> {};

TEST_P(KvBudgetTest, WhatCannotFitIsRefusedAndTheCacheStays) {
  Engine engine = load_engine(eight_pages());
  const Request small = completion(ids(4, 1), {ids(9, 2)}, ids(5, 3), GetParam());
  const Answer before = ask(engine, small);
  const CacheStats stats = engine.cache_stats();
  const Request large = completion(ids(4, 1), {ids(150, 4), ids(150, 5)}, ids(5, 3), GetParam());
  const auto refused = engine.ask(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kKvBudget);
  EXPECT_TRUE(says(refused.error().message, {std::to_string(8 * kF32Page), "--cache-bytes"}));
  EXPECT_EQ(engine.cache_stats().used_bytes, stats.used_bytes);
  EXPECT_EQ(engine.cache_stats().evictions, stats.evictions);
  expect_idle(engine);
  expect_same_bits(before, ask(engine, small));
}

TEST_P(KvBudgetTest, AnAnswerEndsWhereTheCacheDoes) {
  Engine engine = load_engine(eight_pages());
  Request r = completion(ids(4, 1), {ids(9, 2)}, ids(5, 3), GetParam());
  const Answer before = ask(engine, r);
  r.max_tokens = 1000;
  const Answer cut = ask(engine, r);
  EXPECT_EQ(cut.finish_reason, "length");
  EXPECT_GT(cut.tokens.size(), 6u);
  EXPECT_LT(cut.tokens.size(), 1000u);
  expect_idle(engine);
  r.max_tokens = 6;
  expect_same_bits(before, ask(engine, r));
}

INSTANTIATE_TEST_SUITE_P(Methods, KvBudgetTest,
                         testing::Values("full", "prefix", "reuse", "block"));

TEST(KvBudgetPrefillTest, ADocumentThatCannotFit) {
  Engine engine = load_engine(eight_pages());
  const auto id = engine.prefill(document(ids(32 * 8, 1)));
  ASSERT_FALSE(id) << "the encoding prefix takes a page";
  EXPECT_EQ(id.error().code, ErrorCode::kKvBudget);
  expect_idle(engine);
  EXPECT_TRUE(engine.prefill(document(ids(32 * 7, 1))));
}

class EvictionTest : public testing::TestWithParam<const char*> {};

TEST_P(EvictionTest, AnswersStayTheSame) {
  Engine small = load_engine(eight_pages());
  EngineOptions options = eight_pages();
  options.cache_bytes = 64 << 20;
  Engine large = load_engine(options);
  std::vector<Ids> documents;
  for (uint64_t i = 0; i < 12; ++i)
    documents.push_back(ids(1 + static_cast<int>(i * 7 % 40), 10 + i));
  for (size_t i = 0; i < 60; ++i) {
    const std::vector<Ids> chosen = {documents[i * i % 12], documents[i * 5 % 12]};
    const Request r = completion(ids(4, i % 11), chosen, ids(5, i % 5), GetParam());
    expect_same_bits(ask(large, r), ask(small, r));
    expect_idle(small);
  }
  EXPECT_GT(small.cache_stats().evictions, 0);
  EXPECT_EQ(large.cache_stats().evictions, 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, EvictionTest,
                         testing::Values("full", "prefix", "reuse", "block", "auto"));

Answer ask_about(Engine& engine, const Ids& document_tokens) {
  return ask(engine, completion({}, {document_tokens}, ids(5, 1), "reuse"));
}

TEST(PinTest, PinnedChunksSurvive) {
  Engine engine = load_engine(eight_pages());
  const std::string id = value_of(engine.prefill(document(ids(33, 9))));
  ASSERT_TRUE(engine.pin(id));
  EXPECT_EQ(engine.cache_stats().pinned_bytes, 2 * kF32Page);
  for (uint64_t i = 0; i < 20; ++i) ask_about(engine, ids(40, 100 + i));
  EXPECT_EQ(ask_about(engine, ids(33, 9)).chunks[0].source, "host");
  engine.clear_cache();
  EXPECT_EQ(ask_about(engine, ids(33, 9)).chunks[0].source, "host");
  ASSERT_TRUE(engine.pin(id, false));
  expect_idle(engine);
  for (uint64_t i = 0; i < 40; ++i) ask_about(engine, ids(40, 200 + i));
  const Answer answer = ask_about(engine, ids(33, 9));
  EXPECT_EQ(answer.chunks[0].source, "computed");
  EXPECT_EQ(answer.chunks[0].miss_reason, "evicted");
  const Status gone = engine.pin(value_of(load_engine().prefill(document(ids(7, 8)))));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
}

TEST(PinTest, UnknownIds) {
  Engine engine = load_engine();
  for (const char* id : {"", "00", "not hex"}) {
    const Status status = engine.pin(id);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(says(status.error().message, {id}));
  }
}

TEST(PinTest, WherePinsTakeEverythingOthersAreRefused) {
  Engine engine = load_engine(eight_pages());
  const std::string id = value_of(engine.prefill(document(ids(32 * 6, 1))));
  ASSERT_TRUE(engine.pin(id));
  const auto refused = engine.ask(completion({}, {ids(64, 2)}, ids(5, 3), "reuse"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kKvBudget);
  ASSERT_TRUE(engine.pin(id, false));
  ask(engine, completion({}, {ids(64, 2)}, ids(5, 3), "reuse"));
  expect_idle(engine);
}

}  // namespace
}  // namespace looseleaf

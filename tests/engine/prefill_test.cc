// Chunks computed ahead of their first use, and engines that move.
#include "asking.h"

namespace looseleaf {
namespace {

const Document kTitled = {.text = "The reader counted the cards.",
                          .title = "Cards",
                          .id = "c",
                          .metadata = {},
                          .tokens = {}};

TEST(PrefillTest, Idempotent) {
  Engine engine = load_engine();
  const std::string first = value_of(engine.prefill(kTitled));
  const CacheStats stats = engine.cache_stats();
  EXPECT_EQ(value_of(engine.prefill(kTitled)), first);
  EXPECT_EQ(engine.cache_stats().chunks, stats.chunks);
  EXPECT_EQ(engine.cache_stats().used_bytes, stats.used_bytes);
  EXPECT_EQ(first.size(), 64u);
  expect_idle(engine);
}

// What ask() would compute is what prefill() has computed, for every layout and encoding prefix.
TEST(PrefillTest, AskFindsIt) {
  for (const char* layout : {"auto", "qa", "plain"}) {
    for (const char* prefix : {"none", "bos", "header"}) {
      for (const bool chat : {true, false}) {
        SCOPED_TRACE(std::string(layout) + " " + prefix + (chat ? " chat" : " completion"));
        Engine engine = load_engine();
        Request r = chat ? question("Who?") : completion(ids(6, 1), {}, ids(5, 2), "reuse");
        r.layout = layout;
        r.encoding_prefix = prefix;
        r.cache_salt = "s";
        const std::string id = value_of(engine.prefill(kTitled, r));
        r.documents = {kTitled};
        r.method = "reuse";
        const Answer answer = ask(engine, r);
        EXPECT_EQ(answer.chunks[0].source, "host");
        EXPECT_EQ(answer.chunks[0].id, id);
        EXPECT_EQ(answer.chunks[0].document_id, "c");
      }
    }
  }
}

TEST(PrefillTest, DefaultsMatchThoseOfAQuestion) {
  Engine engine = load_engine();
  const std::string id = value_of(engine.prefill(kTitled));
  Request r = question("Who counted?");
  r.documents = {kTitled};
  const Answer answer = ask(engine, r);
  EXPECT_EQ(answer.method, "reuse");
  EXPECT_EQ(answer.chunks[0].id, id);
  EXPECT_EQ(answer.chunks[0].source, "host");
  EXPECT_EQ(answer.cached_tokens, answer.chunks[0].tokens);
}

TEST(PrefillTest, AChatWithASystemMessage) {
  Engine engine = load_engine();
  Request r = question("");
  r.question.clear();
  r.messages = {{"system", {"Be short."}}, {"user", {"Who?"}}};
  r.encoding_prefix = "header";
  const std::string id = value_of(engine.prefill(kTitled, r));
  r.documents = {kTitled};
  EXPECT_EQ(ask(engine, r).chunks[0].id, id);
}

TEST(PrefillTest, RefusesWhatAskRefuses) {
  Engine engine = load_engine();
  EXPECT_FALSE(engine.prefill({}));
  EXPECT_FALSE(engine.prefill(document({1, -1})));
  EXPECT_FALSE(engine.prefill(document({1, kSmallVocab})));
  Request r;
  r.encoding_prefix = "all";
  const auto id = engine.prefill(kTitled, r);
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().param, "encoding_prefix");
  EXPECT_EQ(engine.cache_stats().used_bytes, 0);
}

TEST(EngineTest, Moves) {
  Engine engine = load_engine({.deterministic = true});
  const Request r = completion(ids(4, 1), {ids(40, 2)}, ids(5, 3), "reuse");
  const Answer before = ask(engine, r);
  Engine moved = std::move(engine);
  const Answer after = ask(moved, r);
  expect_same_bits(before, after);
  EXPECT_EQ(after.chunks[0].source, "host");
  // Over one that holds something itself.
  Engine other = load_engine();
  ask(other, r);
  other = std::move(moved);
  expect_same_bits(before, ask(other, r));
  expect_idle(other);
}

TEST(EngineTest, BadOptions) {
  const std::string path = (golden_dir() / "llama_f32.gguf").string();
  const auto code = [&](const EngineOptions& options) {
    const auto engine = Engine::load(path, options);
    return engine ? "loaded" : engine.error().code == ErrorCode::kUsage ? "usage" : "unsupported";
  };
  EngineOptions o;
  EXPECT_STREQ(code(o), "loaded");
  o.threads = -1;
  EXPECT_STREQ(code(o), "usage");
  o = {};
  o.context = 131073;
  EXPECT_STREQ(code(o), "usage");
  o.context = -1;
  EXPECT_STREQ(code(o), "usage");
  o = {};
  o.cache_bytes = -1;
  EXPECT_STREQ(code(o), "usage");
  o = {};
  o.kv_type = "int4";
  EXPECT_STREQ(code(o), "usage");
  o = {};
  o.exact = true;
  o.kv_type = "f16";
  EXPECT_STREQ(code(o), "usage") << "exact is f32";
  o.kv_type = "f32";
  EXPECT_STREQ(code(o), "loaded");
  o = {};
  o.device = "abacus";
  EXPECT_STREQ(code(o), "usage");
}

}  // namespace
}  // namespace looseleaf

// Text that is found again: the same prompt, the same beginning, the next turn of a chat, and text
// behind the same chunks.
#include "asking.h"

namespace looseleaf {
namespace {

Ids first_of(const Ids& tokens, int count) { return {tokens.begin(), tokens.begin() + count}; }

TEST(SharedTextTest, SamePromptLeavesOneToken) {
  for (const int length : {1, 2, 31, 32, 33, 34, 64, 65, 100}) {
    SCOPED_TRACE(length);
    Engine engine = load_engine();
    const Request r = completion({}, {}, ids(length, 1), "auto");
    const Answer cold = ask(engine, r), warm = ask(engine, r);
    EXPECT_EQ(cold.method, "prefix");
    EXPECT_EQ(cold.cached_tokens, 0);
    EXPECT_EQ(warm.cached_tokens, length - 1);
    EXPECT_EQ(warm.tokens, cold.tokens);
    expect_idle(engine);
  }
}

TEST(SharedTextTest, SamePromptTakesNoMorePages) {
  Engine engine = load_engine();
  const Request r = completion({}, {}, ids(70, 1), "auto");
  ask(engine, r);
  const int64_t bytes = engine.cache_stats().prefix_bytes;
  EXPECT_EQ(bytes, 3 * kF32Page);
  for (int i = 0; i < 3; ++i) ask(engine, r);
  EXPECT_EQ(engine.cache_stats().prefix_bytes, bytes);
}

TEST(SharedTextTest, SameBeginning) {
  Engine engine = load_engine();
  const Ids begin = ids(40, 1);
  ask(engine, completion({}, {}, joined(begin, ids(30, 2)), "auto"));
  EXPECT_EQ(ask(engine, completion({}, {}, joined(begin, ids(30, 3)), "auto")).cached_tokens, 40);
  // The longest of several that begin alike.
  ask(engine, completion({}, {}, joined(begin, joined(ids(5, 2), ids(9, 4))), "auto"));
  const Ids near = joined(begin, joined(ids(11, 2), ids(9, 5)));
  EXPECT_EQ(ask(engine, completion({}, {}, near, "auto")).cached_tokens, 51);
}

TEST(SharedTextTest, NextTurnFindsGeneratedTokens) {
  Engine engine = load_engine();
  Ids prompt = ids(30, 1);
  for (int turn = 0; turn < 5; ++turn) {
    SCOPED_TRACE(turn);
    Request r = completion({}, {}, prompt, "auto");
    r.max_tokens = 21;
    const Answer answer = ask(engine, r);
    // The last generated token of the turn before was never run.
    const int known = turn == 0 ? 0 : static_cast<int>(prompt.size()) - 7 - 1;
    EXPECT_EQ(answer.cached_tokens, known);
    prompt = joined(joined(prompt, answer.tokens), ids(7, static_cast<uint64_t>(turn + 2)));
    expect_idle(engine);
  }
}

TEST(SharedTextTest, ChatFindsItsHistory) {
  Engine engine = load_engine();
  Request r = question("");
  r.question.clear();
  r.messages = {{"user", {"Where are the cards?"}}};
  const Answer first = ask(engine, r);
  const auto before = static_cast<int>(first.prompt_tokens.size());
  r.messages.push_back({"assistant", {"In the drawer."}});
  r.messages.push_back({"user", {"And the drawer?"}});
  EXPECT_GE(ask(engine, r).cached_tokens, before);
}

class TextAfterChunksTest : public testing::TestWithParam<const char*> {
 protected:
  Answer answer(Engine& engine, const std::vector<Ids>& documents) const {
    return ask(engine, completion(ids(10, 1), documents, ids(50, 2), GetParam()));
  }
};

TEST_P(TextAfterChunksTest, FoundBehindTheSameChunksInTheSameOrderOnly) {
  Engine engine = load_engine();
  const Ids a = ids(40, 3), b = ids(7, 4);
  answer(engine, {a, b});
  EXPECT_EQ(answer(engine, {a, b}).cached_tokens, 10 + 47 + 49);
  EXPECT_EQ(answer(engine, {b, a}).cached_tokens, 10 + 47);
  EXPECT_EQ(answer(engine, {a}).cached_tokens, 10 + 40);
  EXPECT_EQ(answer(engine, {a, b, b}).cached_tokens, 10 + 54);
  EXPECT_EQ(answer(engine, {}).cached_tokens, 10);
  EXPECT_EQ(answer(engine, {b, a}).cached_tokens, 10 + 47 + 49);
}

INSTANTIATE_TEST_SUITE_P(Methods, TextAfterChunksTest, testing::Values("reuse", "block"));

TEST(SharedTextTest, TextBehindChunksBelongsToOneMethod) {
  Engine engine = load_engine();
  Request r = completion(ids(10, 1), {ids(40, 2)}, ids(50, 3), "reuse");
  ask(engine, r);
  r.method = "block";
  EXPECT_EQ(ask(engine, r).cached_tokens, 10 + 40) << "a moved chunk is not the same to the bit";
}

TEST(SharedTextTest, TextBetweenChunks) {
  Engine engine = load_engine();
  const auto chat = [](const std::string& between) {
    Request r = question("");
    r.question.clear();
    r.method = "reuse";
    r.messages = {
        {"user", {document(ids(33, 1)), between, document(ids(9, 2)), "And what is that?"}}};
    return r;
  };
  const Answer cold = ask(engine, chat(" stands before "));
  const auto all = static_cast<int>(cold.prompt_tokens.size());
  EXPECT_EQ(ask(engine, chat(" stands before ")).cached_tokens, all - 1);
  const Answer other = ask(engine, chat(" stood before "));
  EXPECT_LT(other.cached_tokens, all - 1) << "what follows has seen other text";
  EXPECT_GE(other.cached_tokens, 33 + 9);
}

TEST(SharedTextTest, FullSharesTheHeaderOnly) {
  Engine engine = load_engine();
  const Request r = completion(ids(40, 1), {ids(40, 2)}, ids(9, 3), "full");
  EXPECT_EQ(ask(engine, r).cached_tokens, 0);
  const int64_t bytes = engine.cache_stats().prefix_bytes;
  EXPECT_EQ(bytes, 2 * kF32Page);
  EXPECT_EQ(ask(engine, r).cached_tokens, 40);
  EXPECT_EQ(engine.cache_stats().prefix_bytes, bytes);
  EXPECT_EQ(engine.cache_stats().chunk_bytes, 0);
  // Nothing stands before the first document: nothing is shared.
  Engine bare = load_engine();
  const Request headless = completion({}, {ids(40, 2)}, ids(9, 3), "full");
  ask(bare, headless);
  EXPECT_EQ(ask(bare, headless).cached_tokens, 0);
  EXPECT_EQ(bare.cache_stats().used_bytes, 0);
}

TEST(SharedTextTest, PrefixSharesDocumentsThatStandAlike) {
  Engine engine = load_engine();
  const Ids a = ids(40, 1), b = ids(40, 2);
  ask(engine, completion(ids(4, 3), {a, b}, ids(9, 4), "prefix"));
  EXPECT_EQ(ask(engine, completion(ids(4, 3), {a, b}, ids(9, 4), "prefix")).cached_tokens, 92);
  EXPECT_EQ(ask(engine, completion(ids(4, 3), {a}, ids(9, 5), "prefix")).cached_tokens, 44);
  EXPECT_EQ(ask(engine, completion(ids(4, 3), {b, a}, ids(9, 4), "prefix")).cached_tokens, 4);
}

TEST(SharedTextTest, EveryMethodFindsTheSameHeader) {
  Engine engine = load_engine();
  Request r = completion(ids(45, 1), {ids(40, 2)}, ids(9, 3), "reuse");
  ask(engine, r);
  r.documents[0].tokens = ids(40, 4);
  for (const char* method : {"full", "prefix", "block"}) {
    r.method = method;
    EXPECT_GE(ask(engine, r).cached_tokens, 45) << method;
  }
  EXPECT_GE(ask(engine, completion({}, {}, first_of(ids(45, 1), 44), "auto")).cached_tokens, 43);
}

TEST(SharedTextTest, ClearForgets) {
  Engine engine = load_engine();
  const Request r = completion(ids(45, 1), {ids(40, 2)}, ids(9, 3), "reuse");
  ask(engine, r);
  engine.clear_cache();
  EXPECT_EQ(engine.cache_stats().used_bytes, 0);
  EXPECT_EQ(engine.cache_stats().chunks, 0);
  const Answer again = ask(engine, r);
  EXPECT_EQ(again.cached_tokens, 0);
  EXPECT_EQ(again.chunks[0].miss_reason, "new");
}

}  // namespace
}  // namespace looseleaf

// What an answer says of its chunks: where they came from, how many tokens were there before, and
// whose pages hold them.
#include "asking.h"

namespace looseleaf {
namespace {

std::vector<std::string> sources(const Answer& answer) {
  std::vector<std::string> names;
  for (const ChunkUse& use : answer.chunks) names.push_back(use.source);
  return names;
}

using Names = std::vector<std::string>;

TEST(ReuseTest, ComputedFirstThenFound) {
  Engine engine = load_engine();
  const Request r = completion(ids(4, 1), {ids(40, 2), ids(7, 3)}, ids(9, 4), "reuse");
  const Answer cold = ask(engine, r), warm = ask(engine, r);
  EXPECT_EQ(sources(cold), (Names{"computed", "computed"}));
  EXPECT_EQ(cold.cached_tokens, 0);
  EXPECT_EQ(cold.chunks[0].miss_reason, "new");
  EXPECT_EQ(sources(warm), (Names{"host", "host"}));
  EXPECT_EQ(warm.chunks[0].miss_reason, "");
  EXPECT_EQ(warm.cached_tokens, 4 + 40 + 7 + 8) << "all but the token whose logits are wanted";
  EXPECT_EQ(cold.chunks[1].id, warm.chunks[1].id);
  EXPECT_NE(cold.chunks[0].id, cold.chunks[1].id);
}

TEST(ReuseTest, UsesSayWhichDocumentAndWhere) {
  Engine engine = load_engine();
  Request r = completion(ids(4, 1), {ids(40, 2), ids(7, 3)}, ids(9, 4), "reuse");
  r.documents[1].id = "seven";
  const Answer answer = ask(engine, r);
  ASSERT_EQ(answer.chunks.size(), 2u);
  EXPECT_EQ(answer.chunks[0].index, 0);
  EXPECT_EQ(answer.chunks[0].document_id, "");
  EXPECT_EQ(answer.chunks[0].offset, 4);
  EXPECT_EQ(answer.chunks[0].tokens, 40);
  EXPECT_EQ(answer.chunks[1].index, 1);
  EXPECT_EQ(answer.chunks[1].document_id, "seven");
  EXPECT_EQ(answer.chunks[1].offset, 44);
  EXPECT_EQ(answer.prompt_tokens,
            joined(joined(ids(4, 1), ids(40, 2)), joined(ids(7, 3), ids(9, 4))));
}

TEST(ReuseTest, ADuplicateIsComputedOnce) {
  for (const char* method : {"reuse", "block", "block:inplace=1"}) {
    SCOPED_TRACE(method);
    Engine engine = load_engine({});
    const Ids x = ids(33, 1), y = ids(5, 2);
    const Answer answer = ask(engine, completion(ids(2, 3), {x, y, x}, ids(4, 4), method));
    EXPECT_EQ(sources(answer), (Names{"computed", "computed", "host"}));
    EXPECT_EQ(answer.cached_tokens, 33);
    EXPECT_EQ(answer.chunks[0].id, answer.chunks[2].id);
    EXPECT_EQ(answer.kv_bytes.chunks, (2 + 1) * kF32Page / 2) << "f16 pages, each chunk once";
    expect_idle(engine);
  }
}

TEST(ReuseTest, AnyOrderFindsTheSameChunks) {
  Engine engine = load_engine();
  const Ids a = ids(40, 1), b = ids(7, 2), c = ids(64, 3);
  ask(engine, completion(ids(4, 4), {a, b, c}, ids(3, 5), "reuse"));
  const int64_t chunks = engine.cache_stats().chunks;
  const Answer answer = ask(engine, completion(ids(9, 6), {c, a, b, a}, ids(3, 5), "reuse"));
  EXPECT_EQ(sources(answer), (Names{"host", "host", "host", "host"}));
  EXPECT_EQ(answer.cached_tokens, 64 + 40 + 7 + 40);
  EXPECT_EQ(engine.cache_stats().chunks, chunks);
}

TEST(ReuseTest, ReuseCopiesNothingAndBlockCopiesEachUse) {
  EngineOptions options;
  options.kv_type = options.private_kv_type = "f32";
  const Ids x = ids(33, 1), y = ids(64, 2);
  Request r = completion(ids(4, 3), {x, y, x}, ids(3, 4), "reuse");
  r.max_tokens = 1;
  constexpr int64_t kText = 1 + 1;        // pages of prefix and prompt
  constexpr int64_t kChunks = 2 + 2;      // pages of x and y
  constexpr int64_t kCopies = 2 + 2 + 2;  // x stands twice
  Engine reuse = load_engine(options);
  const Answer shared = ask(reuse, r);
  EXPECT_EQ(shared.kv_bytes.private_pages, kText * kF32Page);
  EXPECT_EQ(shared.kv_bytes.chunks, kChunks * kF32Page);
  EXPECT_EQ(shared.kv_bytes.overlay, 0);
  r.method = "block";
  Engine block = load_engine(options);
  const Answer copied = ask(block, r);
  EXPECT_EQ(copied.kv_bytes.private_pages, (kText + kCopies) * kF32Page);
  EXPECT_EQ(copied.kv_bytes.chunks, kChunks * kF32Page);
  expect_idle(block);
}

TEST(ReuseTest, InplaceCopiesOnlyWhereTheChunkIsHeldElsewhere) {
  EngineOptions options;
  options.kv_type = options.private_kv_type = "f32";
  const Ids x = ids(33, 1), y = ids(64, 2);
  Request r = completion(ids(4, 3), {x, y, x}, ids(3, 4), "block:inplace=1");
  r.max_tokens = 1;
  Engine engine = load_engine(options);
  EXPECT_EQ(ask(engine, r).kv_bytes.private_pages, (2 + 2) * kF32Page) << "the second x alone";
  expect_idle(engine);
}

// Moved chunks are another method's: they never leak into answers that bind the chunk itself.
TEST(ReuseTest, MovedChunksStayApart) {
  Engine engine = load_engine({.exact = true, .deterministic = false});
  const Request r = completion(ids(4, 1), {ids(40, 2)}, ids(9, 3), "reuse");
  const Answer before = ask(engine, r);
  Request moved = r;
  moved.method = "block:inplace=1";
  const Answer first = ask(engine, moved);
  EXPECT_NE(first.chunks[0].id, before.chunks[0].id);
  const Answer again = ask(engine, r);
  EXPECT_EQ(again.chunks[0].source, "host");
  EXPECT_EQ(again.tokens, before.tokens);
}

TEST(ReuseTest, SaltsShareNothing) {
  Engine engine = load_engine();
  Request r = completion(ids(40, 1), {ids(40, 2)}, ids(9, 3), "reuse");
  ask(engine, r);
  r.cache_salt = "tenant";
  const Answer other = ask(engine, r);
  EXPECT_EQ(other.cached_tokens, 0);
  EXPECT_EQ(other.chunks[0].source, "computed");
  EXPECT_EQ(ask(engine, r).cached_tokens, 40 + 40 + 8);
}

TEST(ReuseTest, EncodingPrefixIsPartOfTheIdentity) {
  Engine engine = load_engine();
  Request r = completion(ids(4, 1), {ids(40, 2)}, ids(9, 3), "reuse");
  std::vector<std::string> seen;
  for (const char* prefix : {"none", "bos", "header"}) {
    r.encoding_prefix = prefix;
    const Answer answer = ask(engine, r);
    EXPECT_EQ(answer.chunks[0].source, "computed") << prefix;
    seen.push_back(answer.chunks[0].id);
  }
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
}

TEST(ReuseTest, FlopsCountWhatWasComputed) {
  Engine engine = load_engine();
  const Request r = completion(ids(4, 1), {ids(200, 2)}, ids(9, 3), "reuse");
  const Answer cold = ask(engine, r), warm = ask(engine, r);
  EXPECT_GT(cold.flops.share_of_full, warm.flops.share_of_full);
  EXPECT_GT(warm.flops.share_of_full, 0);
  Request full = r;
  full.method = "full";
  EXPECT_DOUBLE_EQ(ask(*std::make_unique<Engine>(load_engine()), full).flops.share_of_full, 1);
}

}  // namespace
}  // namespace looseleaf

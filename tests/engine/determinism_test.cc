// With `deterministic` an answer has the same bits alone and after others, cold and warm, whatever
// the number of threads.
#include <fstream>

#include "asking.h"
#include "model/tiny_llama.h"

namespace looseleaf {
namespace {

const int kLengths[] = {1, 31, 32, 33, 64, 100};

std::vector<Ids> documents_of_all_lengths() {
  std::vector<Ids> documents;
  for (const int length : kLengths) documents.push_back(ids(length, 100 + length));
  return documents;
}

struct Setup {
  const char* name;
  const char* method;
  const char* kv_type;
};

class DeterminismTest : public testing::TestWithParam<Setup> {
 protected:
  Engine fresh(int threads = 2) const {
    return load_engine({.threads = threads, .kv_type = GetParam().kv_type, .deterministic = true});
  }
  Request request(const Ids& prefix, const std::vector<Ids>& documents, const Ids& prompt) const {
    return completion(prefix, documents, prompt, GetParam().method);
  }
};

TEST_P(DeterminismTest, WarmEqualsCold) {
  Engine engine = fresh();
  for (const int length : kLengths) {
    SCOPED_TRACE(length);
    const Request r = request(ids(length, 1), {ids(length, 2), ids(7, 3)}, ids(length, 4));
    const Answer cold = ask(engine, r);
    expect_idle(engine);
    expect_same_bits(cold, ask(engine, r));
    expect_same_bits(cold, ask(engine, r));
    expect_idle(engine);
    engine.clear_cache();
    expect_same_bits(cold, ask(engine, r));
  }
}

TEST_P(DeterminismTest, AfterOthersEqualsAlone) {
  const auto documents = documents_of_all_lengths();
  const Ids prefix = ids(20, 1), prompt = ids(40, 2);
  const Request r = request(prefix, documents, prompt);
  Engine alone = fresh();
  const Answer expected = ask(alone, r);

  Engine engine = fresh();
  auto reversed = documents;
  std::reverse(reversed.begin(), reversed.end());
  ask(engine, request(prefix, reversed, prompt));
  // Beginnings that end inside a page, at its edge, and behind the whole prompt.
  ask(engine, request(prefix, {documents[3], documents[1]}, prompt));
  ask(engine, request(prefix, documents, Ids(prompt.begin(), prompt.begin() + 33)));
  ask(engine, request(prefix, documents, joined(prompt, ids(70, 3))));
  ask(engine, request(Ids(prefix.begin(), prefix.begin() + 9), documents, prompt));
  expect_same_bits(expected, ask(engine, r));
  for (const char* other : {"full", "prefix", "block", "reuse"}) {
    SCOPED_TRACE(other);
    ask(engine, completion(prefix, documents, joined(prompt, ids(5, 4)), other));
    ask(engine, completion(prefix, reversed, prompt, other));
    expect_same_bits(expected, ask(engine, r));
    expect_idle(engine);
  }
}

TEST_P(DeterminismTest, SameDocumentTwice) {
  const Ids x = ids(33, 1), y = ids(40, 2);
  const Request r = request(ids(5, 3), {x, y, x}, ids(9, 4));
  Engine engine = fresh(), other = fresh();
  const Answer cold = ask(engine, r);
  ask(other, request(ids(6, 5), {y, x}, ids(9, 4)));
  expect_same_bits(cold, ask(other, r));
  expect_same_bits(cold, ask(engine, r));
  expect_idle(engine);
}

TEST_P(DeterminismTest, ThreadsDoNotChangeBits) {
  const Request r = request(ids(20, 1), documents_of_all_lengths(), ids(50, 2));
  Engine one = fresh(1);
  const Answer expected = ask(one, r);
  for (const int threads : {2, 3, 4}) {
    Engine engine = fresh(threads);
    expect_same_bits(expected, ask(engine, r));
  }
}

// A turn that goes on from generated tokens, computed one by one in the turn before, equals one
// that computes them as a prompt.
TEST_P(DeterminismTest, NextTurnEqualsOneFreshPrompt) {
  const std::vector<Ids> documents = {ids(33, 1), ids(50, 2)};
  Request first = request(ids(12, 3), documents, ids(30, 4));
  first.max_tokens = 40;
  Engine engine = fresh();
  const Answer turn = ask(engine, first);
  const Ids next = joined(joined(ids(30, 4), turn.tokens), ids(11, 5));
  const Request second = request(ids(12, 3), documents, next);
  Engine alone = fresh();
  expect_same_bits(ask(alone, second), ask(engine, second));
}

INSTANTIATE_TEST_SUITE_P(
    Methods, DeterminismTest,
    testing::Values(Setup{"full", "full", "auto"}, Setup{"prefix", "prefix", "auto"},
                    Setup{"block", "block", "auto"}, Setup{"block_f32", "block", "f32"},
                    Setup{"reuse", "reuse", "auto"}, Setup{"reuse_q8_0", "reuse", "q8_0"},
                    Setup{"reuse_fp8", "reuse", "fp8"}),
    [](const auto& info) { return std::string(info.param.name); });

// Keys that are moved in place are rounded at every place where they stood.
TEST(DeterminismInplace, IsRefused) {
  Engine engine = load_engine({.deterministic = true});
  const auto answer = engine.ask(completion({}, {ids(3, 1)}, ids(3, 2), "block:inplace=1"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(answer.error().param, "method");
  EXPECT_EQ(engine.cache_stats().used_bytes, 0);
}

// Widths that fill no vector register: the last columns of a product are added one by one, in
// kernels of four rows and of one.
TEST(DeterminismOddWidths, RowsDoNotSeeTheirNeighbours) {
  const auto path = std::filesystem::path(testing::TempDir()) / "odd_widths.gguf";
  std::ofstream(path, std::ios::binary) << tiny::gguf().build();
  const auto load = [&] {
    return value_of(
        Engine::load(path.string(), {.threads = 2, .cache_bytes = 1 << 20, .deterministic = true}));
  };
  const auto small = [](int count, int seed) {
    Ids tokens = ids(count, static_cast<uint64_t>(seed));
    for (int32_t& token : tokens) token = 2 + token % 6;
    return tokens;
  };
  const Ids prompt = small(9, 4);
  for (const char* method : {"prefix", "reuse"}) {
    const Request r = completion(small(3, 1), {small(7, 2), small(5, 3)}, prompt, method);
    Engine alone = load(), engine = load();
    const Answer cold = ask(alone, r);
    for (int length = 1; length < 9; ++length) {
      ask(engine, completion(small(3, 1), {small(7, 2), small(5, 3)},
                             Ids(prompt.begin(), prompt.begin() + length), method));
      expect_same_bits(cold, ask(engine, r));
    }
  }
}

}  // namespace
}  // namespace looseleaf

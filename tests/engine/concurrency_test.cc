// Engines used from several threads. Small on purpose: these run under ThreadSanitizer.
#include <thread>

#include "asking.h"

namespace looseleaf {
namespace {

Request small_request(int i) {
  const auto seed = static_cast<uint64_t>(i);
  const std::vector<Ids> documents = {ids(20 + i % 3, 1 + seed % 4), ids(5, 9)};
  const char* methods[] = {"reuse", "prefix", "block", "full"};
  Request r = completion(ids(3, 2), documents, ids(4 + i % 5, 3), methods[i % 4]);
  r.max_tokens = 3;
  return r;
}

TEST(ConcurrencyTest, OneEngineFromFourThreads) {
  constexpr int kThreads = 4, kEach = 4;
  Engine serial = load_engine({.deterministic = true});
  std::vector<Answer> expected, got(kThreads * kEach);
  for (int i = 0; i < kThreads * kEach; ++i) expected.push_back(ask(serial, small_request(i)));
  Engine engine = load_engine({.deterministic = true});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < kThreads * kEach; i += kThreads) {
        got[static_cast<size_t>(i)] = ask(engine, small_request(i));
        (void)engine.cache_stats();
        (void)engine.prefill(document(ids(9, static_cast<uint64_t>(i))));
        if (i == 7) engine.clear_cache();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same_bits(expected[i], got[i]);
    EXPECT_GE(got[i].timings.queue_ms, 0);
  }
  expect_idle(engine);
}

TEST(ConcurrencyTest, TwoModelsAtOnce) {
  const char* models[] = {"llama_f32.gguf", "llama3_hf_bf16"};
  std::vector<Engine> engines;
  std::vector<std::vector<Answer>> expected(2), got(2);
  for (size_t m = 0; m < 2; ++m) {
    Engine alone = load_engine({.deterministic = true}, models[m]);
    for (int i = 0; i < 4; ++i) expected[m].push_back(ask(alone, small_request(i)));
    engines.push_back(load_engine({.deterministic = true}, models[m]));
  }
  std::vector<std::thread> threads;
  for (size_t m = 0; m < 2; ++m)
    threads.emplace_back([&, m] {
      for (int i = 0; i < 4; ++i) got[m].push_back(ask(engines[m], small_request(i)));
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t m = 0; m < 2; ++m)
    for (size_t i = 0; i < 4; ++i) expect_same_bits(expected[m][i], got[m][i]);
}

TEST(ConcurrencyTest, EnginesOfOneFileShareNoState) {
  Engine a = load_engine(), b = load_engine();
  const Request r = completion(ids(40, 1), {ids(40, 2)}, ids(5, 3), "reuse");
  ask(a, r);
  EXPECT_EQ(b.cache_stats().used_bytes, 0);
  EXPECT_EQ(ask(b, r).cached_tokens, 0);
}

}  // namespace
}  // namespace looseleaf

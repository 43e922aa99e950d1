// Public engines over the small golden models, and requests of token ids, whose lengths a test can
// choose exactly.
#pragma once

#include <string>
#include <vector>

#include "looseleaf/looseleaf.h"
#include "test_engine.h"

namespace looseleaf {

using Ids = std::vector<int32_t>;

// Where keys and values are f32, one page of the small model has 16 KB.
inline constexpr int64_t kF32Page = 2 * 2 * 2 * 32 * 16 * 4;
inline constexpr int kSmallVocab = 320;

// By default one that gives the same bits cold or warm, so that answers can be compared, and whose
// text is kept in f32, so that pages have the size kF32Page.
inline Engine load_engine(EngineOptions options = {.private_kv_type = "f32", .deterministic = true},
                          const std::string& model = "llama_f32.gguf") {
  if (options.cache_bytes == 0) options.cache_bytes = 64 << 20;
  if (options.threads == 0) options.threads = 2;
  options.device = "cpu";  // whose pages the tests count
  return value_of(Engine::load((golden_dir() / model).string(), options));
}

// `count` ordinary tokens (neither special nor end tokens) that depend on the seed alone.
inline Ids ids(int count, uint64_t seed) {
  Ids tokens;
  for (int i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(3 + static_cast<int32_t>((seed >> 33) % (kSmallVocab - 3)));
  }
  return tokens;
}

inline Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Document document(Ids tokens) {
  Document document;
  document.tokens = std::move(tokens);
  return document;
}

// A greedy completion that says how sure it was of each token.
inline Request completion(const Ids& prefix, const std::vector<Ids>& documents, const Ids& prompt,
                          const std::string& method) {
  Request request;
  if (!prefix.empty()) request.prefix = prefix;
  for (const Ids& tokens : documents) request.documents.push_back(document(tokens));
  request.prompt = prompt;
  request.method = method;
  request.max_tokens = 6;
  request.ignore_eos = true;
  request.logprobs = 2;
  request.sampling.temperature = 0;
  return request;
}

inline Request question(const std::string& text) {
  Request request;
  request.question = text;
  request.max_tokens = 6;
  request.ignore_eos = true;
  request.sampling.temperature = 0;
  return request;
}

inline Answer ask(Engine& engine, const Request& request) { return value_of(engine.ask(request)); }

// Everything that deterministic engines promise to be equal: to the last bit, hence EXPECT_EQ.
inline void expect_same_bits(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.text, b.text);
  ASSERT_EQ(a.logprobs.size(), b.logprobs.size());
  for (size_t i = 0; i < a.logprobs.size(); ++i) {
    EXPECT_EQ(a.logprobs[i].logprob, b.logprobs[i].logprob) << "token " << i;
    EXPECT_EQ(a.logprobs[i].top, b.logprobs[i].top) << "token " << i;
  }
}

// An idle engine holds what its caches hold, and nothing is in use.
inline void expect_idle(const Engine& engine) {
  const CacheStats stats = engine.cache_stats();
  EXPECT_EQ(stats.pinned_bytes, 0);
  EXPECT_EQ(stats.used_bytes, stats.chunk_bytes + stats.prefix_bytes);
  EXPECT_LE(stats.used_bytes, stats.limit_bytes);
}

}  // namespace looseleaf

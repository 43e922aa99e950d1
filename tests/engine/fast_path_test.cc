// What the default path costs in exactness: log-probabilities against an engine with `exact`, on a
// real model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "asking.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

std::vector<Document> documents() {
  std::vector<Document> documents;
  for (const char* text :
       {"Edda Quill has kept the light on Harrow Point for nineteen years. She climbs the tower "
        "twice a night, and writes the wind into a grey book.",
        "The ferry to the mainland leaves at dawn in summer and at ten in winter. In a storm it "
        "does not leave at all, and the bakery sells storm loaves.",
        "The school newspaper is called The Lantern. It was founded by two girls who wanted to "
        "print a map of all the dogs of the island."})
    documents.push_back({.text = text, .title = "Notes"});
  return documents;
}

// Keys and values of chunks are rounded to f16, 2^-11 of each, and activations to 16-bit integers:
// a score of some tens of units moves by some hundredths, and a log-probability by no more than the
// scores do. Processors that multiply bfloat16 round both factors by up to 2^-8, which is random:
// in 200 products one after the other some tenths.
double tolerance() { return cpu_numeric_path(Products::kFast) == "cpu-bf16" ? 0.25 : 0.05; }

TEST(FastPath, StaysCloseToExactOnSmolLm2) {
  const char* path = std::getenv("LOOSELEAF_SMOLLM2");
  if (path == nullptr || *path == '\0') GTEST_SKIP() << "LOOSELEAF_SMOLLM2 names no model";
  const auto load = [&](bool exact) {
    return value_of(Engine::load(path, {.threads = 2, .cache_bytes = 256 << 20, .exact = exact}));
  };
  Engine fast = load(false), exact = load(true);
  for (const char* method : {"full", "reuse"}) {
    Request request = question("Who keeps the light, and what is the newspaper called?");
    request.documents = documents();
    request.method = method;
    request.max_tokens = 12;
    request.logprobs = 5;
    const Answer a = ask(fast, request), b = ask(exact, request);
    EXPECT_TRUE(b.exact);
    EXPECT_FALSE(a.exact);
    double worst = 0;
    for (size_t i = 0; i < std::min(a.tokens.size(), b.tokens.size()); ++i) {
      for (size_t k = 0; k < b.logprobs[i].top.size(); ++k)
        for (const auto& [token, logprob] : a.logprobs[i].top)
          if (token == b.logprobs[i].top[k].first)
            worst = std::max(worst, std::abs(logprob - b.logprobs[i].top[k].second));
      if (a.tokens[i] != b.tokens[i]) break;  // from here on the texts differ
    }
    std::printf("%s: log-probabilities differ from exact by at most %.2g\n", method, worst);
    RecordProperty(method, std::to_string(worst));
    EXPECT_LT(worst, tolerance()) << method;
    EXPECT_EQ(a.tokens, b.tokens) << method;
  }
}

}  // namespace
}  // namespace looseleaf

// Teacher forcing: Engine::score gives what ask() would have had on choosing the same tokens.
#include <gtest/gtest.h>

#include <cmath>

#include "asking.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

const Ids kHeader = ids(20, 1), kFirst = ids(40, 2), kSecond = ids(70, 3), kTail = ids(9, 4);

Request request_for(const std::string& method) {
  return completion(kHeader, {kFirst, kSecond}, kTail, method);
}

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const MethodInfo* info : methods_table())
    if (parse_method(info->name, true)) names.emplace_back(info->name);
  return names;
}

TEST(Score, OfTheAnswersOwnTokensIsTheAnswersOwn) {
  for (const std::string& method : all_methods()) {
    SCOPED_TRACE(method);
    Engine engine = load_engine({.deterministic = true});
    const Answer answer = ask(engine, request_for(method));
    engine.clear_cache();
    const Score score = value_of(engine.score(request_for(method), answer.tokens));
    expect_same_bits(score.answer, answer);
    EXPECT_EQ(score.tokens, answer.tokens);
    ASSERT_EQ(score.logprobs.size(), answer.logprobs.size());
    for (size_t i = 0; i < score.logprobs.size(); ++i)
      EXPECT_EQ(score.logprobs[i], answer.logprobs[i].logprob) << "token " << i;
    expect_idle(engine);
  }
}

TEST(Score, GivesTheLogitsOfEveryToken) {
  Engine engine = load_engine();
  const Ids continuation = ids(5, 9);
  std::vector<size_t> indices;
  std::vector<double> from_logits;
  const Score score = value_of(engine.score(
      request_for("reuse"), continuation, [&](size_t index, std::span<const float> logits) {
        indices.push_back(index);
        ASSERT_EQ(logits.size(), static_cast<size_t>(kSmallVocab));
        double sum = 0;
        for (const float logit : logits) sum += std::exp(double(logit));
        from_logits.push_back(logits[static_cast<size_t>(continuation[index])] - std::log(sum));
      }));
  EXPECT_EQ(indices, (std::vector<size_t>{0, 1, 2, 3, 4}));
  ASSERT_EQ(from_logits.size(), score.logprobs.size());
  for (size_t i = 0; i < from_logits.size(); ++i)
    EXPECT_NEAR(score.logprobs[i], from_logits[i], 1e-9);
}

TEST(Score, WithoutAnAnswerIsTheSame) {
  Engine engine = load_engine({.deterministic = true});
  const Ids continuation = ids(4, 9);
  const Score with = value_of(engine.score(request_for("reuse"), continuation));
  Request request = request_for("reuse");
  request.max_tokens = 0;
  engine.clear_cache();
  const Score without = value_of(engine.score(request, continuation));
  EXPECT_TRUE(without.answer.tokens.empty());
  EXPECT_EQ(without.logprobs, with.logprobs);
  EXPECT_EQ(without.answer.prompt_tokens, with.answer.prompt_tokens);
  EXPECT_GT(without.answer.ttft_ms, 0);
}

// What is scored lies over the pages of the answer; what others find must be right all the same.
TEST(Score, LeavesTheCachesRight) {
  Engine engine = load_engine({.deterministic = true});
  const Ids continuation = ids(40, 9);  // past a page
  for (const std::string method : {"reuse", "prefix"}) {
    SCOPED_TRACE(method);
    engine.clear_cache();
    const Answer cold = ask(engine, request_for(method));
    Request longer = request_for(method);
    longer.prompt = joined(joined(kTail, cold.tokens), ids(3, 10));
    const Answer cold_longer = ask(engine, longer);
    engine.clear_cache();
    value_of(engine.score(request_for(method), continuation));
    expect_same_bits(ask(engine, request_for(method)), cold);
    expect_same_bits(ask(engine, longer), cold_longer);
    Request scored = request_for(method);
    scored.prompt = joined(joined(kTail, continuation), ids(3, 10));
    const Answer warm = ask(engine, scored);
    engine.clear_cache();
    expect_same_bits(ask(engine, scored), warm);
  }
}

TEST(Score, TextIsTokenizedAlone) {
  Engine engine = load_engine();
  const Score score = value_of(engine.score(question("Why?"), std::string("Because.")));
  EXPECT_EQ(score.tokens, value_of(engine.tokenize("Because.")));
}

TEST(Score, RefusesWhatItCannotScore) {
  Engine engine = load_engine({.context = 160});
  const auto error_of = [&](const Request& request, const TextOrTokens& continuation) {
    const auto score = engine.score(request, continuation);
    EXPECT_FALSE(score);
    expect_idle(engine);
    return score ? Error{} : score.error();
  };
  EXPECT_EQ(error_of(request_for("reuse"), Ids{}).param, "continuation");
  EXPECT_EQ(error_of(request_for("reuse"), std::string()).param, "continuation");
  EXPECT_EQ(error_of(request_for("reuse"), Ids{kSmallVocab}).param, "continuation");
  EXPECT_EQ(error_of(request_for("reuse"), Ids{-1}).param, "continuation");
  EXPECT_EQ(error_of(request_for("reuse"), ids(22, 5)).code, ErrorCode::kContextLength);
  EXPECT_TRUE(engine.score(request_for("reuse"), ids(21, 5)));  // 139 and 21 tokens
  Request request = request_for("reuse");
  request.max_tokens = -1;
  EXPECT_EQ(error_of(request, ids(2, 5)).param, "max_tokens");
}

}  // namespace
}  // namespace looseleaf

// How an answer ends, and what its listener hears.
#include "asking.h"
#include "base/utf8.h"

namespace looseleaf {
namespace {

constexpr int32_t kImEnd = 2;  // <|im_end|>, which ends a turn

// Forces a token: its logit is beyond all others.
Request forced(int32_t token) {
  Request r = question("Where are the cards?");
  r.ignore_eos = false;
  r.sampling.logit_bias = {{token, 1e6f}};
  return r;
}

TEST(StreamingTest, PiecesAddUpToTheText) {
  Engine engine = load_engine();
  for (int seed = 0; seed < 20; ++seed) {
    Request r = question("Who counted them?");
    r.sampling.temperature = 5;  // any token, bytes of code points among them
    r.sampling.seed = static_cast<uint64_t>(seed);
    r.max_tokens = 40;
    std::string heard;
    const Answer answer = value_of(engine.ask(r, [&](const std::string& piece) {
      EXPECT_FALSE(piece.empty());
      EXPECT_FALSE(find_invalid_utf8(piece).has_value());
      heard += piece;
      return true;
    }));
    EXPECT_EQ(heard, answer.text);
    EXPECT_EQ(answer.tokens.size(), 40u);
  }
}

TEST(StreamingTest, ListenerEndsTheAnswer) {
  Engine engine = load_engine();
  int heard = 0;
  const Answer answer =
      value_of(engine.ask(forced(300), [&](const std::string&) { return ++heard < 2; }));
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(answer.tokens.size(), 2u);
  EXPECT_EQ(answer.finish_reason, "stop");
  expect_idle(engine);
}

// Half a code point is held back to the end; what the listener says then counts too.
TEST(StreamingTest, ListenerEndsTheAnswerAtItsLastPiece) {
  Engine engine = load_engine();
  constexpr int32_t kLeadByte = 165;  // 0xE6, the first of three bytes
  Request r = forced(kLeadByte);
  r.max_tokens = 1;
  EXPECT_EQ(ask(engine, r).finish_reason, "length");
  const Answer answer = value_of(engine.ask(r, [](const std::string&) { return false; }));
  EXPECT_EQ(answer.text, "\uFFFD");
  EXPECT_EQ(answer.finish_reason, "stop");
  r.stop = {"\uFFFD"};
  const Answer cut = ask(engine, r);
  EXPECT_EQ(cut.text, "");
  EXPECT_EQ(cut.finish_reason, "stop");
}

TEST(StreamingTest, ListenerThatThrowsLeavesTheEngineWell) {
  Engine engine = load_engine();
  const Answer before = ask(engine, forced(300));
  EXPECT_THROW((void)engine.ask(forced(300),
                                [](const std::string&) -> bool { throw std::runtime_error("x"); }),
               std::runtime_error);
  expect_idle(engine);
  EXPECT_EQ(ask(engine, forced(300)).tokens, before.tokens);
}

TEST(StreamingTest, StopStringsCut) {
  Engine engine = load_engine();
  Request r = question("Who counted them?");
  r.sampling.temperature = 1;
  r.max_tokens = 60;
  const Answer whole = ask(engine, r);
  ASSERT_GT(whole.text.size(), 20u);
  // Any code points of it, over the edges of tokens too.
  for (size_t start = 3; start + 4 < whole.text.size(); start += 5) {
    const std::string stop = whole.text.substr(start, 3);
    if (find_invalid_utf8(stop) || find_invalid_utf8(whole.text.substr(0, start))) continue;
    Request cut = r;
    cut.stop = {"never in an answer of this length, I hope", stop};
    std::string heard;
    const Answer answer = value_of(engine.ask(cut, [&](const std::string& piece) {
      heard += piece;
      return true;
    }));
    EXPECT_EQ(answer.text, whole.text.substr(0, whole.text.find(stop)));
    EXPECT_EQ(heard, answer.text);
    EXPECT_EQ(answer.finish_reason, "stop");
  }
}

TEST(StreamingTest, BadStopStrings) {
  Engine engine = load_engine();
  for (const char* stop : {"", "\xFF"}) {
    Request r = question("x");
    r.stop = {"fine", stop};
    const auto answer = engine.ask(r);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().param, "stop[1]");
  }
}

TEST(StreamingTest, EndTokenEndsAndIsNoText) {
  Engine engine = load_engine();
  const Answer answer = ask(engine, forced(kImEnd));
  EXPECT_EQ(answer.tokens, (Ids{kImEnd}));
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.finish_reason, "stop");
}

TEST(StreamingTest, IgnoreEosGoesOn) {
  Engine engine = load_engine();
  Request r = forced(kImEnd);
  r.ignore_eos = true;
  const Answer answer = ask(engine, r);
  EXPECT_EQ(answer.tokens, Ids(6, kImEnd));
  EXPECT_EQ(answer.text, "") << "a control token shows nothing";
  EXPECT_EQ(answer.finish_reason, "length");
}

TEST(StreamingTest, MaxTokens) {
  Engine engine = load_engine();
  for (const int tokens : {1, 2, 33}) {
    Request r = forced(300);
    r.max_tokens = tokens;
    const Answer answer = ask(engine, r);
    EXPECT_EQ(static_cast<int>(answer.tokens.size()), tokens);
    EXPECT_EQ(answer.finish_reason, "length");
  }
  for (const int tokens : {0, -1}) {
    Request r = forced(300);
    r.max_tokens = tokens;
    const auto answer = engine.ask(r);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().param, "max_tokens");
  }
}

TEST(StreamingTest, LogprobsOfEachToken) {
  Engine engine = load_engine();
  Request r = question("x");
  EXPECT_TRUE(ask(engine, r).logprobs.empty());
  r.logprobs = 0;
  const Answer bare = ask(engine, r);
  ASSERT_EQ(bare.logprobs.size(), bare.tokens.size());
  EXPECT_TRUE(bare.logprobs[0].top.empty());
  r.logprobs = kSmallVocab;
  const Answer all = ask(engine, r);
  EXPECT_EQ(all.logprobs[0].top.size(), static_cast<size_t>(kSmallVocab));
  EXPECT_EQ(all.logprobs[0].top[0].first, all.tokens[0]) << "greedy takes the best";
  r.logprobs = kSmallVocab + 1;
  const auto refused = engine.ask(r);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().param, "logprobs");
}

TEST(StreamingTest, SeedsRepeat) {
  Engine engine = load_engine({.deterministic = true});
  Request r = question("x");
  r.max_tokens = 30;
  r.sampling.temperature = 1;
  r.sampling.seed = 7;
  const Answer first = ask(engine, r), second = ask(engine, r);
  EXPECT_EQ(first.tokens, second.tokens);
  r.sampling.seed = 8;
  EXPECT_NE(ask(engine, r).tokens, first.tokens);
}

}  // namespace
}  // namespace looseleaf

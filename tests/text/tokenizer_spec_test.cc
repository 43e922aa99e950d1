#include "text/tokenizer_spec.h"

#include <gtest/gtest.h>

#include <limits>

#include "text/small_spec.h"

namespace looseleaf {
namespace {

std::string check(const TokenizerSpec& spec) {
  const Status status = check_spec(spec);
  return status ? "no error" : status.error().message;
}

TEST(TokenizerSpec, GoodOnesPass) {
  TokenizerSpec spec = SmallSpec{{}, {"<s>", "</s>"}, {}}.build();
  spec.bos = 256;
  spec.eos = 257;
  spec.add_bos = true;
  spec.end_of_generation = {257};
  EXPECT_EQ(check(spec), "no error");
}

TEST(TokenizerSpec, RefusesContradictions) {
  const TokenizerSpec good = SmallSpec{{}, {"<s>"}, {}}.build();
  const auto with = [&](auto change) {
    TokenizerSpec spec = good;
    change(spec);
    const Status status = check_spec(spec);
    if (status) return std::string("no error");
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
    return status.error().message;
  };
  EXPECT_EQ(with([](auto& s) { s.kinds.pop_back(); }),
            "tokenizer: 256 token kinds for 257 tokens; convert the model again");
  EXPECT_EQ(with([](auto& s) { s.bos = 257; }),
            "tokenizer: bos token 257 is outside the vocabulary of 257; convert the model again");
  EXPECT_NE(with([](auto& s) { s.eos = -2; }), "no error");
  EXPECT_NE(with([](auto& s) { s.end_of_generation = {0, 300}; }), "no error");
  EXPECT_NE(with([](auto& s) { s.end_of_generation = {-1}; }), "no error");
  EXPECT_NE(with([](auto& s) { s.add_bos = true; }), "no error");
  EXPECT_EQ(with([](auto& s) { s.tokens[256] = "a"; }),
            "tokenizer: tokens 97 and 256 are both 'a'; convert the model again");
  EXPECT_NE(with([](auto& s) { s.tokens[256] = "<\xFF>"; }), "no error");
  EXPECT_EQ(with([](auto& s) { s.model = "spm"; }),
            "tokenizer: 0 scores for 257 tokens; convert the model again");
  EXPECT_NE(with([](auto& s) { s.scores.assign(257, std::numeric_limits<double>::quiet_NaN()); }),
            "no error");
  EXPECT_NE(with([](auto& s) { s.strips.resize(3); }), "no error");
  EXPECT_NE(with([](auto& s) { s.unk = 257; }), "no error");
  EXPECT_EQ(
      with([](auto& s) { s.tokens[256] = "<0xG0>", s.kinds[256] = TokenKind::kByte; }),
      "tokenizer: token 256 is marked as a byte token but is '<0xG0>'; convert the model again");
  EXPECT_NE(with([](auto& s) { s.tokens.clear(), s.kinds.clear(); }), "no error");
  EXPECT_EQ(with([](auto& s) { s.tokens[256] = "a", s.kinds[256] = TokenKind::kUnused; }),
            "no error");
}

TEST(TokenizerSpec, EndOfGeneration) {
  TokenizerSpec spec = SmallSpec{
      {},
      {"<|im_start|>", "<|im_end|>", "<|endoftext|>", "</s>"},
      {"<|eot_id|>"}}.build();
  spec.eos = 259;
  EXPECT_EQ(end_of_generation_tokens(spec, {}), (std::vector<int32_t>{257, 258, 259}));
  EXPECT_EQ(end_of_generation_tokens(spec, {7, 257, -1, 5000}),
            (std::vector<int32_t>{7, 257, 258, 259}));
  spec.eos = -1;
  EXPECT_EQ(end_of_generation_tokens(spec, {}), (std::vector<int32_t>{257, 258}));
}

TEST(TokenizerSpec, EndOfMessageIsNoEndBesideReturn) {
  EXPECT_EQ(end_of_generation_tokens(SmallSpec{{}, {"<|end|>"}, {}}.build(), {}),
            (std::vector<int32_t>{256}));
  EXPECT_EQ(end_of_generation_tokens(SmallSpec{{}, {"<|end|>", "<|return|>"}, {}}.build(), {}),
            (std::vector<int32_t>{257}));
}

}  // namespace
}  // namespace looseleaf

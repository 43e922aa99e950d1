#include "text/pipeline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "text/detokenizer.h"
#include "text/marked_string.h"
#include "text/nfc.h"
#include "text/random_text.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

// 256 "he", 257 "ll", 258 "hell", 259 " w"; 260 <|a|>, 261 <|end|>; 262 <think>, 263 two spaces
const SmallSpec kSmall = {
    {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {" ", "w"}}, {"<|a|>", "<|end|>"}, {"<think>", "  "}};

Ids bytes_of(std::string_view text) {
  Ids ids;
  for (const char byte : text) ids.push_back(static_cast<uint8_t>(byte));
  return ids;
}

TEST(Pipeline, MergesInsidePiecesOnly) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  EXPECT_EQ(*tokenizer->encode("hello world"), (Ids{258, 'o', 259, 'o', 'r', 'l', 'd'}));
  EXPECT_EQ(*tokenizer->encode(""), Ids{});
  EXPECT_EQ(tokenizer->bytes(258), "hell");
  EXPECT_EQ(tokenizer->bytes(259), " w");
  EXPECT_EQ(tokenizer->bytes(0xE9), "\xE9");
  EXPECT_EQ(tokenizer->bytes(260), "<|a|>");
  EXPECT_EQ(tokenizer->vocab_size(), 264);
}

TEST(Pipeline, ControlTextInDataStaysText) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  EXPECT_EQ(*tokenizer->encode("<|end|>"), bytes_of("<|end|>"));
  EXPECT_EQ(*tokenizer->encode(MarkedString("<|end|>", Origin::kTemplate)), (Ids{261}));

  MarkedString prompt("<|a|>", Origin::kTemplate);
  prompt.append("<|end|>", Origin::kData);
  prompt.append("<|end|>", Origin::kTemplate);
  Ids expected = {260};
  for (const int32_t id : bytes_of("<|end|>")) expected.push_back(id);
  expected.push_back(261);
  EXPECT_EQ(*tokenizer->encode(prompt), expected);
}

TEST(Pipeline, ControlTextHalfFromDataStaysText) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  for (size_t cut = 1; cut < 7; ++cut) {
    const std::string_view text = "<|end|>";
    MarkedString front(text.substr(0, cut), Origin::kTemplate);
    front.append(text.substr(cut), Origin::kData);
    EXPECT_EQ(*tokenizer->encode(front), bytes_of(text));
    MarkedString back(text.substr(0, cut), Origin::kData);
    back.append(text.substr(cut), Origin::kTemplate);
    EXPECT_EQ(*tokenizer->encode(back), bytes_of(text));
  }
}

TEST(Pipeline, AddedTokensAreMatchedAnywhere) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  EXPECT_EQ(*tokenizer->encode("<think>he"), (Ids{262, 256}));
  EXPECT_EQ(*tokenizer->encode("   w"), (Ids{263, 259}));
  MarkedString across("<thi", Origin::kTemplate);
  across.append("nk>", Origin::kData);
  EXPECT_EQ(*tokenizer->encode(across), (Ids{262}));
}

TEST(Pipeline, OriginsDoNotCutWords) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  MarkedString word("he", Origin::kTemplate);
  word.append("ll", Origin::kData);
  EXPECT_EQ(*tokenizer->encode(word), (Ids{258}));
}

TEST(Pipeline, Special) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  EXPECT_EQ(tokenizer->special("<|a|>"), 260);
  EXPECT_EQ(tokenizer->special("<think>"), 262);
  EXPECT_EQ(tokenizer->special("he"), std::nullopt);
  EXPECT_TRUE(tokenizer->is_control(260));
  EXPECT_FALSE(tokenizer->is_control(262));
}

TEST(Pipeline, IgnoreMergesTakesWholePieces) {
  TokenizerSpec spec = kSmall.build();
  spec.merges.pop_back();  // " w" can no longer be merged
  EXPECT_EQ(*make_tokenizer(spec)->encode(" w"), bytes_of(" w"));
  spec.ignore_merges = true;
  EXPECT_EQ(*make_tokenizer(spec)->encode(" w"), (Ids{259}));
  // A normal token that is not spelled in the byte alphabet stands for itself, but no text is it.
  spec.tokens.push_back("\u200D");
  spec.kinds.push_back(TokenKind::kNormal);
  EXPECT_EQ(make_tokenizer(spec)->bytes(264), "\u200D");
  EXPECT_EQ(*make_tokenizer(spec)->encode("\u200D"), bytes_of("\u200D"));
  // A control token is never a piece of text, not even a whole one.
  spec.split_patterns = {};
  EXPECT_EQ(*make_tokenizer(spec)->encode("<|end|>"), bytes_of("<|end|>"));
}

TEST(Pipeline, RefusesWhatIsNotUtf8) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  const auto result = tokenizer->encode("abc\xFF");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message,
            "text is not UTF-8: byte 0xFF at offset 3; convert it to UTF-8");
  EXPECT_FALSE(tokenizer->encode("\xED\xA0\x80"));  // a surrogate
  EXPECT_FALSE(tokenizer->encode("\xC0\x80"));      // an overlong NUL
  EXPECT_FALSE(tokenizer->encode("\xF0\x9F\xA6"));  // cut
}

TEST(Pipeline, RefusesCharactersWithoutToken) {
  TokenizerSpec spec = kSmall.build();
  spec.kinds[0x13] = TokenKind::kUnused;
  const auto result = make_tokenizer(spec)->encode("<think>x\x13");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message,
            "text has the byte 0x13 at offset 8, for which this model's vocabulary has no token; "
            "remove that character");
}

TEST(Pipeline, RefusesOtherModels) {
  TokenizerSpec spec = kSmall.build();
  spec.model = "bert";
  const auto other = Tokenizer::create(spec);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(other.error().message.find("'bert'"), std::string::npos);
  spec.model = "bpe";
  spec.kinds[5] = TokenKind::kByte;
  EXPECT_FALSE(Tokenizer::create(spec));
  spec = kSmall.build();
  spec.kinds.pop_back();
  EXPECT_EQ(Tokenizer::create(spec).error().code, ErrorCode::kCorrupt);
}

TEST(Pipeline, NormalizesBetweenSpecialTokens) {
  TokenizerSpec spec = kSmall.build();
  spec.normalize = {{NormalizeStep::Kind::kNfc}};
  const auto tokenizer = make_tokenizer(spec);
  EXPECT_EQ(*tokenizer->encode("e\u0301"), bytes_of("é"));
  EXPECT_EQ(*tokenizer->encode("<think>\u0301"), (Ids{262, 0xCC, 0x81}));
}

TEST(Pipeline, TokensMayTakeTheWhiteSpaceAround) {
  TokenizerSpec spec = kSmall.build();
  spec.strips.resize(spec.tokens.size());
  spec.strips[261] = TokenStrip::kBehind;
  spec.strips[262] = TokenStrip::kBoth;
  const auto tokenizer = make_tokenizer(spec);
  MarkedString text("<|end|>", Origin::kTemplate);
  text.append("\n \u3000x <think>\t<think> he", Origin::kData);
  EXPECT_EQ(*tokenizer->encode(text), (Ids{261, 'x', 262, 262, 256}));
  EXPECT_EQ(*tokenizer->encode("<think> \n"), (Ids{262}));
}

TEST(Pipeline, TheBeginningIsBeforeTheFirstSpecialToken) {
  TokenizerSpec spec = kSmall.build();
  spec.normalize = {{NormalizeStep::Kind::kPrependFirst, "", "_"}};
  const auto tokenizer = make_tokenizer(spec);
  EXPECT_EQ(*tokenizer->encode("a<think>a"), (Ids{'_', 'a', 262, 'a'}));
  EXPECT_EQ(*tokenizer->encode("<think>a"), (Ids{262, 'a'}));
}

TEST(Pipeline, RandomTextComesBack) {
  const auto tokenizer = make_tokenizer(kSmall.build());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, 40);
    const auto ids = tokenizer->encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_EQ(decode(*tokenizer, *ids), text);
  }
}

TEST(Pipeline, AMegabyteOfOneCharacter) {
  SmallSpec small = kSmall;
  small.added.clear();
  small.merges.emplace_back("\xC3", "\xA9");
  for (std::string token : {"a", " ", "\n", "é"}) {
    for (int i = 0; i < 8; ++i, token += token) small.merges.emplace_back(token, token);
  }
  const auto tokenizer = make_tokenizer(small.build());
  for (const std::string unit : {"a", " ", "\n", "é", "x"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const auto ids = tokenizer->encode(text);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_LT(seconds.count(), 5.0) << "of '" << unit << "'";
    EXPECT_EQ(decode(*tokenizer, *ids), text);
  }
}

}  // namespace
}  // namespace looseleaf

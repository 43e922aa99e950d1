#include "text/normalizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "text/charsmap.h"
#include "text/golden_files.h"
#include "text/random_text.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Steps = std::vector<NormalizeStep>;
using enum NormalizeStep::Kind;

std::string normalize(const Steps& steps, std::string_view text, bool first = true) {
  const auto normalizer = Normalizer::create(steps);
  if (!normalizer) return normalizer.error().message;
  std::string storage;
  const auto result = normalizer->apply(text, first, storage);
  return result ? std::string(*result) : result.error().message;
}

TEST(Normalizer, Steps) {
  EXPECT_EQ(normalize({}, " a"), " a");
  EXPECT_EQ(normalize({{kNfc}}, "e\u0301 ﬁ"), "é ﬁ");
  EXPECT_EQ(normalize({{kNfkc}}, "e\u0301 ﬁ①Å\uFDFA"),
            "é fi1Å\u0635\u0644\u0649 \u0627\u0644\u0644"
            "\u0647 \u0639\u0644\u064A\u0647 \u0648\u0633"
            "\u0644\u0645");
  EXPECT_EQ(normalize({{kReplace, " ", "▁"}}, " a  b"), "▁a▁▁b");
  EXPECT_EQ(normalize({{kReplacePattern, " {2,}", "_"}}, "a b   c  "), "a b_c_");
  EXPECT_EQ(normalize({{kStripLeft}}, "\u3000 \na \t"), "a \t");
  EXPECT_EQ(normalize({{kStripRight}}, " a\u2028\x85 \t"), " a\u2028\x85");
  EXPECT_EQ(normalize({{kStripLeft}, {kStripRight}}, " \n "), "");
  EXPECT_EQ(normalize({{kCollapseSpaces}}, "  a   b\t c "), "a b\t c");
  EXPECT_EQ(normalize({{kDropTrailing, "▁"}}, "▁a▁▁"), "▁a");
  EXPECT_EQ(normalize({{kPrepend, "", "▁"}}, "▁a"), "▁▁a");
  EXPECT_EQ(normalize({{kPrepend, "", "▁"}}, ""), "");
  EXPECT_EQ(normalize({{kPrependMissing, "", "▁"}}, "▁a"), "▁a");
  EXPECT_EQ(normalize({{kPrependMissing, "", "▁"}}, "a", false), "▁a");
  EXPECT_EQ(normalize({{kPrependFirst, "", "▁"}}, "a"), "▁a");
  EXPECT_EQ(normalize({{kPrependFirst, "", "▁"}}, "a", false), "a");
  EXPECT_EQ(normalize({{kJoinWords, "", "▁"}}, " a \n bc ▁d\u3000"), "▁a▁bc▁d");
}

TEST(Normalizer, InOrder) {
  EXPECT_EQ(normalize({{kPrepend, "", " "}, {kReplace, " ", "▁"}}, "a b"), "▁a▁b");
  EXPECT_EQ(normalize({{kReplace, " ", "▁"}, {kPrepend, "", " "}}, "a b"), " a▁b");
}

TEST(Normalizer, RefusesPatternsItCannotFollow) {
  const auto normalizer = Normalizer::create({{kReplacePattern, R"(\w)", ""}});
  ASSERT_FALSE(normalizer);
  EXPECT_EQ(normalizer.error().code, ErrorCode::kUnsupported);
}

// The rules of tests/golden/small_sentencepiece.py.
std::string golden_charsmap() {
  const auto spec =
      spec_from_gguf(std::filesystem::path(LOOSELEAF_GOLDEN_DIR) / "sentencepiece/unigram.gguf");
  EXPECT_TRUE(spec && spec->normalize.front().kind == kCharsmap) << message_of(spec);
  return spec ? spec->normalize.front().from : "";
}

TEST(Charsmap, LongestAndShortest) {
  const std::string bytes = golden_charsmap();
  EXPECT_EQ(normalize({{kCharsmap, bytes}}, "ﬁe\u0301\u3000\u0301e"), "fié \u0301e");
  // A rule for the beginning of a short grapheme replaces all of it.
  EXPECT_EQ(normalize({{kGraphemeCharsmap, bytes}}, "ﬁ\u0301①e\u0301"), "fi1é");
  EXPECT_EQ(normalize({{kGraphemeCharsmap, bytes}}, "ﬁ\u0301\u0301\u0301"), "fi\u0301\u0301\u0301");
}

TEST(Charsmap, RefusesContradictions) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {""s, "\0\0"s, "\x08\0\0\0abcd"s, "\x03\0\0\0abc"s, "\xFF\xFF\xFF\xFF"s}) {
    const auto map = Charsmap::create(bytes);
    ASSERT_FALSE(map) << bytes.size();
    EXPECT_EQ(map.error().code, ErrorCode::kCorrupt);
  }
}

// Thirty steps that each double a text would make 2^30 bytes of every one.
TEST(Normalizer, TextsThatGrowOutOfProportionAreRefused) {
  for (const NormalizeStep::Kind kind :
       {NormalizeStep::Kind::kReplace, NormalizeStep::Kind::kReplacePattern}) {
    std::vector<NormalizeStep> steps;
    for (int i = 0; i < 30; ++i) steps.push_back({kind, "a", "aa"});
    const auto normalizer = Normalizer::create(steps);
    ASSERT_TRUE(normalizer) << message_of(normalizer);
    std::string storage;
    const auto grown = normalizer->apply("aaa", true, storage);
    ASSERT_FALSE(grown);
    EXPECT_EQ(grown.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(grown.error().message.find("more than 4192 bytes"), std::string::npos);
    EXPECT_EQ(*normalizer->apply("bbb", true, storage), "bbb");
  }
}

TEST(Charsmap, BrokenUnitsReadNothingOutside) {
  std::mt19937 random(11);
  const std::string good = golden_charsmap();
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    for (int n = 0; n < 40; ++n)
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random());
    const auto map = Charsmap::create(bytes);
    ASSERT_TRUE(map) << message_of(map);
    const std::string text = random_text(random, 20) + "ﬁe\u0301①Ａ\u3000";
    for (size_t at = 0; at < text.size(); ++at) {
      const auto match = map->longest(std::string_view(text).substr(at));
      EXPECT_LE(match ? match->size : 0, text.size() - at);
    }
    // Whatever it does to text, the result is UTF-8 or an error.
    const std::string result = normalize({{kCharsmap, bytes}}, text);
    EXPECT_FALSE(find_invalid_utf8(result));
  }
}

}  // namespace
}  // namespace looseleaf

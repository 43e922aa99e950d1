#include "text/split_regex.h"

#include <gtest/gtest.h>

#include "text/pretokenizer.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

TEST(SplitRegex, KeepsWhatBothReadAlike) {
  for (const std::string pattern :
       {R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|(?i:'s|'t)| ?[A-Za-z一-龥]*)", R"(a|(?:bc)?(?=d))",
        R"(\.\-\[\]x{2,}?y*?z++)", R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"}) {
    EXPECT_EQ(message_of(split_regex_to_pcre2(pattern)), "no error") << pattern;
    EXPECT_EQ(split_regex_to_pcre2(pattern).value_or(""), pattern);
  }
}

TEST(SplitRegex, TranslatesWhatTheyReadDifferently) {
  EXPECT_EQ(*split_regex_to_pcre2(R"(\p{Han}+)"), R"(\p{sc:Han}+)");
  EXPECT_EQ(*split_regex_to_pcre2(R"(\p{^Lu})"), R"(\p{^Lu})");
  EXPECT_EQ(*split_regex_to_pcre2(R"(\u4e00)"), R"(\x{4e00})");
  EXPECT_EQ(*split_regex_to_pcre2("a{b"), R"(a\{b)");
  // U+180E is no space, though PCRE2's \s has it.
  EXPECT_TRUE(split_regex_to_pcre2(R"(\s+)")->starts_with(R"([\t-\r\x{20})"));
  EXPECT_TRUE(split_regex_to_pcre2(R"([^\sx])")->starts_with(R"([^\t-\r\x{20})"));
}

TEST(SplitRegex, RefusesByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(a\b)", R"('\b' at offset 1)"},
      {R"(\w+)", R"('\w' at offset 0)"},
      {R"(\h)", R"('\h' at offset 0)"},
      {R"(\1)", R"('\1' at offset 0)"},
      {R"(x\)", "a backslash at the end at offset 1"},
      {R"([\S])", R"(\S inside a class)"},
      {R"([a[bc]])", "a class inside a class at offset 2"},
      {R"([a&&b])", "&& at offset 2"},
      {R"([]a])", "a class that starts with ]"},
      {R"([\s-a])", "a range from a set"},
      {R"([abc)", "an open class"},
      {R"((?i)a)", "'(?i)' at offset 0"},
      {R"((?<name>a))", "'(?<n' at offset 0"},
      {R"((?>a))", "'(?>a' at offset 0"},
      {R"((*UTF)a)", "'(*UT' at offset 0"},
      {R"((?:a|b)+)", "the unbounded repetition of a group at offset 7"},
      {R"((a)*)", "the unbounded repetition of a group"},
      {R"((a){2,})", "the unbounded repetition of a group"},
      {R"(a{2}?)", "a quantifier after an interval"},
      {R"(a{1,2}+)", "a quantifier after an interval"},
      {R"(a+*)", "a quantifier after a quantifier"},
      {R"(a{,3})", "{, at offset 1"},
      {R"(*a)", "a quantifier with nothing before it"},
      {R"(a|+)", "a quantifier with nothing before it"},
      {R"(^*)", "a quantifier with nothing before it"},
      {R"(\xFF)", "a byte above 7F"},
      {R"(\x{})", "a malformed code point"},
      {R"(\u12)", "a cut code point"},
      {R"(\pL)", "a property without braces"},
      {R"(\p{sc:Han})", R"('\p{sc:Han}' at offset 0)"},
  };
  for (const auto& [pattern, part] : cases) {
    const auto result = split_regex_to_pcre2(pattern);
    ASSERT_FALSE(result) << pattern;
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }
}

TEST(SplitRegex, EscapesLiterals) {
  const std::string text = "a.b*[x]{2}\\ \t(?)|^$-é";
  const auto splitter = Pretokenizer::create({escape_split_regex(text)});
  ASSERT_TRUE(splitter) << message_of(splitter);
  std::vector<std::string_view> pieces;
  const std::string twice = "x" + text + text;
  ASSERT_TRUE(splitter->split(twice, pieces));
  EXPECT_EQ(pieces, (std::vector<std::string_view>{"x", text, text}));
}

}  // namespace
}  // namespace looseleaf

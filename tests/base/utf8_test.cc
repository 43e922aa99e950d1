// Every class of bytes that are not UTF-8, and where they start (Unicode 15, table 3-7).
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace looseleaf {
namespace {

struct Case {
  const char* name;
  std::string bytes;
  std::optional<size_t> offset;  // nothing: all is UTF-8
};

class Utf8Test : public testing::TestWithParam<Case> {};

TEST_P(Utf8Test, FindsTheOffset) {
  const auto& [name, bytes, offset] = GetParam();
  EXPECT_EQ(find_invalid_utf8(bytes), offset);
  // The same behind and before text that is fine.
  const std::string before = "a\u00E9\u65E5\U0001F600";
  EXPECT_EQ(find_invalid_utf8(before + bytes),
            offset ? std::optional(before.size() + *offset) : std::nullopt);
  EXPECT_EQ(find_invalid_utf8(bytes + "z"), offset);
}

INSTANTIATE_TEST_SUITE_P(
    Classes, Utf8Test,
    testing::Values(
        Case{"Empty", "", {}}, Case{"Ascii", "a\x01\x7F", {}},
        Case{"Zero", std::string("a\0b", 3), {}}, Case{"FirstOfTwo", "\xC2\x80", {}},
        Case{"LastOfTwo", "\xDF\xBF", {}}, Case{"FirstOfThree", "\xE0\xA0\x80", {}},
        Case{"BelowSurrogates", "\xED\x9F\xBF", {}}, Case{"AboveSurrogates", "\xEE\x80\x80", {}},
        Case{"LastOfThree", "\xEF\xBF\xBF", {}}, Case{"FirstOfFour", "\xF0\x90\x80\x80", {}},
        Case{"LastOfFour", "\xF4\x8F\xBF\xBF", {}}, Case{"LoneTail", "ab\x80", 2},
        Case{"LoneLastTail", "\xBF", 0}, Case{"OverlongC0", "a\xC0\x80", 1},
        Case{"OverlongC1", "\xC1\xBF", 0}, Case{"OverlongThree", "\xE0\x9F\xBF", 0},
        Case{"OverlongFour", "\xF0\x8F\xBF\xBF", 0}, Case{"FirstSurrogate", "a\xED\xA0\x80", 1},
        Case{"LastSurrogate", "\xED\xBF\xBF", 0}, Case{"AboveUnicode", "\xF4\x90\x80\x80", 0},
        Case{"LeadF5", "\xF5\x80\x80\x80", 0}, Case{"LeadFF", "abc\xFF", 3},
        Case{"LeadFE", "\xFE", 0}, Case{"LeadAfterLead", "\xC3\xC3\xA9", 0},
        Case{"ThirdIsAscii", "\xE6\x97z", 0}, Case{"FourthIsAscii", "\xF0\x9F\x98z", 0},
        Case{"CutTwo", "ab\xC3", 2}, Case{"CutThree", "\xE6\x97", 0},
        Case{"CutFour", "a\xF0\x9F\x98", 1}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Utf8ShownTest, BytesThatAreNoneAreMarked) {
  EXPECT_EQ(shown_as_utf8("h\u00E9 \U0001F600"), "h\u00E9 \U0001F600");
  EXPECT_EQ(shown_as_utf8("a\xFF\xE6\x97"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(shown_as_utf8(""), "");
}

TEST(Utf8LengthTest, SaysWhetherMoreBytesCouldHelp) {
  EXPECT_EQ(utf8_length("a"), 1);
  EXPECT_EQ(utf8_length("\u00E9x"), 2);
  EXPECT_EQ(utf8_length("\u65E5"), 3);
  EXPECT_EQ(utf8_length("\U0001F600"), 4);
  for (const char* cut : {"", "\xC3", "\xE6", "\xE6\x97", "\xF0", "\xF0\x9F", "\xF0\x9F\x98"})
    EXPECT_EQ(utf8_length(cut), -1);
  for (const char* never : {"\x80", "\xC0", "\xE0\x9F", "\xED\xA0", "\xF4\x90", "\xF5", "\xC3z"})
    EXPECT_EQ(utf8_length(never), 0);
}

}  // namespace
}  // namespace looseleaf

#include "text/special_tokens.h"

#include <gtest/gtest.h>

#include "text/small_spec.h"

namespace looseleaf {
namespace {

constexpr size_t kAll = std::string_view::npos;

class SpecialTokensTest : public testing::Test {
 protected:
  const TokenizerSpec spec_ =
      SmallSpec{{}, {"<a>", "<a><b>", ""}, {"<", "<a><", "é"}}.build();  // ids from 256
  const SpecialTokens tokens_{spec_};

  int32_t longest(std::string_view text, size_t control_bytes) const {
    const auto match = tokens_.longest(text, control_bytes);
    if (!match) return -1;
    EXPECT_EQ(text.substr(0, match->size), spec_.tokens[static_cast<size_t>(match->id)]);
    return match->id;
  }
};

TEST_F(SpecialTokensTest, LongestWins) {
  EXPECT_EQ(longest("<a><b>x", kAll), 257);
  EXPECT_EQ(longest("<a><x", kAll), 260);
  EXPECT_EQ(longest("<a>", kAll), 256);
  EXPECT_EQ(longest("<x", kAll), 259);
  EXPECT_EQ(longest("x<a>", kAll), -1);
  EXPECT_EQ(longest("é", kAll), 261);
  EXPECT_EQ(longest("\xC3", kAll), -1);
  EXPECT_EQ(longest("", kAll), -1);
}

TEST_F(SpecialTokensTest, ControlTokensEndInsideTheirRange) {
  EXPECT_EQ(longest("<a><b>", 5), 260);
  EXPECT_EQ(longest("<a>", 2), 259);
  EXPECT_EQ(longest("<a>", 0), 259);
}

TEST_F(SpecialTokensTest, FindIsExact) {
  EXPECT_EQ(tokens_.find("<a>"), 256);
  EXPECT_EQ(tokens_.find("<a"), std::nullopt);
  EXPECT_EQ(tokens_.find("a"), std::nullopt);  // normal
  EXPECT_EQ(tokens_.find(""), std::nullopt);
}

}  // namespace
}  // namespace looseleaf

#include "text/nfc.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/utf8.h"
#include "text/random_text.h"

namespace looseleaf {
namespace {

TEST(Nfc, QuickCheckNeverErrsOnMarks) {
  EXPECT_TRUE(is_surely_nfc("plain ASCII, ñ and \u02FF"));
  EXPECT_FALSE(is_surely_nfc("e\u0301"));
  EXPECT_FALSE(is_surely_nfc("\u2126"));
}

// Cases of Unicode Standard Annex 15 and of its NormalizationTest.txt.
TEST(Nfc, KnownCases) {
  EXPECT_EQ(to_nfc("e\u0301"), "é");
  EXPECT_EQ(to_nfc("\u2126"), "\u03A9");                            // ohm: a singleton
  EXPECT_EQ(to_nfc("s\u0323\u0307"), "\u1E69");                     // two marks, in order
  EXPECT_EQ(to_nfc("s\u0307\u0323"), "\u1E69");                     // and out of order
  EXPECT_EQ(to_nfc("\u1E0B\u0323"), "\u1E0D\u0307");                // composed anew
  EXPECT_EQ(to_nfc("\u1100\u1161\u11A8"), "\uAC01");                // Hangul
  EXPECT_EQ(to_nfc("\uAC00\u11A7x\u11A7"), "\uAC00\u11A7x\u11A7");  // one below the finals
  EXPECT_EQ(to_nfc("\u0344"), "\u0308\u0301");                      // a mark that decomposes
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093C");                      // a composition exclusion
  EXPECT_EQ(to_nfc("\uFB01"), "\uFB01");                            // compatibility only: kept
  EXPECT_EQ(to_nfc(std::string_view("a\0e\u0301", 5)), std::string_view("a\0é", 4));
  EXPECT_EQ(to_nfc(""), "");
}

TEST(Nfc, TwiceIsOnce) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string once = to_nfc(random_text(random, 30));
    EXPECT_EQ(find_invalid_utf8(once), std::nullopt);
    EXPECT_EQ(to_nfc(once), once);
  }
}

TEST(Nfc, LongRunsOfUnorderedMarks) {
  std::string text = "a", above, below;
  for (int i = 0; i < 100'000; ++i) {
    text += "\u0301\u0323";
    above += "\u0301";
    if (i > 0) below += "\u0323";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(to_nfc(text) == "\u1EA1" + below + above);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 5.0);
}

}  // namespace
}  // namespace looseleaf

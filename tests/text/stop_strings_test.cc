#include "text/stop_strings.h"

#include <gtest/gtest.h>

#include <random>

namespace looseleaf {
namespace {

StopStrings make(std::vector<std::string> stops) { return *StopStrings::create(std::move(stops)); }

TEST(StopStrings, HoldsBackOnlyWhatMayBecomeAStop) {
  StopStrings stops = make({"\n\nUser:"});
  EXPECT_EQ(stops.push("Hello").text, "Hello");
  EXPECT_EQ(stops.push(" x\n").text, " x");
  EXPECT_EQ(stops.push("\nU").text, "");
  EXPECT_EQ(stops.push("s\n").text, "\n\nUs");
  EXPECT_EQ(stops.push("\n").text, "");
  EXPECT_EQ(stops.push("\n").text, "\n");  // the newest two may still begin it
  const auto last = stops.push("User: more");
  EXPECT_EQ(last.text, "");
  EXPECT_EQ(last.stop, 0u);
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopStrings, TextBeforeTheStopIsReleased) {
  StopStrings stops = make({"END"});
  const auto result = stops.push("one END two");
  EXPECT_EQ(result.text, "one ");
  EXPECT_EQ(result.stop, 0u);
}

TEST(StopStrings, OverlappingBeginnings) {
  StopStrings stops = make({"aab"});
  EXPECT_EQ(stops.push("aa").text, "");
  EXPECT_EQ(stops.push("a").text, "a");
  const auto result = stops.push("b");
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(result.stop, 0u);
}

TEST(StopStrings, FirstToCompleteWinsThenTheLongest) {
  EXPECT_EQ(make({"abcd", "bc"}).push("xabcd").text, "xa");
  EXPECT_EQ(make({"abcd", "bc"}).push("xabcd").stop, 1u);
  EXPECT_EQ(make({"c", "abc"}).push("xabc").text, "x");
  EXPECT_EQ(make({"c", "abc"}).push("xabc").stop, 1u);
}

TEST(StopStrings, FinishReleasesTheRest) {
  StopStrings stops = make({"stop"});
  EXPECT_EQ(stops.push("a sto").text, "a ");
  EXPECT_EQ(stops.finish(), "sto");
  EXPECT_EQ(stops.push("p").text, "p");  // as new
}

TEST(StopStrings, NoStops) {
  StopStrings stops = make({});
  EXPECT_EQ(stops.push("abc").text, "abc");
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopStrings, RefusesEmptyAndInvalidOnes) {
  const auto empty = StopStrings::create({"a", ""});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(empty.error().param, "stop[1]");
  EXPECT_FALSE(StopStrings::create({"a\xFF"}));
}

// However the text is cut, what is shown is the text up to the stop that completes first.
TEST(StopStrings, CutsMakeNoDifference) {
  std::mt19937 random(11);
  const auto word = [&](size_t length) {
    std::string text;
    while (length-- > 0) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = random() % 4; n > 0; --n) stops.push_back(word(1 + random() % 6));
    const std::string text = word(random() % 30);

    size_t shown = text.size();
    bool found = false;
    for (size_t end = 1; end <= text.size() && !found; ++end) {
      for (const std::string& stop : stops) {
        if (!std::string_view(text).substr(0, end).ends_with(stop)) continue;
        shown = std::min(found ? shown : text.size(), end - stop.size());
        found = true;
      }
    }

    StopStrings matcher = make(stops);
    std::string out;
    bool stopped = false;
    for (size_t at = 0; at < text.size() && !stopped;) {
      const size_t size = std::min<size_t>(1 + random() % 5, text.size() - at);
      const auto released = matcher.push(std::string_view(text).substr(at, size));
      out += released.text;
      stopped = released.stop.has_value();
      at += size;
    }
    out += matcher.finish();
    EXPECT_EQ(stopped, found);
    EXPECT_EQ(out, text.substr(0, shown));
  }
}

}  // namespace
}  // namespace looseleaf

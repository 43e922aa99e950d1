#include "text/marked_string.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

using Ranges = std::vector<MarkedString::Range>;
constexpr Origin kT = Origin::kTemplate;
constexpr Origin kD = Origin::kData;

TEST(MarkedString, AppendMergesNeighboursOfOneOrigin) {
  MarkedString text;
  text.append("ab", kT);
  text.append("c", kT);
  text.append("", kD);
  text.append("de", kD);
  text.append("f", kT);
  EXPECT_EQ(text.text(), "abcdef");
  EXPECT_EQ(text.ranges(), (Ranges{{3, kT}, {5, kD}, {6, kT}}));
}

TEST(MarkedString, ConcatenationKeepsOrigins) {
  MarkedString text("a", kT);
  MarkedString tail("b", kT);
  tail.append("c", kD);
  text.append(tail);
  EXPECT_EQ(text.ranges(), (Ranges{{2, kT}, {3, kD}}));
  text.append(text);
  EXPECT_EQ(text.text(), "abcabc");
  EXPECT_EQ(text.ranges(), (Ranges{{2, kT}, {3, kD}, {5, kT}, {6, kD}}));
  text.append(MarkedString());
  EXPECT_EQ(text.text().size(), 6u);
}

TEST(MarkedString, SubstrCutsRanges) {
  MarkedString text("abc", kT);
  text.append("def", kD);
  text.append("ghi", kT);
  EXPECT_EQ(text.substr(2, 5).text(), "cdefg");
  EXPECT_EQ(text.substr(2, 5).ranges(), (Ranges{{1, kT}, {4, kD}, {5, kT}}));
  EXPECT_EQ(text.substr(3, 3), MarkedString("def", kD));
  EXPECT_EQ(text.substr(7).text(), "hi");
  EXPECT_EQ(text.substr(9), MarkedString());
  EXPECT_EQ(text.substr(100, 5), MarkedString());
  EXPECT_EQ(text.substr(4, 0), MarkedString());
  EXPECT_EQ(text.substr(0), text);
}

}  // namespace
}  // namespace looseleaf

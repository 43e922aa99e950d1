#include "text/quote.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

TEST(Quote, StaysOnOneLineAndShort) {
  EXPECT_EQ(quote("abc"), "'abc'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("a\nb\x7F"), R"('a\x0ab\x7f')");
  EXPECT_EQ(quote("é\xFF世\xE4\xB8"), R"('é\xff世\xe4\xb8')");
  EXPECT_EQ(quote(std::string(1000, 'x')), "'" + std::string(48, 'x') + "...'");
  EXPECT_EQ(quote(std::string_view("\0", 1)), R"('\x00')");
}

}  // namespace
}  // namespace looseleaf

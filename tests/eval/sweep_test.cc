#include "eval/sweep.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

using Names = std::vector<std::string>;

Names names_of(const std::string& list) {
  const auto methods = expand_methods(list);
  EXPECT_TRUE(methods) << methods.error().message;
  Names names;
  for (const SweptMethod& method : *methods) names.push_back(method.method);
  return names;
}

std::string error_of(const std::string& list) {
  const auto methods = expand_methods(list);
  if (methods) return "";
  EXPECT_EQ(methods.error().code, ErrorCode::kUsage);
  return methods.error().message;
}

TEST(Sweep, NumbersAtEqualDistances) {
  EXPECT_EQ(*sweep_numbers("0.05..0.30/6"), (Names{"0.05", "0.1", "0.15", "0.2", "0.25", "0.3"}));
  EXPECT_EQ(*sweep_numbers("0..1/3"), (Names{"0", "0.5", "1"}));
  EXPECT_EQ(*sweep_numbers("4..32/8"), (Names{"4", "8", "12", "16", "20", "24", "28", "32"}));
}

TEST(Sweep, RefusesWhatIsNone) {
  for (const char* text : {"0.1..0.2", "0.1..0.2/1", "0.2..0.1/3", "0.1..0.2/2.5", "0.1..0.2/101",
                           "..0.2/3", "0.1../3", "a..b/3", "0.1..0.2/", "0.1/2..3", "nan..1/2"}) {
    SCOPED_TRACE(text);
    const auto numbers = sweep_numbers(text);
    ASSERT_FALSE(numbers);
    EXPECT_NE(numbers.error().message.find("0.05..0.30/6"), std::string::npos);
  }
}

TEST(Sweep, ListsBecomeCanonicalAndEachMethodStandsOnce) {
  EXPECT_EQ(names_of("full,reuse"), (Names{"full", "reuse"}));
  EXPECT_EQ(names_of("block,block:inplace=0,full,full"), (Names{"block:inplace=0", "full"}));
  EXPECT_EQ(expand_methods("full")->at(0).curve, "");
}

TEST(Sweep, NamesWhatIsWrong) {
  EXPECT_NE(error_of("full,,reuse").find("an empty name"), std::string::npos);
  EXPECT_NE(error_of("").find("an empty name"), std::string::npos);
  EXPECT_NE(error_of("full,nonsense").find("'nonsense' is not a method"), std::string::npos);
  EXPECT_NE(error_of("block:inplace=0..1/2").find("right after the name"), std::string::npos);
  EXPECT_NE(error_of("full:0.1..0.2/3").find("full"), std::string::npos);  // takes no number
}

}  // namespace
}  // namespace looseleaf

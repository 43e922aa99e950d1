// parse_json: strict in what it takes, precise in what it says.
#include "base/json_parse.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/json_text.h"

namespace looseleaf {
namespace {

TEST(JsonParse, RefusesWithThePlace) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1, column 1"},
      {"{\"a\": 1,\n \"b\": x}", "line 2, column 7"},
      {"[1,]", "line 1, column 4"},
      {"1 2", "something follows"},
      {"{\"a\": 1", "ends too early"},
      {"{\"a\": 1, \"a\": 2}", "the key \"a\" stands here twice"},
      {"{\"b\": {\"a\": 1, \"\\u0061\": 2}}", "the key \"a\" stands here twice"},
      {"\"\xff\"", "column 2: not UTF-8"},
      {"\"\xed\xa0\x80\"", "column 2: not UTF-8"},
      {"\"\\ud800\"", "line 1, column 8: half of a surrogate pair"},
      {"\"\\uDBFFx\"", "half of a surrogate pair"},
      {"\"\\ud83d\\n\"", "half of a surrogate pair"},
      {"\"\\\\ud83d\t\"", "line 1, column 9: "},
      {"\"\\udc00\"", "half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "half of a surrogate pair"},
      {"1e400", "larger than any double"},
      {"01", "something follows"},
      {"NaN", "line 1, column 1"},
      {"\"a\tb\"", "line 1, column 3"},
  };
  for (const auto& [text, said] : cases) {
    const auto value = parse_json(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(value.error().message.find(said), std::string::npos) << value.error().message;
    EXPECT_EQ(value.error().message.find('\n'), std::string::npos);
  }
}

TEST(JsonParse, DepthIsBounded) {
  const std::string open(kMaxJsonDepth, '['), close(kMaxJsonDepth, ']');
  EXPECT_TRUE(parse_json(open + close).has_value());
  const auto deeper = parse_json("[" + open + close + "]");
  ASSERT_FALSE(deeper.has_value());
  EXPECT_NE(deeper.error().message.find("nested deeper"), std::string::npos);
  EXPECT_FALSE(parse_json(std::string(1 << 20, '[')).has_value());
}

TEST(JsonParse, EqualKeysOfDifferentObjectsAreFine) {
  EXPECT_TRUE(parse_json(R"([{"a": {"a": 1}}, {"a": 2}])").has_value());
}

// Boost 1.81's own conversion is off by one unit in the last place for some of these.
TEST(JsonParse, NumbersAreTheNearestDouble) {
  for (const double number : {0.1, 0.3, 1.1, 2.2250738585072014e-308, 1.7976931348623157e308,
                              5e-324, 7.2057594037927933e16, 123456789.123456789}) {
    const auto value = parse_json(fmt::format("{:.17g}", number));
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(value->to_number<double>(), number);
  }
  EXPECT_EQ(parse_json("9223372036854775807")->as_int64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_json("18446744073709551615")->as_uint64(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(parse_json("18446744073709551616")->is_double());
}

// What a configuration holds comes out as written.
TEST(JsonParse, NumbersOfConfigurations) {
  for (const auto& [text, value] : {std::pair{"1e-05", 1e-05},
                                    {"1e-06", 1e-06},
                                    {"0.1", 0.1},
                                    {"500000.0", 500000.0},
                                    {"0.7", 0.7},
                                    {"10000", 10000.0},
                                    {"0.95", 0.95}})
    EXPECT_EQ(parse_json(text)->to_number<double>(), value) << text;
}

TEST(JsonParse, FilesAreNamedWithTheOffset) {
  const auto refused = [](const std::string& text) {
    const auto object = parse_json_object(text, "f");
    EXPECT_FALSE(object.has_value()) << text;
    EXPECT_EQ(object.error().code, ErrorCode::kCorrupt);
    return object.error().message;
  };
  EXPECT_EQ(refused(""), "f: not valid JSON at offset 0: it ends too early; fetch the file again");
  EXPECT_TRUE(refused(R"({"a":1}x)").starts_with("f: not valid JSON at offset 7: something"));
  EXPECT_TRUE(refused(R"({"a":1,})").starts_with("f: not valid JSON at offset 7: "));
  EXPECT_TRUE(refused("{\"a\":\"\xC3\"}").starts_with("f: not valid JSON at offset 6: not UTF-8"));
  EXPECT_NE(refused(R"({"a":{"b":1,"b":2}})").find("the key \"b\" stands here twice"),
            std::string::npos);
  EXPECT_NE(refused("{\"a\":" + std::string(100'000, '[')).find("nested deeper than 32"),
            std::string::npos);
  EXPECT_EQ(refused("7"), "f is not a JSON object");
  EXPECT_TRUE(parse_json_object(R"({"a":{"b":1},"b":[{"b":2},{"b":3}]})", "f").has_value());
}

// Values are larger than their text, so the text is bounded.
TEST(JsonParse, SizeIsBounded) {
  const auto refused = parse_json(std::string(kMaxJsonBytes + 1, ' '));
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("more than 256 MiB"), std::string::npos);
}

TEST(JsonText, RoundTrips) {
  const std::string text = R"({"a":[1,-2,0.1,38.2,true,null,"q\"\n"],"b":{},"c":[]})";
  EXPECT_EQ(write_json(*parse_json(text)), text);
}

TEST(JsonText, WhatJsonCannotHoldIsNull) {
  EXPECT_EQ(write_json(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(write_json(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonText, QuotesAreCutBetweenCodePoints) {
  EXPECT_EQ(in_quotes("a\nb"), "\"a\\nb\"");
  const std::string text = std::string(39, 'x') + "\xC3\xA9" + "y";
  EXPECT_EQ(in_quotes(text), '"' + std::string(39, 'x') + "\"...");
}

}  // namespace
}  // namespace looseleaf

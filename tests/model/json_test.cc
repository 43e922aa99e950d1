#include "model/json.h"

#include "test_files.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;

TEST(Json, FieldsByType) {
  const auto object = parse_json_object(
      R"({"b":true,"i":-7,"big":18446744073709551615,"d":0.5,"s":"x","o":{"k":1},"n":null})", "f");
  ASSERT_TRUE(object.has_value()) << object.error().message;
  const JsonView view(*object, "f");
  EXPECT_TRUE(*view.get<bool>("b"));
  EXPECT_EQ(*view.get<int32_t>("i"), -7);
  EXPECT_EQ(*view.get<double>("i"), -7);
  EXPECT_EQ(*view.get<double>("big"), 18446744073709551615.0);
  EXPECT_EQ(*view.get<double>("d"), 0.5);
  EXPECT_EQ(*view.get<std::string_view>("s"), "x");
  EXPECT_EQ(*view.get<JsonView>("o")->get<int64_t>("k"), 1);
  EXPECT_FALSE(view.find<bool>("n")->has_value());
  EXPECT_FALSE(view.find<bool>("none")->has_value());
  expect_error(view.get<bool>("n"), kCorrupt, "f: 'n' is missing");
  expect_error(view.find<bool>("i"), kCorrupt, "f: 'i' is an integer, not true or false");
  expect_error(view.find<int64_t>("big"), kCorrupt, "'big' is an integer, not an integer from");
  expect_error(view.find<int32_t>("d"), kCorrupt,
               "'d' is a number with a fraction, not an integer");
  expect_error(view.find<double>("s"), kCorrupt, "'s' is a string, not a number");
  expect_error(view.get<JsonView>("o")->get<bool>("k"), kCorrupt, "f: 'o': 'k' is an integer");
}

// Numbers that configurations hold come out as the nearest double.
TEST(Json, NumbersAreExact) {
  for (const auto& [text, value] : {std::pair{"1e-05", 1e-05},
                                    {"1e-06", 1e-06},
                                    {"0.1", 0.1},
                                    {"500000.0", 500000.0},
                                    {"0.7", 0.7},
                                    {"10000", 10000.0},
                                    {"0.95", 0.95}}) {
    const auto object = parse_json_object(fmt::format(R"({{"x":{}}})", text), "f");
    EXPECT_EQ(static_cast<float>(*JsonView(*object, "f").get<double>("x")),
              static_cast<float>(value))
        << text;
  }
}

TEST(Json, WhatIsRefused) {
  expect_error(parse_json_object("", "f"), kCorrupt, "f: offset 0: not JSON");
  expect_error(parse_json_object(R"({"a":1}x)", "f"), kCorrupt, "f: ");
  expect_error(parse_json_object(R"({"a":1,})", "f"), kCorrupt, "f: offset");
  expect_error(parse_json_object("7", "f"), kCorrupt, "f: holds an integer, not an object");
  expect_error(parse_json_object("{\"a\":\"\xC3\"}", "f"), kCorrupt, "not JSON");
  expect_error(parse_json_object(R"({"a":{"b":1,"b":2}})", "f"), kCorrupt,
               "f: key 'b' stands twice");
  EXPECT_TRUE(parse_json_object(R"({"a":{"b":1},"b":[{"b":2},{"b":3}]})", "f").has_value());
  std::string deep(100, '[');
  expect_error(parse_json_object("{\"a\":" + deep, "f"), kCorrupt, "not JSON");
}

}  // namespace
}  // namespace looseleaf

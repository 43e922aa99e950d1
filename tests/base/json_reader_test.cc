#include "base/json_reader.h"

#include <gtest/gtest.h>

#include "base/json_parse.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

template <typename T>
void expect_file_error(const Expected<T>& result, std::string_view message) {
  ASSERT_FALSE(result.has_value()) << message;
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(result.error().param.empty());
  EXPECT_EQ(result.error().message, message);
}

TEST(JsonReader, FieldsByType) {
  const auto object = parse_json_object(
      R"({"b":true,"i":-7,"big":18446744073709551615,"d":0.5,"s":"x","o":{"k":1},"n":null,)"
      R"("l":[1,"a"],"whole":16.0})",
      "f");
  ASSERT_TRUE(object.has_value()) << object.error().message;
  const ObjectReader file(*object, "f");
  EXPECT_TRUE(*file.get<bool>("b"));
  EXPECT_TRUE(*file.boolean("none", true));
  EXPECT_EQ(*file.get<int32_t>("i"), -7);
  EXPECT_EQ(*file.get<int32_t>("whole"), 16);
  EXPECT_EQ(*file.get<double>("i"), -7);
  EXPECT_EQ(*file.get<double>("big"), 18446744073709551615.0);
  EXPECT_EQ(*file.get<double>("d"), 0.5);
  EXPECT_EQ(*file.get<std::string_view>("s"), "x");
  EXPECT_EQ(*file.get<ObjectReader>("o")->get<int64_t>("k"), 1);
  EXPECT_EQ(file.items("l")->size(), 2u);
  EXPECT_EQ(file.items("none")->size(), 0u);
  EXPECT_FALSE(file.find<bool>("n")->has_value());
  EXPECT_FALSE(file.find<bool>("none")->has_value());
}

// The field's path, what is wrong with it, what to do.
TEST(JsonReader, ErrorsOfFiles) {
  const json::object object = {{"b", nullptr}, {"i", 1},   {"big", UINT64_MAX},
                               {"d", 0.5},     {"s", "x"}, {"o", {{"k", json::array{1, "a"}}}}};
  const ObjectReader file(object, "f");
  const std::string end = "; fetch the file again";
  expect_file_error(file.get<bool>("b"), "f: b is missing" + end);
  expect_file_error(file.find<bool>("i"), "f: i is an integer, not true or false" + end);
  expect_file_error(
      file.find<int32_t>("big"),
      "f: big is an integer, not a whole number from -2147483648 to 2147483647" + end);
  expect_file_error(file.find<int32_t>("d"),
                    "f: d is a number with a fraction, not a whole number from -2147483648 to "
                    "2147483647" +
                        end);
  expect_file_error(file.find<double>("s"), "f: s is a string, not a number" + end);
  expect_file_error(file.items("s"), "f: s is a string, not a list" + end);
  expect_file_error(file.find<ObjectReader>("s"), "f: s is not a JSON object");
  const auto inner = *file.get<ObjectReader>("o");
  expect_file_error(inner.get<bool>("x"), "f: o.x is missing" + end);
  expect_file_error(inner.get<std::vector<double>>("k"),
                    "f: o.k[1] is a string, not a number" + end);
  expect_file_error((*inner.items("k"))[1].boolean(),
                    "f: o.k[1] is a string, not true or false" + end);
}

TEST(JsonReader, ErrorsOfRequests) {
  const json::value body = {{"o", {{"k", json::array{1, "a"}}}}};
  const auto object = *ObjectReader::open(JsonField(body, ""));
  const auto inner = *object.get<ObjectReader>("o");
  const auto wrong = (*inner.items("k"))[1].integer(0, 9);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(wrong.error().param, "o.k[1]");
  EXPECT_EQ(wrong.error().message, "o.k[1]: must be a whole number from 0 to 9, not \"a\"");
  EXPECT_EQ(inner.get<bool>("x").error().param, "o.x");
}

// A key is a stranger's too.
TEST(JsonReader, KeysStayOnOneShortLine) {
  const json::value body = {{"a\nb", 1}, {std::string(1000, 'x'), 1}};
  const auto object = *ObjectReader::open(JsonField(body, ""));
  EXPECT_EQ(object.find<bool>("a\nb").error().param, "\"a\\nb\"");
  EXPECT_LT(object.find<bool>(std::string(1000, 'x')).error().message.size(), 200u);
}

}  // namespace
}  // namespace looseleaf

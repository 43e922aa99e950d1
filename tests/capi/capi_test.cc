// The C ABI from C++: JSON in and out, errors as JSON, arrays by pointer.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "engine/test_engine.h"
#include "looseleaf/looseleaf_c.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr const char* kBody =
    R"({"question": "Why?", "documents": ["One text.", "Another text."], "max_tokens": 4,)"
    R"( "ignore_eos": true, "method": "reuse", "logprobs": true, "return_token_ids": true})";

class CApiTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string model = (golden_dir() / "llama_f32.gguf").string();
    engine_ = looseleaf_open(model.c_str(),
                             R"({"threads": 2, "cache_bytes": 67108864, "exact": true})", &error_);
    ASSERT_NE(engine_, nullptr) << error_;
  }
  void TearDown() override {
    looseleaf_close(engine_);
    looseleaf_free(error_);
  }

  // Takes a result, or fails the test.
  json::value parsed(char* text) {
    if (text == nullptr) {
      ADD_FAILURE() << (error_ != nullptr ? error_ : "no result");
      return json::object();
    }
    json::value value = json::parse(text);
    looseleaf_free(text);
    return value;
  }
  // Takes the last error's object.
  json::object error() {
    if (error_ == nullptr) {
      ADD_FAILURE() << "no error";
      return {{"message", ""}, {"param", ""}};
    }
    json::object object = json::parse(error_).at("error").as_object();
    looseleaf_free(error_);
    error_ = nullptr;
    return object;
  }

  looseleaf_engine* engine_ = nullptr;
  char* error_ = nullptr;
};

TEST_F(CApiTest, AsksAndScores) {
  const json::value answer = parsed(looseleaf_ask(engine_, kBody, &error_));
  ASSERT_EQ(answer.at("tokens").as_array().size(), 4u);
  EXPECT_EQ(answer.at("looseleaf").at("method"), "reuse");
  const std::string tokens = json::serialize(answer.at("tokens"));
  const json::value score = parsed(looseleaf_score(engine_, kBody, tokens.c_str(), &error_));
  EXPECT_EQ(score.at("tokens"), answer.at("tokens"));
  EXPECT_EQ(score.at("prompt_tokens_ids"), answer.at("prompt_tokens_ids"));
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(score.at("logprobs").at(i).as_double(),
                answer.at("logprobs").at(i).at("logprob").to_number<double>(), 1e-4);
  const json::value text = parsed(looseleaf_score(engine_, kBody, "\"Because.\"", &error_));
  EXPECT_EQ(text.at("tokens"),
            parsed(looseleaf_tokenize(engine_, "Because.", &error_)).at("tokens"));
}

TEST_F(CApiTest, GivesAChunksKeysAndValues) {
  const std::string id(
      parsed(looseleaf_prefill(engine_, "\"One text.\"", nullptr, &error_)).at("id").as_string());
  int32_t shape[3] = {};
  ASSERT_EQ(looseleaf_chunk_kv(engine_, id.c_str(), 1, shape, nullptr, nullptr, 0, &error_), 0);
  EXPECT_GT(shape[0], 2);
  EXPECT_EQ(shape[1], 2);
  EXPECT_EQ(shape[2], 16);
  const auto size = static_cast<size_t>(shape[0] * shape[1] * shape[2]);
  std::vector<float> keys(size), values(size);
  EXPECT_EQ(looseleaf_chunk_kv(engine_, id.c_str(), 1, shape, keys.data(), values.data(), size - 1,
                               &error_),
            -1);
  EXPECT_EQ(error().at("param"), "capacity");
  ASSERT_EQ(
      looseleaf_chunk_kv(engine_, id.c_str(), 1, shape, keys.data(), values.data(), size, &error_),
      0);
  EXPECT_NE(keys, values);
  EXPECT_NE(keys, std::vector<float>(size));
  EXPECT_EQ(looseleaf_chunk_kv(engine_, id.c_str(), 2, shape, nullptr, nullptr, 0, &error_), -1);
  EXPECT_EQ(error().at("param"), "layer");
  EXPECT_EQ(looseleaf_chunk_kv(engine_, "none", 0, shape, nullptr, nullptr, 0, &error_), -1);
  EXPECT_NE(error().at("message").as_string().find("'none'"), std::string::npos);
}

TEST_F(CApiTest, DescribesItself) {
  EXPECT_EQ(parsed(looseleaf_describe(engine_)).at("layers"), 2);
  EXPECT_TRUE(parsed(looseleaf_methods()).is_array());
  EXPECT_FALSE(std::string(looseleaf_version()).empty());
  looseleaf_free(looseleaf_prefill(engine_, "\"One text.\"", nullptr, nullptr));
  EXPECT_GE(parsed(looseleaf_cache_stats(engine_)).at("chunks").as_int64(), 1);
  looseleaf_clear_cache(engine_);
  EXPECT_EQ(parsed(looseleaf_cache_stats(engine_)).at("used_bytes"), 0);
}

TEST_F(CApiTest, ErrorsNameTheField) {
  const auto param = [&](const char* body) {
    EXPECT_EQ(looseleaf_ask(engine_, body, &error_), nullptr);
    const json::object object = error();
    return object.at("param").is_string() ? std::string(object.at("param").as_string()) : "";
  };
  EXPECT_EQ(param(R"({"question": "x", "max_tokens": 0})"), "max_tokens");
  EXPECT_EQ(param(R"({"question": "x", "documents": [""]})"), "documents[0]");
  EXPECT_EQ(param(nullptr), "body");
  EXPECT_EQ(param("{"), "");
  EXPECT_EQ(looseleaf_ask(nullptr, kBody, &error_), nullptr);
  EXPECT_EQ(error().at("param"), "engine");
  EXPECT_EQ(looseleaf_score(engine_, kBody, "[]", &error_), nullptr);
  EXPECT_EQ(error().at("param"), "continuation");
  EXPECT_EQ(looseleaf_prefill(engine_, "\"x\"", R"({"layuot": "qa"})", &error_), nullptr);
  EXPECT_EQ(error().at("param"), "settings.layuot");
  EXPECT_EQ(looseleaf_open("/no/model.gguf", nullptr, &error_), nullptr);
  EXPECT_NE(error().at("message").as_string().find("/no/model.gguf"), std::string::npos);
  EXPECT_EQ(looseleaf_open("x", R"({"treads": 1})", &error_), nullptr);
  EXPECT_EQ(error().at("param"), "options.treads");
  EXPECT_EQ(looseleaf_ask(engine_, "{", nullptr), nullptr);  // nobody asks why
}

TEST_F(CApiTest, NullIsNothing) {
  looseleaf_close(nullptr);
  looseleaf_free(nullptr);
  looseleaf_clear_cache(nullptr);
  EXPECT_EQ(looseleaf_describe(nullptr), nullptr);
}

}  // namespace
}  // namespace looseleaf

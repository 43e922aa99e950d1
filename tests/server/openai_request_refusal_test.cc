// parse_request: what is refused, with the path of the field that is to blame.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/body_testing.h"

namespace looseleaf {
namespace {

struct Refusal {
  const char* body;
  const char* param;
  ErrorCode code = ErrorCode::kInvalidArgument;
};

void expect_refused(const Refusal& refusal) {
  const Error error = parse_refused(refusal.body);
  EXPECT_EQ(error.param, refusal.param) << refusal.body << "\n" << error.message;
  EXPECT_EQ(error.code, refusal.code) << refusal.body << "\n" << error.message;
  // "field: what is wrong", so that a line of a log says all.
  if (!error.param.empty()) {
    EXPECT_TRUE(error.message.starts_with(error.param + ": ")) << error.message;
  }
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

// Each number field times values that are easy to get wrong: either the value is in the field's
// range, or the field is named. Nothing wraps, nothing is undefined (the sanitizers look on).
TEST(OpenAiRequestRefusal, NumbersOfAllSizesAndTypes) {
  struct Field {
    const char* name;
    double low, high;
    bool whole;
  };
  constexpr Field kFields[] = {
      {"temperature", 0, 2, false},
      {"top_p", 1e-30, 1, false},
      {"min_p", 0, 1, false},
      {"repetition_penalty", 0.01, 100, false},
      {"presence_penalty", -2, 2, false},
      {"frequency_penalty", -2, 2, false},
      {"top_k", -1, 2147483647, true},
      {"max_tokens", 1, 2147483647, true},
      {"max_completion_tokens", 1, 2147483647, true},
      {"seed", -9.2e18, 9.2e18, true},
  };
  for (const Field& field : kFields) {
    for (const char* text :
         {"-1", "0", "1", "0.5", "2147483647", "2147483648", "4294967296", "4294967297",
          "9223372036854775808", "-9223372036854775809", "18446744073709551615",
          "18446744073709551616", "1e308", "-1e308", "1e-308", "1e15"}) {
      const double value = std::strtod(text, nullptr);
      const bool fits =
          value >= field.low && value <= field.high && (!field.whole || value == std::floor(value));
      const std::string body = chat_body(fmt::format("\"{}\": {}", field.name, text));
      if (fits) {
        parse_ok(body);
      } else {
        EXPECT_EQ(parse_refused(body).param, field.name) << body;
      }
    }
    for (const char* text : {"\"1\"", "true", "false", "[]", "[1]", "{}", "\"\""}) {
      const std::string body = chat_body(fmt::format("\"{}\": {}", field.name, text));
      EXPECT_EQ(parse_refused(body).param, field.name) << body;
    }
    parse_ok(chat_body(fmt::format("\"{}\": null", field.name)));
  }
}

TEST(OpenAiRequestRefusal, StringsAndFlagsOfOtherTypes) {
  for (const char* name : {"model", "encoding_prefix", "cache_salt", "layout", "method", "stop",
                           "prompt_cache_key", "stream", "ignore_eos", "return_token_ids",
                           "logprobs", "documents", "stream_options", "logit_bias"}) {
    const std::string body = chat_body(fmt::format("\"{}\": 5", name));
    EXPECT_EQ(parse_refused(body).param, name) << body;
  }
}

TEST(OpenAiRequestRefusal, Fields) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"("stop": "")", "stop"},
      {R"("stop": ["a", ""])", "stop[1]"},
      {R"("stop": ["a", 5])", "stop[1]"},
      {R"("logit_bias": {"x": 1})", "logit_bias.x"},
      {R"("logit_bias": {"-1": 1})", "logit_bias.-1"},
      {R"("logit_bias": {"4294967296": 1})", "logit_bias.4294967296"},
      {R"("logit_bias": {"5": 101})", "logit_bias.5"},
      {R"("logit_bias": {"5": "1"})", "logit_bias.5"},
      {R"("top_logprobs": 2)", "top_logprobs"},
      {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs"},
      {R"("logprobs": false, "top_logprobs": 1)", "top_logprobs"},
      {R"("max_tokens": 1, "max_completion_tokens": 2)", "max_tokens"},
      {R"("encoding_prefix": "eos")", "encoding_prefix"},
      {R"("layout": "fancy")", "layout"},
      {R"("layout": {"document": "{title}"})", "layout.document"},
      {R"("layout": {})", "layout.document"},
      {R"("layout": {"document": "{text}", "question": "?"})", "layout.question"},
      {R"("layout": {"document": "{text}", "header": ""})", "layout.header"},
      {R"("layout": {"document": 5})", "layout.document"},
      {R"("method": "")", "method"},
      {R"("method": "re\nuse")", "method"},
      {R"("method": {"name": "reuse", "a\nb": 1})", "method"},
      {R"("layout": "q\na")", "layout"},
      {R"("method": "relaxkv:0.05..0.30/6")", "method"},
      {R"("method": {"ratio": 0.1})", "method.name"},
      {R"("method": {"name": "relaxkv", "ratio": "0.1"})", "method.ratio"},
      {R"("method": {"name": "relaxkv", "context": "a:b"})", "method.context"},
      {R"("method": {"name": "plan", "targets": [1]})", "method.targets[0]"},
      {R"("method": {"name": "plan", "targets": [[1], [2, -1]]})", "method.targets[1][1]"},
      {R"("method": {"name": "plan", "context": ["a"]})", "method.context[0]"},
      {R"("method": {"name": "weave", "targets": [[1]]})", "method.targets"},
      {R"("return": "scores")", "return"},
      {R"("return": ["scores", "all"])", "return[1]"},
      {R"("method": {"name": 5.5, "ratio": true})", "method.ratio"},
      {R"("stream_options": {"include_usage": 1})", "stream_options.include_usage"},
      {R"("n": 0)", "n"},
      {R"("prefix": "x")", "prefix"},
      {R"("prompt": "x")", "prompt"},
      {R"("question": "x")", "question"},
  };
  for (const auto& [fields, param] : cases) {
    expect_refused({chat_body(fields).c_str(), param});
  }
}

TEST(OpenAiRequestRefusal, Bodies) {
  for (const Refusal& refusal : std::vector<Refusal>{
           {"", ""},
           {"[]", ""},
           {"5", ""},
           {"{}", "messages"},
           {R"({"messages": []})", "messages"},
           {R"({"messages": {}})", "messages"},
           {R"({"messages": [5]})", "messages[0]"},
           {R"([null])", ""},
           {R"([{}])", ""},
           {R"({"messages": [null]})", "messages[0]"},
           {R"({"messages": [{}]})", "messages[0].role"},
           {R"({"prompt": "x", "documents": [null]})", "documents[0]"},
           {R"({"prompt": "x", "documents": [{}]})", "documents[0].text"},
           {R"({"prompt": "x", "documents": [[]]})", "documents[0]"},
           {R"({"prompt": [null]})", "prompt[0]"},
           {R"({"prompt": [{}]})", "prompt[0]"},
           {R"({"prompt": "x", "stop": [null]})", "stop[0]"},
           {R"({"prompt": "x", "prefix": [null]})", "prefix[0]"},
           {R"({"prompt": "x", "logit_bias": [{}]})", "logit_bias"},
           {R"({"prompt": "x", "logit_bias": {"a\nb": 1}})", "logit_bias.\"a\\nb\""},
           {R"({"messages": [{"content": "x"}]})", "messages[0].role"},
           {R"({"messages": [{"role": "robot", "content": "x"}]})", "messages[0].role"},
           {R"({"messages": [{"role": "user"}]})", "messages[0].content"},
           {R"({"messages": [{"role": "user", "content": 5}]})", "messages[0].content"},
           {R"({"messages": [{"role": "user", "content": []}]})", "messages[0].content"},
           {R"({"messages": [{"role": "user", "content": ["x"]}]})", "messages[0].content[0]"},
           {R"({"prompt": ""})", "prompt"},
           {R"({"prompt": []})", "prompt"},
           {R"({"prompt": 5})", "prompt"},
           {R"({"prompt": [1, -1]})", "prompt[1]"},
           {R"({"prompt": [1, 2147483648]})", "prompt[1]"},
           {R"({"prompt": [1, 1.5]})", "prompt[1]"},
           {R"({"prompt": [1, "2"]})", "prompt[1]"},
           {R"({"prompt": [1, true]})", "prompt[1]"},
           {R"({"prompt": [[1], "x"]})", "prompt", ErrorCode::kUnsupported},
           {R"({"prompt": ["a", "b"]})", "prompt", ErrorCode::kUnsupported},
           {R"({"prompt": "x", "prefix": 5})", "prefix"},
           {R"({"prompt": "x", "logprobs": true})", "logprobs"},
           {R"({"prompt": "x", "logprobs": 21})", "logprobs"},
           {R"({"question": ""})", "question"},
           {R"({"question": ["x"]})", "question"},
           {R"({"messages": [{"role": "assistant", "content": "x"}], "documents": ["d"]})",
            "documents"},
       }) {
    expect_refused(refusal);
  }
}

TEST(OpenAiRequestRefusal, WhatIsNotSupportedSaysSo) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"("tools": [{"type": "function"}])", "tools"},
      {R"("tool_choice": "required")", "tool_choice"},
      {R"("functions": [{}])", "functions"},
      {R"("response_format": {"type": "json_object"})", "response_format"},
      {R"("guided_regex": "a*")", "guided_regex"},
      {R"("citations": true)", "citations"},
      {R"("modalities": ["text", "audio"])", "modalities"},
      {R"("echo": true)", "echo"},
      {R"("suffix": "end")", "suffix"},
      {R"("n": 2)", "n"},
      {R"("best_of": 3)", "best_of"},
      {R"("documents": [{"chunk_id": "00ff", "text": "x"}])", "documents[0].chunk_id"},
  };
  for (const auto& [fields, param] : cases) {
    expect_refused({chat_body(fields).c_str(), param, ErrorCode::kUnsupported});
  }
  expect_refused({R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
                  "messages[0].content[0].type", ErrorCode::kUnsupported});
  expect_refused({R"({"messages": [{"role": "assistant", "content": "x", "tool_calls": [{}]}]})",
                  "messages[0].tool_calls", ErrorCode::kUnsupported});
}

TEST(OpenAiRequestRefusal, NearMissesAreToldWhatWasMeant) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"document", "documents"},
      {"docs", "documents"},
      {"contexts", "documents"},
      {"Documents", "documents"},
      {"methods", "method"},
      {"encodingPrefix", "encoding_prefix"},
      {"encoding-prefix", "encoding_prefix"},
      {"cacheSalt", "cache_salt"},
      {"ignoreEOS", "ignore_eos"},
      {"max_new_tokens", "max_tokens"},
      {"topK", "top_k"},
  };
  for (const auto& [name, meant] : cases) {
    const Error error = parse_refused(chat_body(fmt::format("\"{}\": []", name)));
    EXPECT_EQ(error.param, name);
    EXPECT_NE(error.message.find(fmt::format("did you mean {}?", meant)), std::string::npos)
        << error.message;
  }
}

}  // namespace
}  // namespace looseleaf

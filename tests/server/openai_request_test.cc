// parse_request: the accepted forms of a body, and what each of its fields gives.
#include "server/openai_request.h"

#include <gtest/gtest.h>

#include <string>

#include "server/body_testing.h"

namespace looseleaf {
namespace {

Request parsed(const std::string& fields) { return parse_ok(chat_body(fields)).request; }

TEST(OpenAiRequest, MessagesMakeAChat) {
  const ParsedRequest body = parse_ok(R"({"messages": [
      {"role": "system", "content": "Be brief."}, {"role": "developer", "content": "And kind."},
      {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
      {"role": "assistant", "content": ""}, {"role": "tool", "content": "42"}]})");
  EXPECT_TRUE(body.chat);
  ASSERT_EQ(body.request.messages.size(), 5u);
  EXPECT_EQ(body.request.messages[1].role, "system");
  EXPECT_EQ(std::get<std::string>(body.request.messages[2].content.at(0)), "Hi");
  EXPECT_FALSE(body.request.prompt.has_value());
}

TEST(OpenAiRequest, PromptMakesACompletion) {
  const ParsedRequest body = parse_ok(R"({"prompt": [1, 2.0, 3], "prefix": "Once"})");
  EXPECT_FALSE(body.chat);
  EXPECT_EQ(std::get<std::vector<int32_t>>(*body.request.prompt), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(std::get<std::string>(*body.request.prefix), "Once");
  EXPECT_EQ(body.request.max_tokens, 16);
}

TEST(OpenAiRequest, AListOfOnePromptIsThatPrompt) {
  EXPECT_EQ(std::get<std::string>(*parse_ok(R"({"prompt": ["x"]})").request.prompt), "x");
  EXPECT_EQ(std::get<std::vector<int32_t>>(*parse_ok(R"({"prompt": [[7]]})").request.prompt),
            std::vector<int32_t>{7});
}

TEST(OpenAiRequest, QuestionIsAShorthand) {
  const ParsedRequest body = parse_ok(R"({"question": "Why?", "documents": ["Because."]})");
  EXPECT_TRUE(body.chat);
  EXPECT_EQ(body.request.question, "Why?");
  EXPECT_EQ(body.request.documents.size(), 1u);
}

TEST(OpenAiRequest, DefaultsAreOpenAis) {
  const ParsedRequest body = parse_ok(chat_body(""));
  EXPECT_FALSE(body.request.sampling.temperature.has_value());
  EXPECT_EQ(body.request.max_tokens, kAllTokens);
  EXPECT_EQ(body.request.method, "auto");
  EXPECT_EQ(body.request.logprobs, -1);
  EXPECT_FALSE(body.stream);
  EXPECT_TRUE(body.ignored.empty());
}

TEST(OpenAiRequest, TheBodyGoesBeforeTheCallersDefaults) {
  BodyDefaults defaults;
  defaults.request.method = "full";
  defaults.request.sampling.temperature = 0.5f;
  defaults.request.stop = {"default"};
  defaults.max_tokens = 7;
  const auto silent = parse_request(chat_body(""), defaults);
  ASSERT_TRUE(silent.has_value());
  EXPECT_EQ(silent->request.method, "full");
  EXPECT_EQ(silent->request.sampling.temperature, 0.5f);
  EXPECT_EQ(silent->request.max_tokens, 7);
  const auto outspoken = parse_request(
      chat_body(R"("method": "block", "temperature": 1, "max_tokens": 9, "stop": "own")"),
      defaults);
  ASSERT_TRUE(outspoken.has_value());
  EXPECT_EQ(outspoken->request.method, "block");
  EXPECT_EQ(outspoken->request.sampling.temperature, 1.0f);
  EXPECT_EQ(outspoken->request.max_tokens, 9);
  EXPECT_EQ(outspoken->request.stop, std::vector<std::string>{"own"});
}

TEST(OpenAiRequest, Sampling) {
  const Sampling sampling = parsed(R"("temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.05,
      "repetition_penalty": 1.1, "presence_penalty": -2, "frequency_penalty": 2,
      "logit_bias": {"5": -100, "17": 2.5}, "seed": -9223372036854775808)")
                                .sampling;
  EXPECT_EQ(sampling.temperature, 0.7f);
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.top_p, 0.9f);
  EXPECT_EQ(sampling.min_p, 0.05f);
  EXPECT_EQ(sampling.repetition_penalty, 1.1f);
  EXPECT_EQ(sampling.presence_penalty, -2.0f);
  EXPECT_EQ(sampling.frequency_penalty, 2.0f);
  EXPECT_EQ(sampling.logit_bias, (std::map<int32_t, float>{{5, -100.0f}, {17, 2.5f}}));
  EXPECT_EQ(sampling.seed, uint64_t{1} << 63);
}

TEST(OpenAiRequest, TopKOfMinusOneIsVllmsWordForAll) {
  EXPECT_EQ(parsed(R"("top_k": -1)").sampling.top_k, 0);
}

TEST(OpenAiRequest, StopIsAStringOrAList) {
  EXPECT_EQ(parsed(R"("stop": "a")").stop, std::vector<std::string>{"a"});
  EXPECT_EQ(parsed(R"("stop": ["a", "b"])").stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parsed(R"("stop": [])").stop.empty());
  EXPECT_TRUE(parsed(R"("stop": null)").stop.empty());
}

TEST(OpenAiRequest, MaxTokensHasTwoNamesAndIsBounded) {
  EXPECT_EQ(parsed(R"("max_completion_tokens": 3)").max_tokens, 3);
  EXPECT_EQ(parsed(R"("max_tokens": 3, "max_completion_tokens": 3)").max_tokens, 3);
  EXPECT_EQ(parsed(R"("max_tokens": 2147483647)").max_tokens, kAllTokens);
}

TEST(OpenAiRequest, LogprobsOfChatAreAFlagAndACount) {
  EXPECT_EQ(parsed(R"("logprobs": true)").logprobs, 0);
  EXPECT_EQ(parsed(R"("logprobs": true, "top_logprobs": 20)").logprobs, 20);
  EXPECT_EQ(parsed(R"("logprobs": false)").logprobs, -1);
  EXPECT_EQ(parse_ok(R"({"prompt": "x", "logprobs": 5})").request.logprobs, 5);
}

TEST(OpenAiRequest, MethodAsStringAndAsObject) {
  EXPECT_EQ(parsed(R"("method": "relaxkv:0.15:context=union")").method,
            "relaxkv:0.15:context=union");
  EXPECT_EQ(parsed(R"("method": {"name": "relaxkv", "ratio": 0.15, "context": "own+union",
                                 "header": true, "budget": 0.3})")
                .method,
            "relaxkv:0.15:context=own+union:header=1:budget=0.3");
  EXPECT_EQ(parsed(R"("method": {"name": "epic", "ratio": 16})").method, "epic:16");
  EXPECT_EQ(parsed(R"("method": {"name": "reuse"})").method, "reuse");
}

TEST(OpenAiRequest, PlanHasTargetsALayer) {
  const Request plan = parsed(
      R"("method": {"name": "plan", "targets": [[0, 3], [], [3]], "context": [1, 2], "header": 0})");
  EXPECT_EQ(plan.method, "plan:context=list:header=0");
  ASSERT_TRUE(plan.targets);
  EXPECT_EQ(plan.targets->layers, (std::vector<std::vector<int32_t>>{{0, 3}, {}, {3}}));
  EXPECT_EQ(plan.targets->context, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(parsed(R"("method": {"name": "plan", "context": "union"})").method,
            "plan:context=union");
  EXPECT_FALSE(parsed(R"("method": "plan")").targets);
}

TEST(OpenAiRequest, WhatToReturn) {
  EXPECT_FALSE(parsed(R"("return": [])").return_scores);
  const Request both = parsed(R"("return": ["targets", "scores"])");
  EXPECT_TRUE(both.return_scores && both.return_targets);
  EXPECT_FALSE(parsed(R"("return": ["targets"])").return_scores);
}

TEST(OpenAiRequest, LayoutAsNameAndAsObject) {
  EXPECT_EQ(std::get<std::string>(parsed(R"("layout": "plain")").layout), "plain");
  const Layout layout =
      std::get<Layout>(parsed(R"("layout": {"document": "<{title}> {text}"})").layout);
  EXPECT_EQ(layout.intro, "");
  EXPECT_EQ(layout.document_untitled, "<{title}> {text}");
  EXPECT_EQ(layout.question, "{question}");
}

TEST(OpenAiRequest, ResponseOptions) {
  const ParsedRequest body = parse_ok(chat_body(
      R"("model": "m", "stream": true, "stream_options": {"include_usage": true},
         "return_token_ids": true, "ignore_eos": true, "encoding_prefix": "header",
         "cache_salt": "s", "n": 1, "prompt_cache_key": "k")"));
  EXPECT_EQ(body.model, "m");
  EXPECT_TRUE(body.stream && body.stream_usage && body.return_token_ids);
  EXPECT_TRUE(body.request.ignore_eos);
  EXPECT_EQ(body.request.encoding_prefix, "header");
  EXPECT_EQ(body.request.cache_salt, "s");
  EXPECT_TRUE(body.ignored.empty());
}

TEST(OpenAiRequest, OtherFieldsAreListedAsIgnored) {
  const ParsedRequest body = parse_ok(R"({"user": "u", "store": false, "stop_token_ids": null,
      "messages": [{"role": "user", "name": "Ann", "content": [
          {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}],
      "documents": [{"text": "a", "score": 1}, {"text": "b", "score": 2}]})");
  EXPECT_EQ(body.ignored,
            (std::vector<std::string>{"messages[].content[].cache_control", "messages[].name",
                                      "documents[].score", "user", "store"}));
}

TEST(OpenAiRequest, IgnoredFieldsAreBounded) {
  std::string fields;
  for (int i = 0; i < 1000; ++i) fields += fmt::format("{}\"x{}\": 1", i ? "," : "", i);
  EXPECT_EQ(parse_ok(chat_body(fields)).ignored.size(), 64u);
}

// What asks for nothing is no reason to refuse: clients send these unasked.
TEST(OpenAiRequest, EmptyUnsupportedFieldsPass) {
  for (const char* field : {R"("tools": [])", R"("tools": null)", R"("tool_choice": "none")",
                            R"("tool_choice": "auto")", R"("response_format": {"type": "text"})",
                            R"("response_format": null)", R"("echo": false)", R"("citations": [])",
                            R"("modalities": ["text"])", R"("n": null)", R"("return": [])"}) {
    EXPECT_TRUE(parse_ok(chat_body(field)).ignored.empty()) << field;
  }
}

}  // namespace
}  // namespace looseleaf

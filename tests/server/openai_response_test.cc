// Answers and errors as JSON: the keys that users rely on.
#include "server/openai_response.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json_text.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

Answer sample_answer() {
  Answer answer;
  answer.text = "Yes.";
  answer.tokens = {5, 6, 2};
  answer.finish_reason = "stop";
  answer.prompt_tokens = {1, 7, 8, 9};
  answer.logprobs = {{5, -0.25, {{5, -0.25}, {4, -1.5}}}};
  answer.cached_tokens = 3;
  answer.method = "reuse";
  answer.device = "cpu";
  answer.ttft_ms = 38.24681;
  answer.chunks = {{0, "00ff", "doc", 2, 1, "host", ""}, {1, "11ff", "", 1, 3, "computed", "new"}};
  answer.kv_bytes.private_pages = 4096;
  return answer;
}

std::vector<std::string> keys_of(const json::value& object) {
  std::vector<std::string> keys;
  for (const auto& member : object.as_object()) keys.emplace_back(member.key());
  return keys;
}

using Keys = std::vector<std::string>;

TEST(RunObject, HasTheKeysOfTheInterface) {
  const json::value object = run_object(sample_answer(), {});
  EXPECT_EQ(keys_of(object), (Keys{"text", "tokens", "finish_reason", "usage", "looseleaf"}));
  EXPECT_EQ(keys_of(object.at("usage")),
            (Keys{"prompt_tokens", "completion_tokens", "prompt_tokens_details"}));
  const json::value& own = object.at("looseleaf");
  EXPECT_EQ(keys_of(own), (Keys{"method", "exact", "device", "ttft_ms", "tpot_ms", "ignored",
                                "timings", "chunks", "repaired_tokens", "flops", "kv_bytes"}));
  EXPECT_EQ(keys_of(own.at("timings")), (Keys{"queue_ms", "load_ms", "chunk_prefill_ms",
                                              "repair_ms", "question_prefill_ms", "decode_ms"}));
  EXPECT_EQ(keys_of(own.at("chunks").at(0)),
            (Keys{"index", "id", "document_id", "tokens", "offset", "source", "miss_reason"}));
  EXPECT_EQ(keys_of(own.at("flops")), (Keys{"score", "repair", "question", "share_of_full"}));
  EXPECT_EQ(keys_of(own.at("kv_bytes")), (Keys{"chunks", "private", "overlay"}));
}

TEST(RunObject, ScoresAndTargetsWhereAskedFor) {
  Answer answer = sample_answer();
  answer.token_chunks = {0, 0, 1};
  answer.scores = {0.5f, 0.25f, 0, 0, 0.125f, 0.5f};
  answer.targets = {{0, 2}, {2}};
  const json::value object = run_object(answer, {});
  const json::value& own = object.at("looseleaf");
  EXPECT_EQ(write_json(own.at("token_chunks")), "[0,0,1]");
  EXPECT_EQ(write_json(own.at("scores")), "[[0.5,0.25,0],[0,0.125,0.5]]");
  EXPECT_EQ(write_json(own.at("targets")), "[[0,2],[2]]");
}

TEST(RunObject, Values) {
  ResponseOptions options;
  options.return_token_ids = options.logprobs = true;
  options.ignored = {"user"};
  const json::value object = run_object(sample_answer(), options);
  EXPECT_EQ(write_json(object.at("prompt_tokens_ids")), "[1,7,8,9]");
  EXPECT_EQ(write_json(object.at("logprobs")),
            R"([{"token":5,"logprob":-0.25,"top":[[5,-0.25],[4,-1.5]]}])");
  EXPECT_EQ(
      write_json(object.at("usage")),
      R"({"prompt_tokens":4,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":3}})");
  const json::value& own = object.at("looseleaf");
  EXPECT_EQ(write_json(own.at("ignored")), R"(["user"])");
  EXPECT_EQ(write_json(own.at("ttft_ms")), "38.247");
  EXPECT_EQ(write_json(own.at("kv_bytes")), R"({"chunks":0,"private":4096,"overlay":0})");
  EXPECT_TRUE(own.at("chunks").at(0).at("miss_reason").is_null());
  EXPECT_TRUE(own.at("chunks").at(1).at("document_id").is_null());
  EXPECT_EQ(own.at("chunks").at(1).at("miss_reason").as_string(), "new");
}

TEST(CompletionObject, Chat) {
  ResponseOptions options;
  options.model = "m";
  options.id = "1";
  options.logprobs = true;
  const json::value object = completion_object(sample_answer(), options);
  EXPECT_EQ(keys_of(object),
            (Keys{"id", "object", "created", "model", "choices", "usage", "looseleaf"}));
  EXPECT_EQ(object.at("id").as_string(), "chatcmpl-1");
  EXPECT_EQ(object.at("object").as_string(), "chat.completion");
  const json::value& choice = object.at("choices").at(0);
  EXPECT_EQ(choice.at("message").at("role").as_string(), "assistant");
  EXPECT_EQ(choice.at("message").at("content").as_string(), "Yes.");
  EXPECT_EQ(choice.at("finish_reason").as_string(), "stop");
  const json::value& logprob = choice.at("logprobs").at("content").at(0);
  EXPECT_EQ(logprob.at("token").as_string(), "token_id:5");
  EXPECT_EQ(logprob.at("top_logprobs").at(1).at("logprob").as_double(), -1.5);
  EXPECT_EQ(object.at("usage").at("total_tokens").to_number<int>(), 7);
  EXPECT_EQ(object.at("usage").at("prompt_tokens_details").at("cached_tokens").as_int64(), 3);
}

TEST(CompletionObject, Text) {
  ResponseOptions options;
  options.chat = false;
  options.return_token_ids = true;
  const json::value object = completion_object(sample_answer(), options);
  EXPECT_EQ(object.at("object").as_string(), "text_completion");
  EXPECT_EQ(object.at("choices").at(0).at("text").as_string(), "Yes.");
  EXPECT_TRUE(object.at("choices").at(0).at("logprobs").is_null());
  EXPECT_EQ(write_json(object.at("choices").at(0).at("token_ids")), "[5,6,2]");
  EXPECT_EQ(write_json(object.at("prompt_token_ids")), "[1,7,8,9]");
}

TEST(ErrorObject, NamesTheField) {
  const json::value object =
      error_object({ErrorCode::kUnsupported, "tools: tools are not supported", "tools"});
  EXPECT_EQ(
      write_json(object),
      R"({"error":{"message":"tools: tools are not supported","type":"invalid_request_error",)"
      R"("param":"tools","code":"unsupported_parameter"}})");
  EXPECT_TRUE(error_object({ErrorCode::kInternal, "x", ""}).at("error").at("param").is_null());
}

}  // namespace
}  // namespace looseleaf

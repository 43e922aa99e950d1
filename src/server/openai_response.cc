#include "server/openai_response.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cmath>

#include "base/utf8.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// Microseconds are as fine as these clocks are.
double milliseconds(double ms) { return std::round(ms * 1000) / 1000; }

json::value or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

json::array token_array(const std::vector<int32_t>& tokens) {
  return json::array(tokens.begin(), tokens.end());
}

json::object usage_object(const Answer& answer, bool total) {
  json::object usage{{"prompt_tokens", answer.prompt_tokens.size()},
                     {"completion_tokens", answer.tokens.size()}};
  if (total) usage["total_tokens"] = answer.prompt_tokens.size() + answer.tokens.size();
  usage["prompt_tokens_details"] = {{"cached_tokens", answer.cached_tokens}};
  return usage;
}

json::array chunk_array(const std::vector<ChunkUse>& chunks) {
  json::array list;
  for (const ChunkUse& chunk : chunks) {
    list.push_back({{"index", chunk.index},
                    {"id", chunk.id},
                    {"document_id", or_null(chunk.document_id)},
                    {"tokens", chunk.tokens},
                    {"offset", chunk.offset},
                    {"source", chunk.source},
                    {"miss_reason", or_null(chunk.miss_reason)}});
  }
  return list;
}

// What a body's "return" asked for. scores: [layers][tokens]; targets: [layers][targets].
void add_repair_details(const Answer& answer, json::object& object) {
  if (answer.token_chunks.empty()) return;
  object["token_chunks"] = token_array(answer.token_chunks);
  const size_t tokens = answer.token_chunks.size();
  if (!answer.scores.empty()) {
    json::array layers;
    for (auto from = answer.scores.begin(); from != answer.scores.end();
         from += static_cast<std::ptrdiff_t>(tokens))
      layers.push_back(json::array(from, from + static_cast<std::ptrdiff_t>(tokens)));
    object["scores"] = std::move(layers);
  }
  if (!answer.targets.empty()) {
    json::array layers;
    for (const auto& targets : answer.targets) layers.push_back(token_array(targets));
    object["targets"] = std::move(layers);
  }
}

json::object looseleaf_object(const Answer& answer, const ResponseOptions& options) {
  const Timings& timings = answer.timings;
  json::object object{{"method", answer.method},
                      {"exact", answer.exact},
                      {"device", answer.device},
                      {"ttft_ms", milliseconds(answer.ttft_ms)},
                      {"tpot_ms", milliseconds(answer.tpot_ms)},
                      {"ignored", json::array(options.ignored.begin(), options.ignored.end())},
                      {"timings",
                       {{"queue_ms", milliseconds(timings.queue_ms)},
                        {"load_ms", milliseconds(timings.load_ms)},
                        {"chunk_prefill_ms", milliseconds(timings.chunk_prefill_ms)},
                        {"repair_ms", milliseconds(timings.repair_ms)},
                        {"question_prefill_ms", milliseconds(timings.question_prefill_ms)},
                        {"decode_ms", milliseconds(timings.decode_ms)}}},
                      {"chunks", chunk_array(answer.chunks)},
                      {"repaired_tokens", answer.repaired_tokens},
                      {"flops",
                       {{"score", answer.flops.score},
                        {"repair", answer.flops.repair},
                        {"question", answer.flops.question},
                        {"share_of_full", answer.flops.share_of_full}}},
                      {"kv_bytes",
                       {{"chunks", answer.kv_bytes.chunks},
                        {"private", answer.kv_bytes.private_pages},
                        {"overlay", answer.kv_bytes.overlay}}}};
  if (!answer.method_reason.empty()) object["method_reason"] = answer.method_reason;
  add_repair_details(answer, object);
  return object;
}

json::array logprob_array(const std::vector<TokenLogprob>& logprobs) {
  json::array list;
  for (const TokenLogprob& entry : logprobs) {
    json::array top;
    for (const auto& [token, logprob] : entry.top) top.push_back(json::array{token, logprob});
    list.push_back({{"token", entry.token}, {"logprob", entry.logprob}, {"top", std::move(top)}});
  }
  return list;
}

std::string token_name(int32_t token) { return fmt::format("token_id:{}", token); }

json::object chat_logprobs(const std::vector<TokenLogprob>& logprobs) {
  const auto entry_object = [](int32_t token, double logprob) {
    return json::object{{"token", token_name(token)}, {"logprob", logprob}, {"bytes", nullptr}};
  };
  json::array content;
  for (const TokenLogprob& entry : logprobs) {
    json::array top;
    for (const auto& [token, logprob] : entry.top) top.push_back(entry_object(token, logprob));
    json::object object = entry_object(entry.token, entry.logprob);
    object["top_logprobs"] = std::move(top);
    content.push_back(std::move(object));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

json::object completion_logprobs(const std::vector<TokenLogprob>& logprobs) {
  json::array tokens, chosen, tops;
  for (const TokenLogprob& entry : logprobs) {
    tokens.push_back(json::string(token_name(entry.token)));
    chosen.push_back(entry.logprob);
    json::object top;
    for (const auto& [token, logprob] : entry.top) top[token_name(token)] = logprob;
    tops.push_back(std::move(top));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(chosen)},
          {"top_logprobs", std::move(tops)}};
}

json::object choice_object(const Answer& answer, const ResponseOptions& options) {
  json::object choice{{"index", 0}};
  if (options.chat) {
    choice["message"] = {{"role", "assistant"}, {"content", answer.text}, {"refusal", nullptr}};
  } else {
    choice["text"] = answer.text;
  }
  choice["logprobs"] = nullptr;
  if (options.logprobs) {
    choice["logprobs"] =
        options.chat ? chat_logprobs(answer.logprobs) : completion_logprobs(answer.logprobs);
  }
  choice["finish_reason"] = answer.finish_reason;
  if (options.return_token_ids) choice["token_ids"] = token_array(answer.tokens);
  return choice;
}

struct ErrorNames {
  const char* type;
  const char* code;
};

ErrorNames names_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {"invalid_request_error", "invalid_value"};
    case ErrorCode::kContextLength:
      return {"invalid_request_error", "context_length_exceeded"};
    case ErrorCode::kKvBudget:
      return {"invalid_request_error", "kv_budget_exceeded"};
    case ErrorCode::kUnsupported:
      return {"invalid_request_error", "unsupported_parameter"};
    case ErrorCode::kNotFound:
      return {"invalid_request_error", "not_found"};
    case ErrorCode::kUsage:
      return {"invalid_request_error", "invalid_option"};
    case ErrorCode::kCorrupt:
      return {"server_error", "corrupt_file"};
    case ErrorCode::kUnavailable:
      return {"server_error", "unavailable"};
    case ErrorCode::kInternal:
      break;
  }
  return {"server_error", "internal_error"};
}

}  // namespace

json::object run_object(const Answer& answer, const ResponseOptions& options) {
  json::object object{{"text", answer.text},
                      {"tokens", token_array(answer.tokens)},
                      {"finish_reason", answer.finish_reason}};
  if (options.return_token_ids) object["prompt_tokens_ids"] = token_array(answer.prompt_tokens);
  if (options.logprobs) object["logprobs"] = logprob_array(answer.logprobs);
  object["usage"] = usage_object(answer, false);
  object["looseleaf"] = looseleaf_object(answer, options);
  return object;
}

json::object completion_object(const Answer& answer, const ResponseOptions& options) {
  json::object object{{"id", (options.chat ? "chatcmpl-" : "cmpl-") + options.id},
                      {"object", options.chat ? "chat.completion" : "text_completion"},
                      {"created", options.created},
                      {"model", options.model},
                      {"choices", json::array{choice_object(answer, options)}},
                      {"usage", usage_object(answer, true)}};
  if (options.return_token_ids) object["prompt_token_ids"] = token_array(answer.prompt_tokens);
  object["looseleaf"] = looseleaf_object(answer, options);
  return object;
}

json::object error_object(const Error& error) {
  const ErrorNames names = names_of(error.code);
  return {{"error",
           {{"message", shown_as_utf8(error.message)},
            {"type", names.type},
            {"param", or_null(error.param)},
            {"code", names.code}}}};
}

}  // namespace looseleaf

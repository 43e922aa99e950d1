#include "server/openai_request.h"

#include <algorithm>

#include "base/json_parse.h"
#include "base/json_text.h"
#include "server/document_json.h"
#include "server/field_hints.h"
#include "server/layout_json.h"
#include "server/message_json.h"
#include "server/method_json.h"
#include "server/sampling_json.h"

namespace looseleaf {
namespace {

constexpr int kCompletionTokens = 16;  // OpenAI's default

// A string, or a list of token ids. OpenAI's list of prompts may have one element here.
Expected<TextOrTokens> read_text_or_tokens(const JsonField& field) {
  if (field.value().is_string()) return field.string();
  if (!field.value().is_array()) return field.wrong("a string or a list of token ids");
  const boost::json::array& list = field.value().get_array();
  const bool prompts = !list.empty() && (list[0].is_string() || list[0].is_array());
  if (!prompts) return field.token_ids();
  if (list.size() > 1) return unsupported_field(field.path(), "give one prompt a request");
  if (list[0].is_string()) return field.item(0).string();
  return field.item(0).token_ids();
}

bool is_empty(const std::optional<TextOrTokens>& text) {
  if (!text) return true;
  return std::visit([](const auto& value) { return value.empty(); }, *text);
}

// What is asked: exactly one of messages, prompt and question.
Status read_asked(ObjectReader& body, ParsedRequest& parsed, IgnoredFields& ignored) {
  const auto messages = body.take("messages");
  const auto prompt = body.take("prompt");
  const auto question = body.take("question");
  const auto prefix = body.take("prefix");
  const int given = (messages ? 1 : 0) + (prompt ? 1 : 0) + (question ? 1 : 0);
  if (given == 0) return field_error("messages", "is missing (or give prompt)");
  if (given > 1) {
    const JsonField& extra = question ? *question : *prompt;
    return field_error(extra.path(), "stands beside {}; give one of them",
                       messages ? "messages" : "prompt");
  }
  Request& request = parsed.request;
  parsed.chat = !prompt;
  if (prefix && parsed.chat) {
    return field_error("prefix", "is for completions; in chat the template writes the header");
  }
  if (messages) {
    LL_ASSIGN(request.messages, read_messages(*messages, ignored));
  } else if (question) {
    LL_ASSIGN(request.question, question->string());
    if (request.question.empty()) return field_error("question", "must not be empty");
  } else {
    LL_ASSIGN(request.prompt, read_text_or_tokens(*prompt));
    if (prefix) {
      LL_ASSIGN(request.prefix, read_text_or_tokens(*prefix));
    }
  }
  return {};
}

// The last user message is where `documents` go, unless its parts place documents themselves.
Status check_place_for_documents(const std::vector<Message>& messages) {
  const auto last = std::find_if(messages.rbegin(), messages.rend(),
                                 [](const Message& message) { return message.role == "user"; });
  if (last == messages.rend()) return field_error("documents", "need a user message to stand in");
  for (const ContentPart& part : last->content) {
    if (std::holds_alternative<Document>(part)) {
      return field_error("documents",
                         "the last user message places documents itself; give them there or here");
    }
  }
  return {};
}

Status read_documents(ObjectReader& body, ParsedRequest& parsed, IgnoredFields& ignored) {
  Request& request = parsed.request;
  if (const auto field = body.take("documents")) {
    LL_ASSIGN(request.documents, read_documents(*field, ignored));
  }
  if (!request.documents.empty() && !request.messages.empty()) {
    return check_place_for_documents(request.messages);
  }
  const bool nothing = request.documents.empty() && is_empty(request.prefix);
  if (!parsed.chat && nothing && is_empty(request.prompt)) {
    return field_error("prompt", "must not be empty");
  }
  return {};
}

Status read_prompt_options(ObjectReader& body, Request& request) {
  if (const auto field = body.take("method")) {
    LL_ASSIGN(MethodFields fields, read_method(*field));
    request.method = std::move(fields.method);
    request.targets = std::move(fields.targets);
  }
  if (const auto field = body.take("return")) {
    LL_ASSIGN(const size_t names, field->length());
    for (size_t i = 0; i < names; ++i) {
      LL_ASSIGN(const std::string name, field->item(i).string());
      if (name != "scores" && name != "targets")
        return field_error(field->item(i).path(), "must be scores or targets, not {}",
                           in_quotes(name));
      (name == "scores" ? request.return_scores : request.return_targets) = true;
    }
  }
  if (const auto field = body.take("layout")) {
    LL_ASSIGN(request.layout, read_layout(*field));
  }
  LL_RETURN_IF_ERROR(body.read("encoding_prefix", request.encoding_prefix));
  LL_RETURN_IF_ERROR(check_encoding_prefix(request.encoding_prefix));
  LL_RETURN_IF_ERROR(body.read("cache_salt", request.cache_salt));
  return {};
}

// max_tokens, and its newer name in chat. Beyond the context there is nothing to bound.
Status read_max_tokens(ObjectReader& body, const BodyDefaults& defaults, ParsedRequest& parsed) {
  int& max_tokens = parsed.request.max_tokens;
  max_tokens = defaults.max_tokens.value_or(parsed.chat ? kAllTokens : kCompletionTokens);
  constexpr int kLargest = std::numeric_limits<int>::max();
  const auto old_name = body.take("max_tokens");
  const auto new_name = body.take("max_completion_tokens");
  LL_RETURN_IF_ERROR(body.read("max_tokens", max_tokens, 1, kLargest));
  const int old_value = max_tokens;
  LL_RETURN_IF_ERROR(body.read("max_completion_tokens", max_tokens, 1, kLargest));
  if (old_name && new_name && old_value != max_tokens) {
    return field_error("max_tokens", "contradicts max_completion_tokens; give one of them");
  }
  max_tokens = std::min(max_tokens, kAllTokens);
  return {};
}

// Answers of one request: only one.
Status read_choices(ObjectReader& body) {
  for (const char* name : {"n", "best_of"}) {
    int count = 1;
    LL_RETURN_IF_ERROR(body.read(name, count, 1, std::numeric_limits<int>::max()));
    if (count != 1) return unsupported_field(name, "must be 1");
  }
  return {};
}

Status read_response_options(ObjectReader& body, ParsedRequest& parsed, IgnoredFields& ignored) {
  LL_RETURN_IF_ERROR(body.read("model", parsed.model));
  LL_RETURN_IF_ERROR(body.read("stream", parsed.stream));
  LL_RETURN_IF_ERROR(body.read("return_token_ids", parsed.return_token_ids));
  if (const auto field = body.take("stream_options")) {
    LL_ASSIGN(ObjectReader options, ObjectReader::open(*field));
    LL_RETURN_IF_ERROR(options.read("include_usage", parsed.stream_usage));
    ignored.add_unknown(options, options.path());
  }
  std::string routing_key;  // for proxies before us; one process has nothing to route
  return body.read("prompt_cache_key", routing_key);
}

}  // namespace

Status check_encoding_prefix(const std::string& name) {
  if (name == "none" || name == "bos" || name == "header") return {};
  return field_error("encoding_prefix", "must be none, bos or header, not {}", in_quotes(name));
}

Expected<ParsedRequest> parse_request(std::string_view text, const BodyDefaults& defaults) {
  LL_ASSIGN(const boost::json::value value, parse_json(text));
  LL_ASSIGN(ObjectReader body, ObjectReader::open(JsonField(value, "")));
  ParsedRequest parsed;
  parsed.request = defaults.request;
  IgnoredFields ignored;

  LL_RETURN_IF_ERROR(refuse_near_misses(body));
  LL_RETURN_IF_ERROR(refuse_unsupported(body));
  LL_RETURN_IF_ERROR(read_asked(body, parsed, ignored));
  LL_RETURN_IF_ERROR(read_documents(body, parsed, ignored));
  LL_RETURN_IF_ERROR(read_prompt_options(body, parsed.request));
  LL_RETURN_IF_ERROR(read_max_tokens(body, defaults, parsed));
  LL_RETURN_IF_ERROR(read_choices(body));
  LL_RETURN_IF_ERROR(read_sampling(body, parsed.request.sampling));
  LL_RETURN_IF_ERROR(read_stop(body, parsed.request.stop));
  LL_RETURN_IF_ERROR(read_logprobs(body, parsed.chat, parsed.request.logprobs));
  LL_RETURN_IF_ERROR(body.read("ignore_eos", parsed.request.ignore_eos));
  LL_RETURN_IF_ERROR(read_response_options(body, parsed, ignored));
  ignored.add_unknown(body, "");
  parsed.ignored = std::move(ignored).release();
  return parsed;
}

}  // namespace looseleaf

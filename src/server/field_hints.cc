#include "server/field_hints.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace looseleaf {
namespace {

namespace json = boost::json;

struct Hint {
  std::string_view name, meant;
};

// What other systems and hasty hands call our fields, without case, '-' and '_'.
constexpr Hint kHints[] = {
    {"document", "documents"},
    {"documents", "documents"},
    {"doc", "documents"},
    {"docs", "documents"},
    {"context", "documents"},
    {"contexts", "documents"},
    {"passages", "documents"},
    {"chunks", "documents"},
    {"message", "messages"},
    {"messages", "messages"},
    {"questions", "question"},
    {"query", "question"},
    {"prompts", "prompt"},
    {"method", "method"},
    {"methods", "method"},
    {"layout", "layout"},
    {"layouts", "layout"},
    {"encodingprefix", "encoding_prefix"},
    {"encodeprefix", "encoding_prefix"},
    {"prefixes", "prefix"},
    {"cachesalt", "cache_salt"},
    {"salt", "cache_salt"},
    {"ignoreeos", "ignore_eos"},
    {"returntokenids", "return_token_ids"},
    {"maxtokens", "max_tokens"},
    {"maxnewtokens", "max_tokens"},
    {"topk", "top_k"},
    {"topp", "top_p"},
    {"minp", "min_p"},
    {"repeatpenalty", "repetition_penalty"},
};

struct Unsupported {
  const char* name;
  const char* why;
};

constexpr Unsupported kUnsupported[] = {
    {"tools", "tools are not supported"},
    {"tool_choice", "tools are not supported"},
    {"functions", "functions are not supported"},
    {"function_call", "functions are not supported"},
    {"response_format", "only {\"type\": \"text\"} is supported"},
    {"structured_outputs", "constrained output is not supported"},
    {"guided_json", "constrained output is not supported"},
    {"guided_regex", "constrained output is not supported"},
    {"guided_choice", "constrained output is not supported"},
    {"guided_grammar", "constrained output is not supported"},
    {"json_schema", "constrained output is not supported"},
    {"grammar", "constrained output is not supported"},
    {"citations", "citations are not supported"},
    {"citation_options", "citations are not supported"},
    {"modalities", "only [\"text\"] is supported"},
    {"audio", "only text is supported"},
    {"web_search_options", "retrieval is the caller's job"},
    {"suffix", "text after the completion is not supported"},
    {"echo", "echo is not supported yet"},
    {"use_beam_search", "beam search is not supported"},
};

// Whether a value of a field above asks for nothing.
bool asks_nothing(std::string_view name, const json::value& value) {
  if (const json::array* list = value.if_array()) {
    if (name == "modalities") return *list == json::array{"text"};
    return list->empty();
  }
  if (const json::object* object = value.if_object()) {
    if (name == "response_format") return *object == json::object{{"type", "text"}};
    return object->empty();
  }
  if (const json::string* text = value.if_string()) {
    if (name == "tool_choice" || name == "function_call") return *text == "none" || *text == "auto";
    return text->empty();
  }
  return value.is_bool() && !value.get_bool();
}

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

Status refuse_unsupported(ObjectReader& body) {
  for (const Unsupported& field : kUnsupported) {
    const auto value = body.take(field.name);
    if (value && !asks_nothing(field.name, value->value())) {
      return unsupported_field(value->path(), field.why);
    }
  }
  return {};
}

Status refuse_near_misses(const ObjectReader& body) {
  for (const std::string& name : body.unknown()) {
    const auto hint = std::ranges::find(kHints, folded(name), &Hint::name);
    if (hint != std::end(kHints) && name != hint->meant) {
      return field_error(body.path_of(name), "no such field; did you mean {}?", hint->meant);
    }
  }
  return {};
}

}  // namespace looseleaf

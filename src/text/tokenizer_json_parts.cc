#include "text/tokenizer_json_parts.h"

#include <boost/json/array.hpp>

namespace looseleaf {
namespace {

// JSON's own depth limit bounds the recursion.
Status flatten(const JsonFields& component, std::string_view list_field,
               std::vector<JsonFields>& parts) {
  LL_ASSIGN(const std::string_view type, component.required_text("type"));
  if (type != "Sequence") {
    parts.push_back(component);
    return {};
  }
  LL_ASSIGN(const auto* list, component.list(list_field));
  if (list == nullptr) return refuse_part(component.where(), "a Sequence without its list");
  for (size_t i = 0; i < list->size(); ++i) {
    LL_ASSIGN(const auto part,
              JsonFields::of((*list)[i], fmt::format("{}[{}]", component.where(list_field), i)));
    LL_RETURN_IF_ERROR(flatten(part, list_field, parts));
  }
  return {};
}

}  // namespace

tl::unexpected<Error> refuse_part(const std::string& where, std::string_view what) {
  return error(ErrorCode::kUnsupported,
               "{}: {} is not supported; use the model as GGUF or with another tokenizer", where,
               what);
}

Expected<std::vector<JsonFields>> components(const JsonFields& tokenizer, std::string_view field,
                                             std::string_view list_field) {
  std::vector<JsonFields> parts;
  LL_ASSIGN(const auto component, tokenizer.object(field));
  if (component) LL_RETURN_IF_ERROR(flatten(*component, list_field, parts));
  return parts;
}

Expected<JsonPattern> read_pattern(const JsonFields& part) {
  LL_ASSIGN(const auto pattern, part.required_object("pattern"));
  LL_ASSIGN(const auto regex, pattern.text("Regex"));
  LL_ASSIGN(const auto literal, pattern.text("String"));
  JsonPattern result = {std::string(regex.value_or("")), std::string(literal.value_or(""))};
  if (result.regex.empty() == result.literal.empty())
    return refuse_part(part.where("pattern"), "neither Regex nor String");
  return result;
}

}  // namespace looseleaf

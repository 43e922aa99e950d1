#include "text/tokenizer_json_parts.h"

namespace looseleaf {
namespace {

// JSON's own depth limit bounds the recursion.
Status flatten(const ObjectReader& component, std::string_view list_field,
               std::vector<ObjectReader>& parts) {
  LL_ASSIGN(const std::string_view type, component.get<std::string_view>("type"));
  if (type != "Sequence") {
    parts.push_back(component);
    return {};
  }
  if (!component.member(list_field))
    return refuse_part(component.where(), "a Sequence without its list");
  LL_ASSIGN(const auto list, component.items(list_field));
  for (size_t i = 0; i < list.size(); ++i) {
    LL_ASSIGN(const auto part, ObjectReader::open(list[i]));
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

Expected<std::vector<ObjectReader>> components(const ObjectReader& tokenizer,
                                               std::string_view field,
                                               std::string_view list_field) {
  std::vector<ObjectReader> parts;
  LL_ASSIGN(const auto component, tokenizer.find<ObjectReader>(field));
  if (component) LL_RETURN_IF_ERROR(flatten(*component, list_field, parts));
  return parts;
}

Expected<JsonPattern> read_pattern(const ObjectReader& part) {
  LL_ASSIGN(const auto pattern, part.get<ObjectReader>("pattern"));
  LL_ASSIGN(const auto regex, pattern.find<std::string_view>("Regex"));
  LL_ASSIGN(const auto literal, pattern.find<std::string_view>("String"));
  JsonPattern result = {std::string(regex.value_or("")), std::string(literal.value_or(""))};
  if (result.regex.empty() == result.literal.empty())
    return refuse_part(part.where("pattern"), "neither Regex nor String");
  return result;
}

}  // namespace looseleaf

#include "text/tokenizer_json_pipeline.h"

#include <boost/json/array.hpp>
#include <vector>

#include "text/quote.h"
#include "text/split_patterns.h"
#include "text/split_regex.h"

namespace looseleaf {
namespace {

tl::unexpected<Error> refuse(const std::string& where, std::string_view what) {
  return error(ErrorCode::kUnsupported,
               "{}: {} is not supported; this version follows byte-level BPE tokenizers only",
               where, what);
}

// A component, or the components of a Sequence, nested ones too, in order. JSON's own depth limit
// bounds the recursion.
Status flatten(const JsonFields& component, std::string_view list_field,
               std::vector<JsonFields>& parts) {
  LL_ASSIGN(const std::string_view type, component.required_text("type"));
  if (type != "Sequence") {
    parts.push_back(component);
    return {};
  }
  LL_ASSIGN(const auto* list, component.list(list_field));
  if (list == nullptr) return refuse(component.where(), "a Sequence without its list");
  for (size_t i = 0; i < list->size(); ++i) {
    LL_ASSIGN(const auto part,
              JsonFields::of((*list)[i], fmt::format("{}[{}]", component.where(list_field), i)));
    LL_RETURN_IF_ERROR(flatten(part, list_field, parts));
  }
  return {};
}

Expected<std::vector<JsonFields>> components(const JsonFields& tokenizer, std::string_view field,
                                             std::string_view list_field) {
  std::vector<JsonFields> parts;
  LL_ASSIGN(const auto component, tokenizer.object(field));
  if (component) LL_RETURN_IF_ERROR(flatten(*component, list_field, parts));
  return parts;
}

Expected<std::string> split_pattern(const JsonFields& part) {
  LL_ASSIGN(const auto pattern, part.required_object("pattern"));
  LL_ASSIGN(const auto regex, pattern.text("Regex"));
  LL_ASSIGN(const auto literal, pattern.text("String"));
  LL_ASSIGN(const auto behavior, part.required_text("behavior"));
  LL_ASSIGN(const bool invert, part.boolean("invert", false));
  if (behavior != "Isolated") return refuse(part.where("behavior"), quote(behavior));
  // With Isolated, matches and gaps are pieces alike, so that inverting changes nothing.
  static_cast<void>(invert);
  if (regex) return std::string(*regex);
  if (literal && !literal->empty()) return escape_split_regex(*literal);
  return refuse(part.where("pattern"), "neither Regex nor String");
}

Status read_byte_level(const JsonFields& part, TokenizerSpec& spec) {
  LL_ASSIGN(const bool add_prefix_space, part.boolean("add_prefix_space", true));
  if (add_prefix_space) return refuse(part.where("add_prefix_space"), "true");
  LL_ASSIGN(const bool use_regex, part.boolean("use_regex", true));
  if (use_regex) spec.split_patterns.emplace_back(gpt2_split_pattern());
  return {};
}

Status read_pretokenizer(const JsonFields& tokenizer, TokenizerSpec& spec) {
  LL_ASSIGN(const auto parts, components(tokenizer, "pre_tokenizer", "pretokenizers"));
  bool byte_level = false;
  for (const JsonFields& part : parts) {
    LL_ASSIGN(const std::string_view type, part.required_text("type"));
    // Behind ByteLevel a component sees the spelling of bytes, where even digits hide in letters.
    if (byte_level) return refuse(part.where(), quote(type) + " behind ByteLevel");
    if (type == "ByteLevel") {
      LL_RETURN_IF_ERROR(read_byte_level(part, spec));
      byte_level = true;
    } else if (type == "Split") {
      LL_ASSIGN(auto pattern, split_pattern(part));
      spec.split_patterns.push_back(std::move(pattern));
    } else if (type == "Digits") {
      LL_ASSIGN(const bool individual, part.boolean("individual_digits", false));
      spec.split_patterns.emplace_back(individual ? R"(\p{N})" : R"(\p{N}+)");
    } else {
      return refuse(part.where("type"), quote(type));
    }
  }
  if (!byte_level)
    return refuse(tokenizer.where("pre_tokenizer"), "a pre-tokenizer without ByteLevel");
  return {};
}

}  // namespace

Status read_tokenizer_pipeline(const JsonFields& tokenizer, TokenizerSpec& spec) {
  LL_ASSIGN(const auto normalizers, components(tokenizer, "normalizer", "normalizers"));
  for (const JsonFields& part : normalizers) {
    LL_ASSIGN(const std::string_view type, part.required_text("type"));
    if (type != "NFC") return refuse(part.where("type"), quote(type));
    spec.nfc = true;
  }
  LL_RETURN_IF_ERROR(read_pretokenizer(tokenizer, spec));
  LL_ASSIGN(const auto decoders, components(tokenizer, "decoder", "decoders"));
  for (const JsonFields& part : decoders) {
    LL_ASSIGN(const std::string_view type, part.required_text("type"));
    if (type != "ByteLevel") return refuse(part.where("type"), quote(type));
  }
  return {};
}

Expected<std::string> leading_token(const JsonFields& tokenizer) {
  LL_ASSIGN(const auto parts, components(tokenizer, "post_processor", "processors"));
  std::string token;
  for (const JsonFields& part : parts) {
    LL_ASSIGN(const std::string_view type, part.required_text("type"));
    if (type == "ByteLevel") continue;  // moves offsets only
    if (type != "TemplateProcessing") return refuse(part.where("type"), quote(type));
    LL_ASSIGN(const auto* single, part.list("single"));
    const size_t count = single == nullptr ? 0 : single->size();
    for (size_t i = 0; i < count; ++i) {
      LL_ASSIGN(const auto item,
                JsonFields::of((*single)[i], fmt::format("{}[{}]", part.where("single"), i)));
      if (item.find("Sequence") != nullptr) continue;
      LL_ASSIGN(const auto special, item.required_object("SpecialToken"));
      LL_ASSIGN(const auto id, special.required_text("id"));
      // A prompt goes on behind its text: a token after it would be wrong there.
      if (i != 0 || count != 2 || !token.empty())
        return refuse(item.where(), "any token but one before the text");
      token = id;
    }
  }
  return token;
}

}  // namespace looseleaf

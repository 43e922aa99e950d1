#include "text/tokenizer_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <optional>

#include "base/json_parse.h"
#include "base/json_reader.h"
#include "text/quote.h"
#include "text/tokenizer_json_model.h"
#include "text/tokenizer_json_pipeline.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// A normalized token is looked for in normalized text, others in the text as it is. That is the
// same where no step can make, change or take a part of the token.
bool is_matched_alike(const std::vector<NormalizeStep>& steps, std::string_view content) {
  return std::all_of(steps.begin(), steps.end(), [&](const NormalizeStep& step) {
    if (step.kind == NormalizeStep::Kind::kNfc)
      return content.find_first_not_of(" \t\r\n") == std::string_view::npos;
    return step.kind == NormalizeStep::Kind::kReplace &&
           content.find_first_of(step.from) == std::string_view::npos &&
           content.find_first_of(step.to) == std::string_view::npos;
  });
}

Status read_added_token(const ObjectReader& token, int64_t id, TokenizerSpec& spec) {
  LL_ASSIGN(const auto content, token.get<std::string_view>("content"));
  LL_ASSIGN(const bool special, token.boolean("special", false));
  LL_ASSIGN(const bool normalized, token.boolean("normalized", !special));
  LL_ASSIGN(const bool before, token.boolean("lstrip", false));
  LL_ASSIGN(const bool behind, token.boolean("rstrip", false));
  LL_ASSIGN(const bool single_word, token.boolean("single_word", false));
  if (single_word)
    return error(ErrorCode::kUnsupported,
                 "{}: the added token {} depends on the words around it, which is not supported",
                 token.where("single_word"), quote(content));
  if (normalized && !is_matched_alike(spec.normalize, content))
    return error(ErrorCode::kUnsupported,
                 "{}: the added token {} is matched in normalized text, which is not supported",
                 token.where("normalized"), quote(content));
  LL_RETURN_IF_ERROR(place_token(spec, id, content,
                                 special ? TokenKind::kControl : TokenKind::kAdded, token.where()));
  spec.strips.resize(spec.tokens.size());
  spec.strips[static_cast<size_t>(id)] = before && behind ? TokenStrip::kBoth
                                         : before         ? TokenStrip::kBefore
                                         : behind         ? TokenStrip::kBehind
                                                          : TokenStrip::kNone;
  return {};
}

// tokenizer.json's list, and what only tokenizer_config.json has.
Status read_added_tokens(const ObjectReader& tokenizer, const std::optional<ObjectReader>& config,
                         TokenizerSpec& spec) {
  LL_ASSIGN(const auto list, tokenizer.items("added_tokens"));
  std::vector<int64_t> listed;
  for (size_t i = 0; i < list.size(); ++i) {
    LL_ASSIGN(const auto token, ObjectReader::open(list[i]));
    LL_ASSIGN(const int64_t id, token.get<int64_t>("id"));
    LL_RETURN_IF_ERROR(read_added_token(token, id, spec));
    listed.push_back(id);
  }
  if (!config) return {};
  LL_ASSIGN(const auto decoder, config->find<ObjectReader>("added_tokens_decoder"));
  if (!decoder) return {};
  std::sort(listed.begin(), listed.end());
  for (const auto& entry : decoder->object()) {
    const std::string_view key = entry.key();
    int64_t id = -1;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (code != std::errc() || end != key.data() + key.size())
      return error(ErrorCode::kCorrupt, "{}: {} is not a token id", decoder->where(), quote(key));
    LL_ASSIGN(const auto token, decoder->get<ObjectReader>(key));
    if (!std::binary_search(listed.begin(), listed.end(), id)) {
      LL_RETURN_IF_ERROR(read_added_token(token, id, spec));
      continue;
    }
    LL_ASSIGN(const auto content, token.get<std::string_view>("content"));
    if (content != spec.tokens[static_cast<size_t>(id)])
      return error(ErrorCode::kCorrupt, "{} is {} but tokenizer.json has {} there", token.where(),
                   quote(content), quote(spec.tokens[static_cast<size_t>(id)]));
  }
  return {};
}

// A token named as "text" or {"content": "text"}; -1: none.
Expected<int32_t> named_token(const ObjectReader& config, std::string_view field,
                              const TokenizerSpec& spec) {
  const auto named = config.member(field);
  if (!named) return -1;
  std::string_view text;
  if (named->value().is_object()) {
    LL_ASSIGN(const auto object, ObjectReader::open(*named));
    LL_ASSIGN(text, object.get<std::string_view>("content"));
  } else {
    LL_ASSIGN(text, named->text());
  }
  const int32_t id = find_token(spec, text);
  if (id < 0)
    return error(ErrorCode::kCorrupt, "{}: {} is not a token of tokenizer.json",
                 config.where(field), quote(text));
  return id;
}

// A string, or a list of named templates of which "default" is taken.
Status read_chat_template(const ObjectReader& config, TokenizerSpec& spec) {
  const auto field = config.member("chat_template");
  if (!field) return {};
  if (!field->value().is_array()) {
    LL_ASSIGN(spec.chat_template, field->string());
    return {};
  }
  LL_ASSIGN(const auto list, config.items("chat_template"));
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    LL_ASSIGN(const auto entry, ObjectReader::open(list[i]));
    LL_ASSIGN(const auto name, entry.get<std::string_view>("name"));
    LL_ASSIGN(const auto text, entry.get<std::string_view>("template"));
    if (name == "default") spec.chat_template = text;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", quote(name));
  }
  if (spec.chat_template.empty() && !names.empty())
    spec.chat_template_problem =
        fmt::format("{} has {}, and none is named 'default'", field->where(), names);
  return {};
}

bool adds_prefix(const std::vector<NormalizeStep>& steps) {
  using Kind = NormalizeStep::Kind;
  return std::any_of(steps.begin(), steps.end(), [](const NormalizeStep& step) {
    return step.kind >= Kind::kPrepend && step.kind <= Kind::kJoinWords;
  });
}

// What tokenizer.json's post-processor and tokenizer_config.json say of tokens around a text.
Status read_config(const ObjectReader& tokenizer, const std::optional<ObjectReader>& config,
                   TokenizerSpec& spec) {
  LL_ASSIGN(const std::string leading, leading_token(tokenizer));
  if (!leading.empty()) {
    spec.add_bos = true;
    spec.bos = find_token(spec, leading);
    if (spec.bos < 0)
      return error(ErrorCode::kCorrupt, "{}: {} is not a token", tokenizer.where("post_processor"),
                   quote(leading));
  }
  if (!config) return {};
  LL_ASSIGN(const bool add_eos, config->boolean("add_eos_token", false));
  if (add_eos)
    return error(ErrorCode::kUnsupported, "{}: true is not supported",
                 config->where("add_eos_token"));
  const bool prefixed = adds_prefix(spec.normalize);
  LL_ASSIGN(const bool add_prefix_space, config->boolean("add_prefix_space", prefixed));
  if (add_prefix_space != prefixed)
    return error(ErrorCode::kUnsupported, "{}: {} is not what tokenizer.json does; make them agree",
                 config->where("add_prefix_space"), add_prefix_space);
  LL_ASSIGN(const int32_t bos, named_token(*config, "bos_token", spec));
  if (spec.add_bos && bos >= 0 && bos != spec.bos)
    return error(ErrorCode::kUnsupported,
                 "{} is {} but tokenizer.json puts {} before a text; make them agree",
                 config->where("bos_token"), quote(spec.tokens[static_cast<size_t>(bos)]),
                 quote(leading));
  if (bos >= 0) spec.bos = bos;
  LL_ASSIGN(spec.add_bos, config->boolean("add_bos_token", spec.add_bos));
  LL_ASSIGN(spec.eos, named_token(*config, "eos_token", spec));
  return read_chat_template(*config, spec);
}

// generation_config.json's eos_token_id: none, one or a list.
Expected<std::vector<int32_t>> generation_ends(std::string_view text) {
  constexpr std::string_view kField = "eos_token_id";
  std::vector<int32_t> ids;
  if (text.empty()) return ids;
  LL_ASSIGN(const json::object document, parse_json_object(text, "generation_config.json"));
  const ObjectReader config(document, "generation_config.json");
  const auto field = config.member(kField);
  if (!field) return ids;
  const json::array one = {field->value()};
  for (const json::value& id : field->value().is_array() ? field->value().get_array() : one) {
    if (!id.is_int64() || id.get_int64() < 0 || id.get_int64() >= kMaxVocabulary)
      return error(ErrorCode::kCorrupt, "{} is neither a token id nor a list of them",
                   config.where(kField));
    ids.push_back(static_cast<int32_t>(id.get_int64()));
  }
  return ids;
}

}  // namespace

Expected<TokenizerSpec> tokenizer_spec_from_json(const TokenizerFiles& files) {
  LL_ASSIGN(const json::object document, parse_json_object(files.tokenizer, "tokenizer.json"));
  const ObjectReader tokenizer(document, "tokenizer.json");
  json::object config_document;
  std::optional<ObjectReader> config;
  if (!files.tokenizer_config.empty()) {
    LL_ASSIGN(config_document, parse_json_object(files.tokenizer_config, "tokenizer_config.json"));
    config = ObjectReader(config_document, "tokenizer_config.json");
  }
  LL_ASSIGN(auto ends, generation_ends(files.generation_config));

  // `truncation` and `padding` are what some script last used; a model run sets its own.
  TokenizerSpec spec;
  LL_RETURN_IF_ERROR(read_tokenizer_pipeline(tokenizer, spec));
  LL_ASSIGN(const auto model, tokenizer.get<ObjectReader>("model"));
  LL_RETURN_IF_ERROR(read_model(model, spec));
  LL_RETURN_IF_ERROR(read_added_tokens(tokenizer, config, spec));
  LL_RETURN_IF_ERROR(read_decoder(tokenizer, spec));
  if (spec.model == "unigram") spec.scores.resize(spec.tokens.size());
  if (std::all_of(spec.strips.begin(), spec.strips.end(),
                  [](TokenStrip strip) { return strip == TokenStrip::kNone; }))
    spec.strips.clear();
  else
    spec.strips.resize(spec.tokens.size());
  LL_RETURN_IF_ERROR(read_config(tokenizer, config, spec));
  if (!files.chat_template.empty()) {
    spec.chat_template = files.chat_template;
    spec.chat_template_problem.clear();
  }
  if (spec.eos < 0 && !ends.empty()) spec.eos = ends.front();
  spec.end_of_generation = end_of_generation_tokens(spec, std::move(ends));
  LL_RETURN_IF_ERROR(check_spec(spec));
  return spec;
}

}  // namespace looseleaf

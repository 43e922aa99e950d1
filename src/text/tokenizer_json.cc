#include "text/tokenizer_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <optional>

#include "text/json_fields.h"
#include "text/quote.h"
#include "text/tokenizer_json_pipeline.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// Far above any vocabulary: a wrong id must not make us allocate gigabytes.
constexpr int64_t kMaxVocabulary = 1 << 22;

// Puts `text` at `id`, growing the vocabulary with unused tokens.
Status place(TokenizerSpec& spec, int64_t id, std::string_view text, TokenKind kind,
             const std::string& where) {
  if (id < 0 || id >= kMaxVocabulary)
    return error(ErrorCode::kCorrupt, "{}: {} has the id {}; fetch the file again", where,
                 quote(text), id);
  const auto index = static_cast<size_t>(id);
  if (index >= spec.tokens.size()) {
    spec.tokens.resize(index + 1);
    spec.kinds.resize(index + 1, TokenKind::kUnused);
  }
  if (spec.kinds[index] != TokenKind::kUnused && spec.tokens[index] != text)
    return error(ErrorCode::kCorrupt, "{}: id {} is both {} and {}; fetch the file again", where,
                 id, quote(spec.tokens[index]), quote(text));
  spec.tokens[index] = text;
  spec.kinds[index] = kind;
  return {};
}

Status read_merges(const JsonFields& model, TokenizerSpec& spec) {
  LL_ASSIGN(const auto* merges, model.list("merges"));
  if (merges == nullptr)
    return error(ErrorCode::kCorrupt, "{} is missing; fetch the file again", model.where("merges"));
  spec.merges.reserve(merges->size());
  for (size_t i = 0; i < merges->size(); ++i) {
    const json::value& merge = (*merges)[i];
    if (const json::string* line = merge.if_string()) {
      const std::string_view text = *line;
      const size_t space = text.find(' ');
      if (space != std::string_view::npos && text.find(' ', space + 1) == std::string_view::npos) {
        spec.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
        continue;
      }
    } else if (const json::array* pair = merge.if_array(); pair != nullptr && pair->size() == 2 &&
                                                           (*pair)[0].is_string() &&
                                                           (*pair)[1].is_string()) {
      spec.merges.emplace_back(std::string_view((*pair)[0].get_string()),
                               std::string_view((*pair)[1].get_string()));
      continue;
    }
    return error(ErrorCode::kCorrupt, "{}[{}] is neither \"a b\" nor [\"a\", \"b\"]",
                 model.where("merges"), i);
  }
  return {};
}

Status read_model(const JsonFields& model, TokenizerSpec& spec) {
  const auto refuse = [&](std::string_view field, std::string_view value) {
    return error(ErrorCode::kUnsupported,
                 "{}: {} is not supported; this version follows byte-level BPE tokenizers only",
                 model.where(field), value);
  };
  LL_ASSIGN(const auto type, model.text("type"));
  if (type && *type != "BPE") return refuse("type", quote(*type));
  for (const std::string_view field : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    LL_ASSIGN(const auto value, model.text(field));
    if (value && !value->empty()) return refuse(field, quote(*value));
  }
  if (const json::value* dropout = model.find("dropout");
      dropout != nullptr && !(dropout->is_number() && dropout->to_number<double>() == 0))
    return refuse("dropout", "a random choice of merges");
  LL_ASSIGN(const bool byte_fallback, model.boolean("byte_fallback", false));
  if (byte_fallback) return refuse("byte_fallback", "true");
  LL_ASSIGN(spec.ignore_merges, model.boolean("ignore_merges", false));

  LL_ASSIGN(const auto vocab, model.required_object("vocab"));
  spec.tokens.reserve(vocab.json().size());
  for (const auto& [text, id] : vocab.json()) {
    if (!id.is_int64())
      return error(ErrorCode::kCorrupt, "{}: the id of {} is not an integer", vocab.where(),
                   quote(text));
    LL_RETURN_IF_ERROR(place(spec, id.get_int64(), text, TokenKind::kNormal, vocab.where()));
  }
  return read_merges(model, spec);
}

Status read_added_token(const JsonFields& token, int64_t id, TokenizerSpec& spec) {
  LL_ASSIGN(const auto content, token.required_text("content"));
  LL_ASSIGN(const bool special, token.boolean("special", false));
  LL_ASSIGN(const bool normalized, token.boolean("normalized", !special));
  for (const std::string_view flag : {"lstrip", "rstrip", "single_word"}) {
    LL_ASSIGN(const bool set, token.boolean(flag, false));
    if (set)
      return error(ErrorCode::kUnsupported,
                   "{}: the added token {} changes the text around it, which is not supported",
                   token.where(flag), quote(content));
  }
  // A normalized token is looked for in normalized text; without normalizer that is the text.
  if (normalized && spec.nfc)
    return error(ErrorCode::kUnsupported,
                 "{}: the added token {} is matched in normalized text, which is not supported",
                 token.where("normalized"), quote(content));
  return place(spec, id, content, special ? TokenKind::kControl : TokenKind::kAdded, token.where());
}

// tokenizer.json's list, and what only tokenizer_config.json has.
Status read_added_tokens(const JsonFields& tokenizer, const std::optional<JsonFields>& config,
                         TokenizerSpec& spec) {
  LL_ASSIGN(const auto* list, tokenizer.list("added_tokens"));
  const size_t count = list == nullptr ? 0 : list->size();
  std::vector<int64_t> listed;
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(
        const auto token,
        JsonFields::of((*list)[i], fmt::format("{}[{}]", tokenizer.where("added_tokens"), i)));
    LL_ASSIGN(const int64_t id, token.required_integer("id"));
    LL_RETURN_IF_ERROR(read_added_token(token, id, spec));
    listed.push_back(id);
  }
  if (!config) return {};
  LL_ASSIGN(const auto decoder, config->object("added_tokens_decoder"));
  if (!decoder) return {};
  std::sort(listed.begin(), listed.end());
  for (const auto& [key, value] : decoder->json()) {
    int64_t id = -1;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (code != std::errc() || end != key.data() + key.size())
      return error(ErrorCode::kCorrupt, "{}: {} is not a token id", decoder->where(), quote(key));
    LL_ASSIGN(const auto token, JsonFields::of(value, decoder->where(key)));
    if (!std::binary_search(listed.begin(), listed.end(), id)) {
      LL_RETURN_IF_ERROR(read_added_token(token, id, spec));
      continue;
    }
    LL_ASSIGN(const auto content, token.required_text("content"));
    if (content != spec.tokens[static_cast<size_t>(id)])
      return error(ErrorCode::kCorrupt, "{} is {} but tokenizer.json has {} there", token.where(),
                   quote(content), quote(spec.tokens[static_cast<size_t>(id)]));
  }
  return {};
}

int32_t find_token(const TokenizerSpec& spec, std::string_view text) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != TokenKind::kUnused && spec.tokens[id] == text)
      return static_cast<int32_t>(id);
  }
  return -1;
}

// A token named as "text" or {"content": "text"}; -1: none.
Expected<int32_t> named_token(const JsonFields& config, std::string_view field,
                              const TokenizerSpec& spec) {
  const json::value* value = config.find(field);
  if (value == nullptr) return -1;
  std::string_view text;
  if (value->is_object()) {
    LL_ASSIGN(const auto object, config.required_object(field));
    LL_ASSIGN(text, object.required_text("content"));
  } else {
    LL_ASSIGN(text, config.required_text(field));
  }
  const int32_t id = find_token(spec, text);
  if (id < 0)
    return error(ErrorCode::kCorrupt, "{}: {} is not a token of tokenizer.json",
                 config.where(field), quote(text));
  return id;
}

// A string, or a list of named templates of which "default" is taken.
Expected<std::string> chat_template(const JsonFields& config) {
  const json::value* value = config.find("chat_template");
  if (value == nullptr || !value->is_array()) {
    LL_ASSIGN(const auto text, config.text("chat_template"));
    return std::string(text.value_or(""));
  }
  for (size_t i = 0; i < value->get_array().size(); ++i) {
    LL_ASSIGN(const auto entry,
              JsonFields::of(value->get_array()[i],
                             fmt::format("{}[{}]", config.where("chat_template"), i)));
    LL_ASSIGN(const auto name, entry.required_text("name"));
    LL_ASSIGN(const auto text, entry.required_text("template"));
    if (name == "default") return std::string(text);
  }
  return std::string();
}

// What tokenizer.json's post-processor and tokenizer_config.json say of tokens around a text.
Status read_config(const JsonFields& tokenizer, const std::optional<JsonFields>& config,
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
  for (const std::string_view field : {"add_eos_token", "add_prefix_space"}) {
    LL_ASSIGN(const bool set, config->boolean(field, false));
    if (set)
      return error(ErrorCode::kUnsupported, "{}: true is not supported", config->where(field));
  }
  LL_ASSIGN(const int32_t bos, named_token(*config, "bos_token", spec));
  if (spec.add_bos && bos >= 0 && bos != spec.bos)
    return error(ErrorCode::kUnsupported,
                 "{} is {} but tokenizer.json puts {} before a text; make them agree",
                 config->where("bos_token"), quote(spec.tokens[static_cast<size_t>(bos)]),
                 quote(leading));
  if (bos >= 0) spec.bos = bos;
  LL_ASSIGN(spec.add_bos, config->boolean("add_bos_token", spec.add_bos));
  LL_ASSIGN(spec.eos, named_token(*config, "eos_token", spec));
  LL_ASSIGN(spec.chat_template, chat_template(*config));
  return {};
}

// generation_config.json's eos_token_id: none, one or a list.
Expected<std::vector<int32_t>> generation_ends(std::string_view text) {
  constexpr std::string_view kField = "eos_token_id";
  std::vector<int32_t> ids;
  if (text.empty()) return ids;
  LL_ASSIGN(const json::value document, parse_json(text, "generation_config.json"));
  LL_ASSIGN(const auto config, JsonFields::of(document, "generation_config.json"));
  const json::value* value = config.find(kField);
  if (value == nullptr) return ids;
  const json::array one = {*value};
  for (const json::value& id : value->is_array() ? value->get_array() : one) {
    if (!id.is_int64() || id.get_int64() < 0 || id.get_int64() >= kMaxVocabulary)
      return error(ErrorCode::kCorrupt, "{} is neither a token id nor a list of them",
                   config.where(kField));
    ids.push_back(static_cast<int32_t>(id.get_int64()));
  }
  return ids;
}

}  // namespace

Expected<TokenizerSpec> tokenizer_spec_from_json(const TokenizerFiles& files) {
  LL_ASSIGN(const json::value document, parse_json(files.tokenizer, "tokenizer.json"));
  LL_ASSIGN(const auto tokenizer, JsonFields::of(document, "tokenizer.json"));
  json::value config_document;
  std::optional<JsonFields> config;
  if (!files.tokenizer_config.empty()) {
    LL_ASSIGN(config_document, parse_json(files.tokenizer_config, "tokenizer_config.json"));
    LL_ASSIGN(config, JsonFields::of(config_document, "tokenizer_config.json"));
  }
  LL_ASSIGN(auto ends, generation_ends(files.generation_config));

  // `truncation` and `padding` are what some script last used; a model run sets its own.
  TokenizerSpec spec;
  spec.model = "bpe";
  LL_RETURN_IF_ERROR(read_tokenizer_pipeline(tokenizer, spec));
  LL_ASSIGN(const auto model, tokenizer.required_object("model"));
  LL_RETURN_IF_ERROR(read_model(model, spec));
  LL_RETURN_IF_ERROR(read_added_tokens(tokenizer, config, spec));
  LL_RETURN_IF_ERROR(read_config(tokenizer, config, spec));
  if (!files.chat_template.empty()) spec.chat_template = files.chat_template;
  if (spec.eos < 0 && !ends.empty()) spec.eos = ends.front();
  spec.end_of_generation = end_of_generation_tokens(spec, std::move(ends));
  LL_RETURN_IF_ERROR(check_spec(spec));
  return spec;
}

}  // namespace looseleaf

#include "text/tokenizer_json_model.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <limits>

#include "text/byte_fallback.h"
#include "text/quote.h"
#include "text/tokenizer_json_parts.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// An unknown character costs so much more than the worst token: SentencePiece's kUnkPenalty.
constexpr double kUnknownPenalty = 10;

Status read_merges(const ObjectReader& model, TokenizerSpec& spec) {
  LL_ASSIGN(const auto* merges, model.get<const json::array*>("merges"));
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

TokenKind kind_of(std::string_view text, bool byte_fallback) {
  return byte_fallback && read_byte_token(text) ? TokenKind::kByte : TokenKind::kNormal;
}

Status read_bpe(const ObjectReader& model, TokenizerSpec& spec) {
  for (const std::string_view field : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    LL_ASSIGN(const auto value, model.find<std::string_view>(field));
    if (value && !value->empty()) return refuse_part(model.where(field), quote(*value));
  }
  if (const auto dropout = model.member("dropout"); dropout && dropout->number() != 0.0)
    return refuse_part(model.where("dropout"), "a random choice of merges");
  const bool byte_level = spec.model == "bpe";
  LL_ASSIGN(const bool byte_fallback, model.boolean("byte_fallback", false));
  if (byte_level && byte_fallback)
    return refuse_part(model.where("byte_fallback"), "true with ByteLevel");
  LL_ASSIGN(spec.ignore_merges, model.boolean("ignore_merges", false));
  LL_ASSIGN(spec.fuse_unk, model.boolean("fuse_unk", false));

  LL_ASSIGN(const auto vocab, model.get<ObjectReader>("vocab"));
  spec.tokens.reserve(vocab.object().size());
  for (const auto& [text, id] : vocab.object()) {
    if (!id.is_int64())
      return error(ErrorCode::kCorrupt, "{}: the id of {} is not an integer", vocab.where(),
                   quote(text));
    LL_RETURN_IF_ERROR(
        place_token(spec, id.get_int64(), text, kind_of(text, byte_fallback), vocab.where()));
  }
  LL_RETURN_IF_ERROR(read_merges(model, spec));
  if (byte_level) return {};  // spells everything
  LL_ASSIGN(const auto unk, model.find<std::string_view>("unk_token"));
  if (unk) {
    spec.unk = find_token(spec, *unk);
    if (spec.unk < 0)
      return error(ErrorCode::kCorrupt, "{}: {} is not a token", model.where("unk_token"),
                   quote(*unk));
  } else if (!ByteFallback(spec).spells_everything()) {
    return refuse_part(model.where(),
                       "a model without ByteLevel, byte_fallback or unk_token, which drops "
                       "characters,");
  }
  return {};
}

Status read_unigram(const ObjectReader& model, TokenizerSpec& spec) {
  if (spec.model == "bpe") return refuse_part(model.where("type"), "Unigram behind ByteLevel");
  spec.model = "unigram";
  spec.fuse_unk = true;
  LL_ASSIGN(const bool byte_fallback, model.boolean("byte_fallback", false));
  LL_ASSIGN(const auto* vocab, model.get<const json::array*>("vocab"));
  double worst = std::numeric_limits<double>::max();
  for (size_t id = 0; id < vocab->size(); ++id) {
    const json::array* entry = (*vocab)[id].if_array();
    if (entry == nullptr || entry->size() != 2 || !(*entry)[0].is_string() ||
        !(*entry)[1].is_number())
      return error(ErrorCode::kCorrupt, "{}[{}] is not [\"text\", score]", model.where("vocab"),
                   id);
    const std::string_view text = (*entry)[0].get_string();
    spec.scores.push_back((*entry)[1].to_number<double>());
    worst = std::min(worst, spec.scores.back());
    LL_RETURN_IF_ERROR(place_token(spec, static_cast<int64_t>(id), text,
                                   kind_of(text, byte_fallback), model.where("vocab")));
  }
  spec.unk_score = worst - kUnknownPenalty;
  if (!model.member("unk_id")) return {};
  LL_ASSIGN(const int64_t unk, model.get<int64_t>("unk_id"));
  if (unk < 0 || static_cast<uint64_t>(unk) >= vocab->size())
    return error(ErrorCode::kCorrupt, "{} is {}, outside the vocabulary of {}",
                 model.where("unk_id"), unk, vocab->size());
  spec.unk = static_cast<int32_t>(unk);
  return {};
}

}  // namespace

Status place_token(TokenizerSpec& spec, int64_t id, std::string_view text, TokenKind kind,
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

int32_t find_token(const TokenizerSpec& spec, std::string_view text) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != TokenKind::kUnused && spec.tokens[id] == text)
      return static_cast<int32_t>(id);
  }
  return -1;
}

Status read_model(const ObjectReader& model, TokenizerSpec& spec) {
  LL_ASSIGN(const auto type, model.find<std::string_view>("type"));
  if (!type || *type == "BPE")
    LL_RETURN_IF_ERROR(read_bpe(model, spec));
  else if (*type == "Unigram")
    LL_RETURN_IF_ERROR(read_unigram(model, spec));
  else
    return refuse_part(model.where("type"), quote(*type));
  // Text must not lead to it by being its name.
  if (spec.unk >= 0) spec.kinds[static_cast<size_t>(spec.unk)] = TokenKind::kControl;
  return {};
}

}  // namespace looseleaf

#include "text/char_bpe.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/bpe_merges.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Real ones stay below 200 bytes. Every way to cut a token in two is looked at.
constexpr size_t kMaxTokenBytes = 1024;

std::string_view first_character(std::string_view text) {
  return text.substr(0, static_cast<size_t>(utf8_length(text)));
}

}  // namespace

Expected<CharBpe> CharBpe::create(const TokenizerSpec& spec) {
  CharBpe result(spec);
  result.first_tokenless_ = static_cast<int32_t>(spec.tokens.size());
  if (spec.unk < 0 && !result.bytes_.spells_everything())
    return error(ErrorCode::kCorrupt,
                 "tokenizer: neither 256 byte tokens nor an unknown token for characters outside "
                 "the vocabulary; convert the model again");
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string& token = spec.tokens[id];
    if (spec.merges_text(id) && utf8_length(token) == static_cast<int>(token.size()) &&
        !token.empty())
      result.characters_.emplace(token, static_cast<int32_t>(id));
  }
  if (spec.model == "spm") {
    LL_RETURN_IF_ERROR(result.add_scored(spec));
    return result;
  }
  boost::unordered_flat_map<std::string_view, int32_t> ids;
  ids.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.merges_text(id) || spec.kinds[id] == TokenKind::kByte)
      ids.emplace(spec.tokens[id], static_cast<int32_t>(id));
  }
  const auto find = [&](std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? -1 : found->second;
  };
  LL_RETURN_IF_ERROR(add_merges(spec, find, result.merges_));
  return result;
}

Status CharBpe::add_scored(const TokenizerSpec& spec) {
  // Added tokens are cut out of the text before: nothing merges into them.
  boost::unordered_flat_map<std::string_view, int32_t> ids;
  ids.reserve(spec.tokens.size());
  std::vector<int32_t> order;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string& token = spec.tokens[id];
    const bool unused = spec.kinds[id] == TokenKind::kUnused && !token.empty();
    if (spec.kinds[id] != TokenKind::kNormal && !unused) continue;
    if (token.size() > kMaxTokenBytes)
      return error(ErrorCode::kUnsupported,
                   "tokenizer: token {} has {} bytes, more than the {} that are supported", id,
                   token.size(), kMaxTokenBytes);
    if (find_invalid_utf8(token))
      return error(ErrorCode::kCorrupt,
                   "tokenizer: token {} is not UTF-8: {}; convert the model again", id,
                   quote(token));
    order.push_back(static_cast<int32_t>(id));
    if (unused) continue;
    ids.emplace(token, static_cast<int32_t>(id));
    for (std::string_view rest = token; !rest.empty();) {
      const std::string_view character = first_character(rest);
      rest.remove_prefix(character.size());
      const auto next = first_tokenless_ + static_cast<int32_t>(tokenless_.size());
      if (characters_.emplace(character, next).second) tokenless_.emplace_back(character);
    }
  }
  const auto find = [&](std::string_view text) {
    if (const auto found = ids.find(text); found != ids.end()) return found->second;
    if (text.size() > 4) return -1;
    const auto found = characters_.find(std::string(text));
    return found == characters_.end() ? -1 : found->second;
  };
  const auto score = [&](int32_t id) { return spec.scores[static_cast<size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return score(a) > score(b); });
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && score(order[i]) != score(order[i - 1])) ++rank;
    const auto id = static_cast<size_t>(order[i]);
    const std::string_view token = spec.tokens[id];
    for (size_t cut = 1; cut < token.size(); ++cut) {
      if ((token[cut] & 0xC0) == 0x80) continue;
      const int32_t left = find(token.substr(0, cut));
      const int32_t right = left < 0 ? -1 : find(token.substr(cut));
      if (right < 0) continue;
      if (spec.kinds[id] == TokenKind::kUnused)
        return error(ErrorCode::kUnsupported,
                     "tokenizer: token {} ({}) is unused but text leads to it, which is not "
                     "supported",
                     id, quote(token));
      merges_.add(left, right, order[i], rank);
    }
  }
  return {};
}

void CharBpe::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  auto& symbols = scratch.merges.ids;
  symbols.clear();
  std::string key;
  while (!piece.empty()) {
    const std::string_view character = first_character(piece);
    piece.remove_prefix(character.size());
    const auto found = characters_.find(key.assign(character));
    if (found != characters_.end())
      symbols.push_back(found->second);
    else if (!bytes_.append(character, symbols))
      symbols.push_back(unk_);
  }
  merges_.apply(scratch.merges);

  const size_t begin = ids.size();
  for (const int32_t symbol : symbols) {
    const bool is_token = symbol < first_tokenless_;
    if (is_token && symbol != unk_) {
      ids.push_back(symbol);
      continue;
    }
    if (!is_token && bytes_.append(tokenless_[static_cast<size_t>(symbol - first_tokenless_)], ids))
      continue;
    if (!fuse_unk_ || ids.size() == begin || ids.back() != unk_) ids.push_back(unk_);
  }
}

}  // namespace looseleaf

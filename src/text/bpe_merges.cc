#include "text/bpe_merges.h"

#include <algorithm>
#include <limits>

#include "text/byte_alphabet.h"
#include "text/quote.h"

namespace looseleaf {

Status add_merges(const TokenizerSpec& spec, const std::function<int32_t(std::string_view)>& find,
                  MergeTable& table) {
  if (spec.merges.size() >= std::numeric_limits<uint32_t>::max())
    return error(ErrorCode::kCorrupt, "tokenizer: {} merges", spec.merges.size());
  table.reserve(spec.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto& [left, right] = spec.merges[rank];
    joined.assign(left).append(right);
    const int32_t left_id = find(left), right_id = find(right), result = find(joined);
    if (left_id < 0 || right_id < 0 || result < 0) {
      const std::string& missing = left_id < 0 ? left : right_id < 0 ? right : joined;
      return error(ErrorCode::kCorrupt,
                   "tokenizer: merge {} ({} and {}): {} is not a normal token of the vocabulary; "
                   "convert the model again",
                   rank, quote(left), quote(right), quote(missing));
    }
    if (const auto first = table.add(left_id, right_id, result, static_cast<uint32_t>(rank)))
      return error(ErrorCode::kCorrupt,
                   "tokenizer: merge {} ({} and {}) repeats merge {}; convert the model again",
                   rank, quote(left), quote(right), *first);
  }
  return {};
}

Expected<BpeMerges> BpeMerges::create(const TokenizerSpec& spec) {
  // Never control tokens: text must not merge into one.
  boost::unordered_flat_map<std::string_view, int32_t> ids;
  ids.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.merges_text(id)) ids.emplace(spec.tokens[id], static_cast<int32_t>(id));
  }
  const auto find = [&](std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? -1 : found->second;
  };

  BpeMerges result;
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t id = find(spell_byte(static_cast<uint8_t>(byte)));
    result.byte_ids_[static_cast<size_t>(byte)] = id;
    if (id < 0 && (byte == '\n' || (byte >= 0x20 && byte < 0x7F)))
      return error(
          ErrorCode::kCorrupt,
          "tokenizer: the vocabulary has no token for the byte 0x{:02X} (spelled {}); it is "
          "cut or not a byte-level one",
          byte, quote(spell_byte(static_cast<uint8_t>(byte))));
  }
  LL_RETURN_IF_ERROR(add_merges(spec, find, result.merges_));
  return result;
}

std::optional<size_t> BpeMerges::find_unknown_byte(std::string_view text) const {
  const auto found = std::find_if(text.begin(), text.end(), [&](char byte) {
    return byte_ids_[static_cast<uint8_t>(byte)] < 0;
  });
  if (found == text.end()) return std::nullopt;
  return static_cast<size_t>(found - text.begin());
}

void BpeMerges::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  auto& symbols = scratch.merges.ids;
  symbols.resize(piece.size());
  std::transform(piece.begin(), piece.end(), symbols.begin(),
                 [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)]; });
  merges_.apply(scratch.merges);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

}  // namespace looseleaf

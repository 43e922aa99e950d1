#include "text/bpe.h"

#include <limits>

#include "base/utf8.h"
#include "text/byte_alphabet.h"
#include "text/marked_string.h"
#include "text/nfc.h"

namespace looseleaf {

struct BpeTokenizer::Encoding {
  std::string_view text;
  std::vector<std::string_view> pieces;
  BpeMerges::Scratch scratch;
  std::vector<int32_t> ids;
};

Expected<std::unique_ptr<const Tokenizer>> BpeTokenizer::create(TokenizerSpec spec) {
  for (size_t id = 0; id < spec.kinds.size(); ++id) {
    if (spec.kinds[id] == TokenKind::kByte)
      return error(ErrorCode::kUnsupported,
                   "tokenizer: token {} is a byte token, which a byte-level BPE does not have", id);
  }
  LL_ASSIGN(auto pretokenizer, Pretokenizer::create(spec.split_patterns));
  LL_ASSIGN(auto merges, BpeMerges::create(spec));
  return std::unique_ptr<const Tokenizer>(
      new BpeTokenizer(std::move(spec), std::move(pretokenizer), std::move(merges)));
}

BpeTokenizer::BpeTokenizer(TokenizerSpec spec, Pretokenizer pretokenizer, BpeMerges merges)
    : spec_(std::move(spec)),
      pretokenizer_(std::move(pretokenizer)),
      merges_(std::move(merges)),
      special_tokens_(spec_) {
  std::vector<int32_t> reachable;
  bytes_offsets_.reserve(spec_.tokens.size() + 1);
  bytes_offsets_.push_back(0);
  for (size_t id = 0; id < spec_.tokens.size(); ++id) {
    const bool normal = spec_.kinds[id] == TokenKind::kNormal;
    // Some vocabularies list plain text as normal tokens, which no text leads to.
    const auto bytes = normal ? unspell_bytes(spec_.tokens[id]) : std::nullopt;
    if (bytes) reachable.push_back(static_cast<int32_t>(id));
    bytes_ += bytes ? *bytes : spec_.tokens[id];
    bytes_offsets_.push_back(bytes_.size());
  }
  if (!spec_.ignore_merges) return;
  for (const int32_t id : reachable) whole_.emplace(this->bytes(id), id);
}

Expected<std::vector<int32_t>> BpeTokenizer::encode(std::string_view text) const {
  return encode(MarkedString(text, Origin::kData));
}

Expected<std::vector<int32_t>> BpeTokenizer::encode(const MarkedString& marked) const {
  Encoding encoding;
  encoding.text = marked.text();
  const std::string_view text = encoding.text;
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return error(ErrorCode::kInvalidArgument, "text of {} bytes: split it below 2 GiB",
                 text.size());
  if (const auto offset = find_invalid_utf8(text))
    return error(ErrorCode::kInvalidArgument,
                 "text is not UTF-8: byte 0x{:02X} at offset {}; convert it to UTF-8",
                 static_cast<uint8_t>(text[*offset]), *offset);

  size_t plain = 0;  // text from here on is not encoded yet
  size_t at = 0;
  for (const MarkedString::Range& range : marked.ranges()) {
    while (at < range.end) {
      const size_t control_bytes = range.origin == Origin::kTemplate ? range.end - at : 0;
      const auto match = special_tokens_.longest(text.substr(at), control_bytes);
      if (!match) {
        ++at;
        continue;
      }
      LL_RETURN_IF_ERROR(encode_plain(encoding, plain, at));
      encoding.ids.push_back(match->id);
      at += match->size;
      plain = at;
    }
  }
  LL_RETURN_IF_ERROR(encode_plain(encoding, plain, text.size()));
  return std::move(encoding.ids);
}

Status BpeTokenizer::encode_plain(Encoding& encoding, size_t from, size_t to) const {
  std::string_view text = encoding.text.substr(from, to - from);
  std::string normalized;
  if (spec_.nfc && !is_surely_nfc(text)) {
    normalized = to_nfc(text);
    text = normalized;
  }
  if (const auto at = merges_.find_unknown_byte(text))
    return error(
        ErrorCode::kInvalidArgument,
        "text has the byte 0x{:02X} at offset {}{}, for which this model's vocabulary has no "
        "token; remove that character",
        static_cast<uint8_t>(text[*at]), from + *at,
        normalized.empty() ? "" : " of its normal form C");
  encoding.pieces.clear();
  LL_RETURN_IF_ERROR(pretokenizer_.split(text, encoding.pieces));
  for (const std::string_view piece : encoding.pieces) {
    const auto found = whole_.find(piece);
    if (found != whole_.end())
      encoding.ids.push_back(found->second);
    else
      merges_.encode(piece, encoding.scratch, encoding.ids);
  }
  return {};
}

std::string_view BpeTokenizer::bytes(int32_t id) const {
  const auto index = static_cast<size_t>(id);
  return std::string_view(bytes_).substr(bytes_offsets_[index],
                                         bytes_offsets_[index + 1] - bytes_offsets_[index]);
}

std::optional<int32_t> BpeTokenizer::special(std::string_view text) const {
  return special_tokens_.find(text);
}

}  // namespace looseleaf

#include "text/pipeline.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "text/bpe_merges.h"
#include "text/byte_alphabet.h"
#include "text/char_bpe.h"
#include "text/marked_string.h"
#include "text/quote.h"
#include "text/unigram.h"
#include "text/white_space.h"

namespace looseleaf {
namespace {

template <typename Model>
Expected<std::unique_ptr<const SubwordModel>> create_model(const TokenizerSpec& spec) {
  LL_ASSIGN(auto model, Model::create(spec));
  return std::make_unique<const Model>(std::move(model));
}

Expected<std::unique_ptr<const SubwordModel>> create_model(const TokenizerSpec& spec) {
  const auto byte = std::find(spec.kinds.begin(), spec.kinds.end(), TokenKind::kByte);
  if (spec.model == "bpe" && byte != spec.kinds.end())
    return error(ErrorCode::kUnsupported,
                 "tokenizer: token {} is a byte token, which a byte-level BPE does not have",
                 byte - spec.kinds.begin());
  if (spec.model == "bpe") return create_model<BpeMerges>(spec);
  if (spec.model == "char-bpe" || spec.model == "spm") return create_model<CharBpe>(spec);
  if (spec.model == "unigram") return create_model<Unigram>(spec);
  return error(ErrorCode::kUnsupported,
               "tokenizer model {} is not supported: this version has BPE and Unigram",
               quote(spec.model));
}

bool strips_before(TokenStrip strip) {
  return strip == TokenStrip::kBefore || strip == TokenStrip::kBoth;
}
bool strips_behind(TokenStrip strip) {
  return strip == TokenStrip::kBehind || strip == TokenStrip::kBoth;
}

// The bytes that a token stands for.
std::string token_bytes(const TokenizerSpec& spec, size_t id) {
  const std::string& token = spec.tokens[id];
  if (spec.kinds[id] == TokenKind::kByte)
    return std::string(1, static_cast<char>(*read_byte_token(token)));
  if (spec.model == "bpe") {
    // Some vocabularies list plain text as normal tokens, which no text leads to.
    if (spec.kinds[id] == TokenKind::kNormal) return unspell_bytes(token).value_or(token);
    return token;
  }
  if (spec.space_mark.empty() || !spec.merges_text(id)) return token;
  std::string bytes;
  std::string_view rest = token;
  for (size_t at; (at = rest.find(spec.space_mark)) != std::string_view::npos;) {
    bytes.append(rest.substr(0, at)).append(" ");
    rest.remove_prefix(at + spec.space_mark.size());
  }
  return bytes.append(rest);
}

}  // namespace

struct PipelineTokenizer::Encoding {
  std::string_view text;
  std::string normalized;
  std::vector<std::string_view> pieces;
  SubwordModel::Scratch scratch;
  std::vector<int32_t> ids;
};

Expected<std::unique_ptr<const Tokenizer>> PipelineTokenizer::create(TokenizerSpec spec) {
  LL_ASSIGN(auto normalizer, Normalizer::create(spec.normalize));
  LL_ASSIGN(auto pretokenizer, Pretokenizer::create(spec.split_patterns));
  LL_ASSIGN(auto model, create_model(spec));
  return std::unique_ptr<const Tokenizer>(new PipelineTokenizer(
      std::move(spec), std::move(normalizer), std::move(pretokenizer), std::move(model)));
}

PipelineTokenizer::PipelineTokenizer(TokenizerSpec spec, Normalizer normalizer,
                                     Pretokenizer pretokenizer,
                                     std::unique_ptr<const SubwordModel> model)
    : spec_(std::move(spec)),
      normalizer_(std::move(normalizer)),
      pretokenizer_(std::move(pretokenizer)),
      model_(std::move(model)),
      special_tokens_(spec_) {
  bytes_offsets_.reserve(spec_.tokens.size() + 1);
  bytes_offsets_.push_back(0);
  for (size_t id = 0; id < spec_.tokens.size(); ++id) {
    bytes_ += token_bytes(spec_, id);
    bytes_offsets_.push_back(bytes_.size());
  }
  if (!spec_.ignore_merges) return;
  const bool byte_level = spec_.model == "bpe";
  for (size_t id = 0; id < spec_.tokens.size(); ++id) {
    if (spec_.kinds[id] != TokenKind::kNormal) continue;
    if (byte_level && !unspell_bytes(spec_.tokens[id])) continue;
    const auto number = static_cast<int32_t>(id);
    whole_.emplace(byte_level ? bytes(number) : spec_.tokens[id], number);
  }
}

Expected<std::vector<int32_t>> PipelineTokenizer::encode(std::string_view text) const {
  return encode(MarkedString(text, Origin::kData));
}

Expected<std::vector<int32_t>> PipelineTokenizer::encode(const MarkedString& marked) const {
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
      const TokenStrip strip = spec_.strip(static_cast<size_t>(match->id));
      const size_t end =
          at - (strips_before(strip) ? trailing_space_bytes(text.substr(plain, at - plain)) : 0);
      LL_RETURN_IF_ERROR(encode_plain(encoding, plain, end));
      encoding.ids.push_back(match->id);
      at += match->size;
      if (strips_behind(strip)) at += leading_space_bytes(text.substr(at));
      plain = at;
    }
  }
  LL_RETURN_IF_ERROR(encode_plain(encoding, plain, text.size()));
  return std::move(encoding.ids);
}

Status PipelineTokenizer::encode_plain(Encoding& encoding, size_t from, size_t to) const {
  if (from == to) return {};
  const std::string_view raw = encoding.text.substr(from, to - from);
  LL_ASSIGN(const std::string_view text, normalizer_.apply(raw, from == 0, encoding.normalized));
  if (const auto at = model_->find_unknown_byte(text))
    return error(
        ErrorCode::kInvalidArgument,
        "text has the byte 0x{:02X} at offset {}{}, for which this model's vocabulary has no "
        "token; remove that character",
        static_cast<uint8_t>(text[*at]), from + *at, text == raw ? "" : " of its normal form");
  encoding.pieces.clear();
  LL_RETURN_IF_ERROR(pretokenizer_.split(text, encoding.pieces));
  for (const std::string_view piece : encoding.pieces) {
    const auto found = whole_.find(piece);
    if (found != whole_.end())
      encoding.ids.push_back(found->second);
    else
      model_->encode(piece, encoding.scratch, encoding.ids);
  }
  return {};
}

std::string_view PipelineTokenizer::bytes(int32_t id) const {
  const auto index = static_cast<size_t>(id);
  return std::string_view(bytes_).substr(bytes_offsets_[index],
                                         bytes_offsets_[index + 1] - bytes_offsets_[index]);
}

std::optional<int32_t> PipelineTokenizer::special(std::string_view text) const {
  return special_tokens_.find(text);
}

}  // namespace looseleaf

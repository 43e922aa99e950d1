#include <algorithm>

#include "text/quote.h"
#include "text/tokenizer_json_parts.h"
#include "text/tokenizer_json_pipeline.h"

namespace looseleaf {
namespace {

// The decoder of a model over characters, as far as it has been read.
struct CharDecoder {
  TokenizerSpec* spec;
  bool bytes = false;  // byte tokens become bytes
  bool fused = false;  // the text is one string from here on

  Status read(const ObjectReader& part) {
    LL_ASSIGN(const std::string_view type, part.get<std::string_view>("type"));
    if (type == "ByteFallback") {
      bytes = true;
    } else if (type == "Fuse") {
      fused = true;
    } else if (type == "Replace") {
      LL_ASSIGN(const auto pattern, read_pattern(part));
      LL_ASSIGN(const auto content, part.get<std::string_view>("content"));
      if (pattern.literal.empty() || content != " " || !spec->space_mark.empty())
        return refuse_part(part.where(), "any replacement but one mark for spaces");
      spec->space_mark = pattern.literal;
    } else if (type == "Strip") {
      return read_strip(part);
    } else if (type == "Metaspace") {
      return read_metaspace(part);
    } else {
      return refuse_part(part.where("type"), quote(type));
    }
    return {};
  }

 private:
  Status read_strip(const ObjectReader& part) {
    LL_ASSIGN(const auto content, part.get<std::string_view>("content"));
    LL_ASSIGN(const int64_t start, part.get<int64_t>("start"));
    LL_ASSIGN(const int64_t stop, part.get<int64_t>("stop"));
    if (start == 0 && stop == 0) return {};
    if (content != " " || start != 1 || stop != 0 || !fused)
      return refuse_part(part.where(), "stripping anything but one space where the text begins");
    spec->leading_space = LeadingSpace::kOneDropped;
    return {};
  }

  Status read_metaspace(const ObjectReader& part) {
    LL_ASSIGN(const auto mark, part.get<std::string_view>("replacement"));
    LL_ASSIGN(const bool add_prefix_space, part.boolean("add_prefix_space", true));
    LL_ASSIGN(const auto scheme, part.find<std::string_view>("prepend_scheme"));
    if (mark.empty() || !spec->space_mark.empty())
      return refuse_part(part.where("replacement"), quote(mark));
    spec->space_mark = mark;
    if (scheme.value_or(add_prefix_space ? "always" : "never") != "never")
      spec->leading_space = LeadingSpace::kFirstTokenNone;
    return {};
  }
};

}  // namespace

Status read_decoder(const ObjectReader& tokenizer, TokenizerSpec& spec) {
  LL_ASSIGN(const auto parts, components(tokenizer, "decoder", "decoders"));
  if (spec.model == "bpe") {
    for (const ObjectReader& part : parts) {
      LL_ASSIGN(const std::string_view type, part.get<std::string_view>("type"));
      if (type != "ByteLevel") return refuse_part(part.where("type"), quote(type));
    }
    return {};
  }
  if (parts.empty()) return refuse_part(tokenizer.where("decoder"), "none");
  CharDecoder decoder = {&spec};
  for (const ObjectReader& part : parts) LL_RETURN_IF_ERROR(decoder.read(part));
  const bool has_bytes =
      std::find(spec.kinds.begin(), spec.kinds.end(), TokenKind::kByte) != spec.kinds.end();
  if (has_bytes && !decoder.bytes)
    return refuse_part(tokenizer.where("decoder"), "a byte_fallback without its decoder");
  return {};
}

Expected<std::string> leading_token(const ObjectReader& tokenizer) {
  LL_ASSIGN(const auto parts, components(tokenizer, "post_processor", "processors"));
  std::string token;
  for (const ObjectReader& part : parts) {
    LL_ASSIGN(const std::string_view type, part.get<std::string_view>("type"));
    if (type == "ByteLevel") continue;  // moves offsets only
    if (type != "TemplateProcessing") return refuse_part(part.where("type"), quote(type));
    LL_ASSIGN(const auto single, part.items("single"));
    for (size_t i = 0; i < single.size(); ++i) {
      LL_ASSIGN(const auto item, ObjectReader::open(single[i]));
      if (item.member("Sequence")) continue;
      LL_ASSIGN(const auto special, item.get<ObjectReader>("SpecialToken"));
      LL_ASSIGN(const auto id, special.get<std::string_view>("id"));
      // A prompt goes on behind its text: a token after it would be wrong there.
      if (i != 0 || single.size() != 2 || !token.empty())
        return refuse_part(item.where(), "any token but one before the text");
      token = id;
    }
  }
  return token;
}

}  // namespace looseleaf

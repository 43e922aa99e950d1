#include "text/tokenizer_json_pipeline.h"

#include <openssl/evp.h>

#include <optional>

#include "base/utf8.h"
#include "text/quote.h"
#include "text/split_patterns.h"
#include "text/split_regex.h"
#include "text/tokenizer_json_parts.h"

namespace looseleaf {
namespace {

using Kind = NormalizeStep::Kind;

// What `tokenizers` takes for punctuation: ASCII's, and Unicode 8's general category P.
constexpr std::string_view kPunctuation =
    R"([!-\/:-@\[-`{-~\x{166D}\x{111C9}]|)"
    // Came to P later.
    R"((?![\x{61D}\x{9FD}\x{A76}\x{C77}\x{C84}\x{1B4E}\x{1B4F}\x{1B7D}-\x{1B7F})"
    R"(\x{2E43}-\x{2E4F}\x{2E52}-\x{2E5D}\x{10D6E}\x{10EAD}\x{10ED0}\x{10F55}-\x{10F59})"
    R"(\x{10F86}-\x{10F89}\x{113D4}-\x{113D8}\x{1144B}-\x{1144F}\x{1145A}\x{1145B}\x{1145D})"
    R"(\x{11660}-\x{1166C}\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2})"
    R"(\x{11A3F}-\x{11A46}\x{11A9A}-\x{11A9C}\x{11A9E}-\x{11AA2}\x{11B00}-\x{11B09}\x{11BE1})"
    R"(\x{11C41}-\x{11C45}\x{11C70}\x{11C71}\x{11EF7}\x{11EF8}\x{11F43}-\x{11F4F}\x{11FFF})"
    R"(\x{12FF1}\x{12FF2}\x{16D6D}-\x{16D6F}\x{16E97}-\x{16E9A}\x{16FE2}\x{1E5FF})"
    R"(\x{1E95E}\x{1E95F}])\p{P})";

// A charsmap in base64.
Expected<std::string> read_charsmap(const ObjectReader& part) {
  LL_ASSIGN(const auto text, part.get<std::string_view>("precompiled_charsmap"));
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  const int size = text.size() > static_cast<size_t>(INT32_MAX) || text.size() % 4 != 0
                       ? -1
                       : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                         reinterpret_cast<const unsigned char*>(text.data()),
                                         static_cast<int>(text.size()));
  if (size < 0)
    return error(ErrorCode::kCorrupt, "{} is not base64; fetch the file again",
                 part.where("precompiled_charsmap"));
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

Status read_normalizer(const ObjectReader& part, std::vector<NormalizeStep>& steps) {
  LL_ASSIGN(const std::string_view type, part.get<std::string_view>("type"));
  if (type == "NFC") {
    steps.push_back({Kind::kNfc});
  } else if (type == "NFKC") {
    steps.push_back({Kind::kNfkc});
  } else if (type == "Prepend") {
    LL_ASSIGN(const auto text, part.get<std::string_view>("prepend"));
    steps.push_back({Kind::kPrepend, {}, std::string(text)});
  } else if (type == "Replace") {
    LL_ASSIGN(auto pattern, read_pattern(part));
    LL_ASSIGN(const auto content, part.get<std::string_view>("content"));
    const bool literal = !pattern.literal.empty();
    steps.push_back({literal ? Kind::kReplace : Kind::kReplacePattern,
                     literal ? std::move(pattern.literal) : std::move(pattern.regex),
                     std::string(content)});
  } else if (type == "Strip") {
    LL_ASSIGN(const bool left, part.boolean("strip_left", true));
    LL_ASSIGN(const bool right, part.boolean("strip_right", true));
    if (left) steps.push_back({Kind::kStripLeft});
    if (right) steps.push_back({Kind::kStripRight});
  } else if (type == "Precompiled") {
    if (!part.member("precompiled_charsmap")) return {};
    LL_ASSIGN(auto charsmap, read_charsmap(part));
    steps.push_back({Kind::kGraphemeCharsmap, std::move(charsmap)});
  } else {
    return refuse_part(part.where("type"), quote(type));
  }
  return {};
}

Expected<SplitBehavior> read_behavior(const ObjectReader& part) {
  LL_ASSIGN(const auto name, part.find<std::string_view>("behavior"));
  if (!name || *name == "Isolated") return SplitBehavior::kIsolated;
  if (*name == "Removed") return SplitBehavior::kRemoved;
  if (*name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (*name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (*name == "Contiguous") return SplitBehavior::kContiguous;
  return refuse_part(part.where("behavior"), quote(*name));
}

Expected<SplitRule> read_split(const ObjectReader& part) {
  LL_ASSIGN(auto pattern, read_pattern(part));
  LL_ASSIGN(const auto behavior, read_behavior(part));
  LL_ASSIGN(const bool invert, part.boolean("invert", false));
  std::string source =
      pattern.regex.empty() ? escape_split_regex(pattern.literal) : std::move(pattern.regex);
  // With Isolated, matches and gaps are pieces alike.
  return SplitRule(std::move(source), behavior, invert && behavior != SplitBehavior::kIsolated);
}

Status read_byte_level(const ObjectReader& part, TokenizerSpec& spec) {
  LL_ASSIGN(const bool add_prefix_space, part.boolean("add_prefix_space", true));
  if (add_prefix_space) return refuse_part(part.where("add_prefix_space"), "true");
  LL_ASSIGN(const bool use_regex, part.boolean("use_regex", true));
  if (use_regex) spec.split_patterns.emplace_back(std::string(gpt2_split_pattern()));
  return {};
}

// Metaspace at the head of the pre-tokenizer works on text between special tokens as a normalizer
// does. `words`: behind WhitespaceSplit, where it works on each word.
Status read_metaspace(const ObjectReader& part, bool words, TokenizerSpec& spec) {
  LL_ASSIGN(const auto mark, part.get<std::string_view>("replacement"));
  if (mark.empty() || utf8_length(mark) != static_cast<int>(mark.size()))
    return refuse_part(part.where("replacement"), quote(mark));
  LL_ASSIGN(const bool add_prefix_space, part.boolean("add_prefix_space", true));
  LL_ASSIGN(const auto scheme, part.find<std::string_view>("prepend_scheme"));
  LL_ASSIGN(const bool split, part.boolean("split", true));
  const std::string_view prepend = scheme.value_or(add_prefix_space ? "always" : "never");
  const bool known = prepend == "always" || prepend == "first" || prepend == "never";
  if (!known || (words && (prepend != "always" || !split)))
    return refuse_part(part.where("prepend_scheme"), quote(prepend));
  if (words) {
    spec.normalize.push_back({Kind::kJoinWords, {}, std::string(mark)});
  } else {
    spec.normalize.push_back({Kind::kReplace, " ", std::string(mark)});
    if (prepend != "never")
      spec.normalize.push_back({prepend == "first" ? Kind::kPrependFirst : Kind::kPrependMissing,
                                {},
                                std::string(mark)});
  }
  if (split)
    spec.split_patterns.emplace_back(escape_split_regex(mark), SplitBehavior::kMergedWithNext);
  return {};
}

Status read_pretokenizer(const ObjectReader& part, bool first, TokenizerSpec& spec) {
  LL_ASSIGN(const std::string_view type, part.get<std::string_view>("type"));
  auto& rules = spec.split_patterns;
  if (type == "ByteLevel") {
    LL_RETURN_IF_ERROR(read_byte_level(part, spec));
    spec.model = "bpe";
  } else if (type == "Split") {
    LL_ASSIGN(auto rule, read_split(part));
    rules.push_back(std::move(rule));
  } else if (type == "Digits") {
    LL_ASSIGN(const bool individual, part.boolean("individual_digits", false));
    rules.emplace_back(individual ? R"(\p{N})" : R"(\p{N}+)");
  } else if (type == "Punctuation") {
    LL_ASSIGN(const auto behavior, read_behavior(part));
    rules.emplace_back(std::string(kPunctuation), behavior);
  } else if (type == "WhitespaceSplit") {
    rules.emplace_back(R"(\s)", SplitBehavior::kRemoved);
  } else if (type == "CharDelimiterSplit") {
    LL_ASSIGN(const auto delimiter, part.get<std::string_view>("delimiter"));
    rules.emplace_back(escape_split_regex(delimiter), SplitBehavior::kRemoved);
  } else if (type == "Metaspace" && first) {
    return read_metaspace(part, false, spec);
  } else {
    return refuse_part(part.where("type"), quote(type));
  }
  return {};
}

}  // namespace

Status read_tokenizer_pipeline(const ObjectReader& tokenizer, TokenizerSpec& spec) {
  LL_ASSIGN(const auto normalizers, components(tokenizer, "normalizer", "normalizers"));
  for (const ObjectReader& part : normalizers)
    LL_RETURN_IF_ERROR(read_normalizer(part, spec.normalize));

  spec.model = "char-bpe";
  LL_ASSIGN(const auto parts, components(tokenizer, "pre_tokenizer", "pretokenizers"));
  for (size_t i = 0; i < parts.size(); ++i) {
    LL_ASSIGN(const std::string_view type, parts[i].get<std::string_view>("type"));
    // Behind ByteLevel a component sees the spelling of bytes, where even digits hide in letters.
    if (spec.model == "bpe")
      return refuse_part(parts[i].where(), quote(type) + " behind ByteLevel");
    if (i == 0 && type == "WhitespaceSplit" && parts.size() > 1) {
      LL_ASSIGN(const std::string_view next, parts[1].get<std::string_view>("type"));
      if (next == "Metaspace") {
        LL_RETURN_IF_ERROR(read_metaspace(parts[++i], true, spec));
        continue;
      }
    }
    LL_RETURN_IF_ERROR(read_pretokenizer(parts[i], i == 0, spec));
  }
  return {};
}

}  // namespace looseleaf

#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "text/charsmap.h"
#include "text/nfc.h"
#include "text/pattern.h"
#include "text/quote.h"
#include "text/white_space.h"

namespace looseleaf {
namespace {

using Kind = NormalizeStep::Kind;

// A text that grows while it is made. Real tokenizers make 11 bytes of one at most (NFKC of
// U+FDFA); a few replacements one behind the other could make gigabytes of a line.
class Grown {
 public:
  explicit Grown(size_t most) : most_(most) {}
  void append(std::string_view text) {
    if (!full_ && text.size() > most_ - text_.size()) full_ = true;
    if (!full_) text_ += text;
  }
  bool full() const { return full_; }
  Expected<std::string> release() && {
    if (!full_) return std::move(text_);
    return error(ErrorCode::kUnsupported,
                 "the tokenizer's normalizer makes more than {} bytes of a text, which is not "
                 "supported; use another tokenizer",
                 most_);
  }

 private:
  std::string text_;
  size_t most_;
  bool full_ = false;
};

constexpr size_t most_bytes(size_t raw) { return 4096 + 32 * raw; }

Expected<std::string> replace_all(std::string_view text, std::string_view from, std::string_view to,
                                  size_t most) {
  Grown result(most);
  for (;;) {
    const size_t at = text.find(from);
    result.append(text.substr(0, at));
    if (at == std::string_view::npos || result.full()) return std::move(result).release();
    result.append(to);
    text.remove_prefix(at + from.size());
  }
}

std::string collapse_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string join_words(std::string_view text, std::string_view mark) {
  std::string result;
  for (;;) {
    text.remove_prefix(leading_space_bytes(text));
    if (text.empty()) return result;
    size_t size = 0;
    while (size < text.size() && leading_space_bytes(text.substr(size)) == 0)
      size += static_cast<size_t>(utf8_length(text.substr(size)));
    const std::string_view word = text.substr(0, size);
    if (!word.starts_with(mark)) result += mark;
    result += word;
    text.remove_prefix(size);
  }
}

Expected<std::string> map_characters(std::string_view text, const Charsmap& map, size_t most) {
  Grown result(most);
  while (!text.empty() && !result.full()) {
    const auto match = map.longest(text);
    // A broken rule may have ended inside a code point.
    const size_t size = match ? match->size : static_cast<size_t>(std::max(1, utf8_length(text)));
    result.append(match ? match->replacement : text.substr(0, size));
    text.remove_prefix(size);
  }
  return std::move(result).release();
}

size_t grapheme_size(std::string_view text) {
  utf8proc_int32_t previous = 0, next = 0, state = 0;
  const auto read = [&](size_t at, utf8proc_int32_t& code_point) {
    return static_cast<size_t>(
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &code_point));
  };
  size_t size = read(0, previous);
  while (size < text.size()) {
    const size_t more = read(size, next);
    if (utf8proc_grapheme_break_stateful(previous, next, &state)) break;
    previous = next;
    size += more;
  }
  return size;
}

// A rule for the beginning of a short grapheme replaces all of it; otherwise characters are looked
// up one by one, each by the shortest rule.
Expected<std::string> map_graphemes(std::string_view text, const Charsmap& map, size_t most) {
  constexpr size_t kShort = 6;
  Grown result(most);
  while (!text.empty() && !result.full()) {
    std::string_view grapheme = text.substr(0, grapheme_size(text));
    text.remove_prefix(grapheme.size());
    const auto whole = grapheme.size() < kShort ? map.shortest(grapheme) : std::nullopt;
    if (whole) {
      result.append(whole->replacement);
      continue;
    }
    while (!grapheme.empty()) {
      const auto character = grapheme.substr(0, static_cast<size_t>(utf8_length(grapheme)));
      const auto match = map.shortest(character);
      result.append(match ? match->replacement : character);
      grapheme.remove_prefix(character.size());
    }
  }
  return std::move(result).release();
}

Expected<std::string> replace_matches(std::string_view text, const Pattern& pattern,
                                      std::string_view to, size_t most) {
  Grown result(most);
  size_t done = 0;
  Pattern::Scratch scratch(text.size());
  LL_RETURN_IF_ERROR(pattern.for_each_match(text, scratch, [&](size_t begin, size_t end) {
    result.append(text.substr(done, begin - done));
    result.append(to);
    done = end;
  }));
  result.append(text.substr(done));
  return std::move(result).release();
}

}  // namespace

struct Normalizer::Step {
  NormalizeStep step;
  std::optional<Pattern> pattern;    // of kReplacePattern
  std::optional<Charsmap> charsmap;  // of kCharsmap and kGraphemeCharsmap

  // Nothing: the text stays as it is. `most`: bytes that the result may have.
  Expected<std::optional<std::string>> apply(std::string_view text, bool first, size_t most) const {
    const std::string_view to = step.to;
    switch (step.kind) {
      case Kind::kNfc:
        if (is_surely_nfc(text)) return std::nullopt;
        return to_nfc(text);
      case Kind::kNfkc:
        return to_nfkc(text);
      case Kind::kCharsmap:
        return checked(map_characters(text, *charsmap, most));
      case Kind::kGraphemeCharsmap:
        return checked(map_graphemes(text, *charsmap, most));
      case Kind::kReplace:
        if (text.find(step.from) == std::string_view::npos) return std::nullopt;
        return some(replace_all(text, step.from, to, most));
      case Kind::kReplacePattern:
        return some(replace_matches(text, *pattern, to, most));
      case Kind::kStripLeft:
        return std::string(text.substr(leading_space_bytes(text)));
      case Kind::kStripRight:
        return std::string(text.substr(0, text.size() - trailing_space_bytes(text)));
      case Kind::kCollapseSpaces:
        return collapse_spaces(text);
      case Kind::kDropTrailing: {
        std::string_view rest = text;
        while (rest.ends_with(step.from)) rest.remove_suffix(step.from.size());
        return std::string(rest);
      }
      case Kind::kPrependFirst:
        if (!first) return std::nullopt;
        [[fallthrough]];
      case Kind::kPrependMissing:
        if (text.starts_with(to)) return std::nullopt;
        [[fallthrough]];
      case Kind::kPrepend:
        if (text.empty()) return std::nullopt;
        return std::string(to).append(text);
      case Kind::kJoinWords:
        return join_words(text, to);
    }
    return std::nullopt;
  }

  static Expected<std::optional<std::string>> some(Expected<std::string> text) {
    if (!text) return tl::unexpected(std::move(text).error());
    return std::optional(*std::move(text));
  }

  static Expected<std::optional<std::string>> checked(Expected<std::string> text) {
    if (!text) return tl::unexpected(std::move(text).error());
    if (const auto at = find_invalid_utf8(*text))
      return error(ErrorCode::kUnsupported,
                   "the tokenizer's charsmap leads to what is not UTF-8: {}",
                   quote(std::string_view(*text).substr(*at)));
    return some(std::move(text));
  }
};

Expected<Normalizer> Normalizer::create(const std::vector<NormalizeStep>& steps) {
  Normalizer result;
  for (const NormalizeStep& step : steps) {
    std::optional<Pattern> pattern;
    std::optional<Charsmap> charsmap;
    if (step.kind == Kind::kReplacePattern) {
      LL_ASSIGN(pattern, Pattern::create(step.from));
    } else if (step.kind == Kind::kCharsmap || step.kind == Kind::kGraphemeCharsmap) {
      LL_ASSIGN(charsmap, Charsmap::create(step.from));
    }
    result.steps_.push_back(
        std::make_shared<const Step>(Step{step, std::move(pattern), std::move(charsmap)}));
  }
  return result;
}

Expected<std::string_view> Normalizer::apply(std::string_view text, bool first,
                                             std::string& storage) const {
  const size_t most = most_bytes(text.size());
  for (const auto& step : steps_) {
    LL_ASSIGN(auto changed, step->apply(text, first, most));
    if (!changed) continue;
    storage = *std::move(changed);
    text = storage;
  }
  return text;
}

}  // namespace looseleaf

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

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (;;) {
    const size_t at = text.find(from);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += to;
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

std::string map_characters(std::string_view text, const Charsmap& map) {
  std::string result;
  while (!text.empty()) {
    const auto match = map.longest(text);
    // A broken rule may have ended inside a code point.
    const size_t size = match ? match->size : static_cast<size_t>(std::max(1, utf8_length(text)));
    result += match ? match->replacement : text.substr(0, size);
    text.remove_prefix(size);
  }
  return result;
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
std::string map_graphemes(std::string_view text, const Charsmap& map) {
  constexpr size_t kShort = 6;
  std::string result;
  while (!text.empty()) {
    std::string_view grapheme = text.substr(0, grapheme_size(text));
    text.remove_prefix(grapheme.size());
    const auto whole = grapheme.size() < kShort ? map.shortest(grapheme) : std::nullopt;
    if (whole) {
      result += whole->replacement;
      continue;
    }
    while (!grapheme.empty()) {
      const auto character = grapheme.substr(0, static_cast<size_t>(utf8_length(grapheme)));
      const auto match = map.shortest(character);
      result += match ? match->replacement : character;
      grapheme.remove_prefix(character.size());
    }
  }
  return result;
}

Expected<std::string> replace_matches(std::string_view text, const Pattern& pattern,
                                      std::string_view to) {
  std::string result;
  size_t done = 0;
  Pattern::Scratch scratch(text.size());
  LL_RETURN_IF_ERROR(pattern.for_each_match(text, scratch, [&](size_t begin, size_t end) {
    result += text.substr(done, begin - done);
    result += to;
    done = end;
  }));
  result += text.substr(done);
  return result;
}

}  // namespace

struct Normalizer::Step {
  NormalizeStep step;
  std::optional<Pattern> pattern;    // of kReplacePattern
  std::optional<Charsmap> charsmap;  // of kCharsmap and kGraphemeCharsmap

  // Nothing: the text stays as it is.
  Expected<std::optional<std::string>> apply(std::string_view text, bool first) const {
    const std::string_view to = step.to;
    switch (step.kind) {
      case Kind::kNfc:
        if (is_surely_nfc(text)) return std::nullopt;
        return to_nfc(text);
      case Kind::kNfkc:
        return to_nfkc(text);
      case Kind::kCharsmap:
        return checked(map_characters(text, *charsmap));
      case Kind::kGraphemeCharsmap:
        return checked(map_graphemes(text, *charsmap));
      case Kind::kReplace:
        if (text.find(step.from) == std::string_view::npos) return std::nullopt;
        return replace_all(text, step.from, to);
      case Kind::kReplacePattern: {
        LL_ASSIGN(auto replaced, replace_matches(text, *pattern, to));
        return std::optional(std::move(replaced));
      }
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

  static Expected<std::optional<std::string>> checked(std::string text) {
    if (const auto at = find_invalid_utf8(text))
      return error(ErrorCode::kUnsupported,
                   "the tokenizer's charsmap leads to what is not UTF-8: {}",
                   quote(std::string_view(text).substr(*at)));
    return std::optional(std::move(text));
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
  for (const auto& step : steps_) {
    LL_ASSIGN(auto changed, step->apply(text, first));
    if (!changed) continue;
    storage = *std::move(changed);
    text = storage;
  }
  return text;
}

}  // namespace looseleaf

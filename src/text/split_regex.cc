#include "text/split_regex.h"

#include <algorithm>
#include <array>
#include <optional>

#include "text/quote.h"

namespace looseleaf {
namespace {

// Unicode's White_Space. PCRE2's own \s holds U+180E as well, which has not been a space since
// Unicode 6.3.
constexpr std::string_view kSpaces =
    R"(\t-\r\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

constexpr std::array<std::string_view, 38> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cn", "Co", "Cs", "Any"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  Expected<std::string> run() {
    while (at_ < in_.size()) LL_RETURN_IF_ERROR(next());
    return std::move(out_);
  }

 private:
  // What the element just read allows to follow it.
  enum class Element { kNone, kSingle, kGroup };

  bool looking_at(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  tl::unexpected<Error> refuse(std::string_view construct) const {
    return error(ErrorCode::kUnsupported,
                 "split pattern {}: {} at offset {} is not supported; use a tokenizer without it",
                 quote(in_), construct, at_);
  }
  tl::unexpected<Error> refuse_next(size_t bytes) const {
    return refuse(quote(in_.substr(at_, bytes)));
  }

  void copy(size_t count) {
    out_ += in_.substr(at_, count);
    at_ += count;
  }

  Status next() {
    const char c = in_[at_];
    switch (c) {
      case '(':
        return open_group();
      case ')':
        copy(1);
        return quantifier(Element::kGroup);
      case '[':
        LL_RETURN_IF_ERROR(character_class());
        return quantifier(Element::kSingle);
      case '\\': {
        LL_RETURN_IF_ERROR(escape(false));
        return quantifier(Element::kSingle);
      }
      case '|':
      case '^':
      case '$':
        copy(1);
        return quantifier(Element::kNone);
      case '*':
      case '+':
      case '?':
        return refuse("a quantifier with nothing before it");
      case '{':
        out_ += "\\{";
        ++at_;
        return quantifier(Element::kSingle);
      default: {
        size_t size = 1;
        while (at_ + size < in_.size() && (in_[at_ + size] & 0xC0) == 0x80) ++size;
        copy(size);
        return quantifier(Element::kSingle);
      }
    }
  }

  Status open_group() {
    // Atomic groups are left out: compiled by PCRE2 10.42, some match what they must not.
    static constexpr std::array<std::string_view, 6> kKinds = {
        "(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!"};
    if (!looking_at("(?") && !looking_at("(*")) {
      copy(1);
      return {};
    }
    for (const std::string_view kind : kKinds) {
      if (!looking_at(kind)) continue;
      copy(kind.size());
      return {};
    }
    return refuse_next(4);
  }

  // Copies an escape sequence; inside a class \s becomes the list of spaces.
  Status escape(bool in_class) {
    if (at_ + 1 == in_.size()) return refuse("a backslash at the end");
    const char c = in_[at_ + 1];
    if (c == 's' || c == 'S') {
      if (in_class && c == 'S') return refuse("\\S inside a class");
      if (in_class) {
        out_ += kSpaces;
      } else {
        out_ += c == 's' ? "[" : "[^";
        out_ += kSpaces;
        out_ += ']';
      }
      at_ += 2;
      return {};
    }
    if (c == 'p' || c == 'P') return property();
    if (c == 'x' || c == 'u') return code_point();
    if (c == 'd' || c == 'D' || c == 'r' || c == 'n' || c == 't' || c == 'f') {
      copy(2);
      return {};
    }
    if (is_letter(c) || is_digit(c) || (c & 0x80) != 0) return refuse_next(2);
    copy(2);
    return {};
  }

  Status property() {
    const size_t end = in_.find('}', at_);
    if (!in_.substr(at_ + 2).starts_with('{') || end == std::string_view::npos)
      return refuse("a property without braces");
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    if (!std::all_of(name.begin(), name.end(), is_letter)) return refuse_next(end + 1 - at_);
    out_ += in_.substr(at_, 3);
    if (negated) out_ += '^';
    // PCRE2 reads a bare script name as its extensions, which is a larger set.
    if (std::find(kCategories.begin(), kCategories.end(), name) == kCategories.end()) out_ += "sc:";
    out_ += name;
    out_ += '}';
    at_ = end + 1;
    return {};
  }

  // \xHH, \x{H...}, \uHHHH
  Status code_point() {
    std::string_view digits;
    size_t size = 0;
    if (looking_at("\\x{")) {
      const size_t end = in_.find('}', at_);
      if (end == std::string_view::npos) return refuse("an open \\x{");
      digits = in_.substr(at_ + 3, end - at_ - 3);
      size = end + 1 - at_;
    } else {
      const size_t count = in_[at_ + 1] == 'x' ? 2 : 4;
      digits = in_.substr(at_ + 2, count);
      size = 2 + count;
      if (digits.size() != count) return refuse("a cut code point");
    }
    if (digits.empty() || digits.size() > 8 || !std::all_of(digits.begin(), digits.end(), is_hex))
      return refuse("a malformed code point");
    // In Ruby's syntax \x80 and above are bytes, not code points.
    if (size == 4 && digits[0] > '7') return refuse("a byte above 7F");
    out_ += fmt::format("\\x{{{}}}", digits);
    at_ += size;
    return {};
  }

  Status character_class() {
    copy(1);
    if (at_ < in_.size() && in_[at_] == '^') copy(1);
    if (at_ < in_.size() && in_[at_] == ']') return refuse("a class that starts with ]");
    while (at_ < in_.size() && in_[at_] != ']') {
      // Ruby's syntax nests and intersects classes, PCRE2 takes the characters literally.
      if (in_[at_] == '[') return refuse("a class inside a class");
      if (looking_at("&&")) return refuse("&&");
      if (in_[at_] != '\\') {
        copy(1);
        continue;
      }
      const bool is_set = at_ + 1 < in_.size() &&
                          std::string_view("sdDpP").find(in_[at_ + 1]) != std::string_view::npos;
      LL_RETURN_IF_ERROR(escape(true));
      if (is_set && looking_at("-") && !looking_at("-]")) return refuse("a range from a set");
    }
    if (at_ == in_.size()) return refuse("an open class");
    copy(1);
    return {};
  }

  // The size of {n}, {n,} or {n,m} at the cursor; nothing when it is not one.
  std::optional<size_t> interval(bool& unbounded, bool& exact) const {
    size_t i = at_ + 1;
    const auto digits = [&] {
      const size_t from = i;
      while (i < in_.size() && is_digit(in_[i])) ++i;
      return i - from;
    };
    if (digits() == 0) return std::nullopt;
    exact = i < in_.size() && in_[i] == '}';
    if (!exact) {
      if (i == in_.size() || in_[i] != ',') return std::nullopt;
      ++i;
      unbounded = digits() == 0;
      if (i == in_.size() || in_[i] != '}') return std::nullopt;
    }
    return i + 1 - at_;
  }

  Status quantifier(Element element) {
    if (at_ == in_.size()) return {};
    const char c = in_[at_];
    const bool is_interval = c == '{';
    size_t size = 1;
    bool unbounded = c == '*' || c == '+';
    bool exact = false;
    if (is_interval) {
      if (looking_at("{,")) return refuse("{,");
      const auto found = interval(unbounded, exact);
      if (!found) return {};  // a literal brace
      size = *found;
    } else if (c != '?' && !unbounded) {
      return {};
    }
    if (element == Element::kNone) return refuse("a quantifier with nothing before it");
    if (element == Element::kGroup && unbounded)
      return refuse("the unbounded repetition of a group");
    copy(size);
    if (at_ == in_.size()) return {};
    if (in_[at_] == '?' || in_[at_] == '+') {
      // Ruby reads a{2}? as (?:a{2})? and a{1,3}+ as (?:a{1,3})+.
      if (is_interval && (exact || in_[at_] == '+'))
        return refuse("a quantifier after an interval");
      copy(1);
    }
    if (at_ < in_.size() && std::string_view("*+?{").find(in_[at_]) != std::string_view::npos)
      return refuse("a quantifier after a quantifier");
    return {};
  }

  std::string_view in_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

Expected<std::string> split_regex_to_pcre2(std::string_view pattern) {
  // "The spaces at the end", as it stands in tokenizers, tries every suffix of every run of spaces;
  // a run matches from its first space or not at all.
  if (pattern == R"(\s+$)") pattern = R"((?<!\s)\s+$)";
  return Translator(pattern).run();
}

std::string escape_split_regex(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || (c & 0x80) != 0;
    if (plain || c == ' ') {
      pattern += c;
    } else if (c >= 0x21 && c <= 0x7E) {
      pattern += '\\';
      pattern += c;
    } else {
      pattern += fmt::format("\\x{{{:X}}}", static_cast<int>(c));
    }
  }
  return pattern;
}

}  // namespace looseleaf

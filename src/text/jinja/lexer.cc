#include "text/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "text/jinja/fault.h"
#include "text/jinja/string_literal.h"
#include "text/jinja/unicode.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

using Kind = Token::Kind;

// Longest first, so that the first match is the longest.
constexpr std::array<std::string_view, 26> kOperators = {
    "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// All line ends are \n, and the last one goes.
std::string with_plain_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
      continue;
    }
    text += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(with_plain_lines(source)), text_(source_) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) root();
    emit(Kind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail_here(std::string message) const {
    throw Fault{ErrorCode::kCorrupt, std::move(message), line_};
  }

  std::string_view rest() const { return text_.substr(at_); }
  bool sees(std::string_view what) const { return rest().starts_with(what); }
  void emit(Kind kind, std::string_view text) {
    tokens_.push_back({kind, std::string(text), line_});
  }
  void skip(size_t bytes) {
    const std::string_view gone = text_.substr(at_, bytes);
    line_ += static_cast<int>(std::count(gone.begin(), gone.end(), '\n'));
    if (!gone.empty()) line_starts_ = gone.back() == '\n';
    at_ += gone.size();
  }

  // The text up to the next tag, and the tag's beginning.
  void root() {
    size_t tag = at_;
    for (;; ++tag) {
      tag = text_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 == text_.size()) {
        emit(Kind::kData, rest());
        return skip(rest().size());
      }
      if (std::string_view("%{#").find(text_[tag + 1]) != std::string_view::npos) break;
    }
    const char type = text_[tag + 1];
    const size_t sign_at = tag + 2;
    const char sign = sign_at < text_.size() ? text_[sign_at] : ' ';
    const bool signed_tag = sign == '-' || sign == '+';
    data(text_.substr(at_, tag - at_), signed_tag ? sign : ' ', type != '{');
    skip(tag - at_ + (signed_tag ? 3 : 2));
    if (type == '#') return comment();
    if (type == '%' && raw()) return;
    emit(type == '%' ? Kind::kBlockBegin : Kind::kPrintBegin, {});
    tag_contents(type == '%');
  }

  void data(std::string_view text, char sign, bool strips_line) {
    if (sign == '-') {
      text.remove_suffix(trailing_spaces(text));
    } else if (sign != '+' && strips_line) {
      // White space alone between the line's start and the tag goes.
      const size_t line = text.rfind('\n') + 1;  // 0 when there is none
      const std::string_view indent = text.substr(line);
      if ((line > 0 || line_starts_) && leading_spaces(indent) == indent.size())
        text = text.substr(0, line);
    }
    if (!text.empty()) emit(Kind::kData, text);
  }

  // Behind a tag's end `closer`, at which the text stands: `-` in front of it takes all white
  // space, `+` none; else one line end goes where `trims`.
  void close(std::string_view closer, char sign, bool trims) {
    skip(closer.size());
    if (sign == '-')
      skip(leading_spaces(rest()));
    else if (sign != '+' && trims && sees("\n"))
      skip(1);
  }

  void comment() {
    const size_t end = text_.find("#}", at_);
    if (end == std::string_view::npos) fail_here("a comment is never closed");
    const char sign = end > at_ ? text_[end - 1] : ' ';
    skip(end - at_);
    close("#}", sign, true);
  }

  // `raw` behind {%: true when it is one. Its text is data up to endraw.
  bool raw() {
    std::string_view look = rest();
    look.remove_prefix(leading_spaces(look));
    if (!look.starts_with("raw")) return false;
    look.remove_prefix(3);
    look.remove_prefix(leading_spaces(look));
    const bool stripped = look.starts_with("-%}");
    if (!stripped && !look.starts_with("%}")) return false;
    skip(rest().size() - look.size() + (stripped ? 1 : 0));
    close("%}", stripped ? '-' : ' ', false);
    for (size_t tag = at_;; ++tag) {
      tag = text_.find("{%", tag);
      if (tag == std::string_view::npos) fail_here("raw is never closed by endraw");
      std::string_view end = text_.substr(tag + 2);
      char sign = ' ';
      if (end.starts_with('-') || end.starts_with('+')) {
        sign = end[0];
        end.remove_prefix(1);
      }
      end.remove_prefix(leading_spaces(end));
      if (!end.starts_with("endraw")) continue;
      end.remove_prefix(6);
      end.remove_prefix(leading_spaces(end));
      char end_sign = ' ';
      if (end.starts_with('-') || end.starts_with('+')) {
        end_sign = end[0];
        end.remove_prefix(1);
      }
      if (!end.starts_with("%}")) continue;
      data(text_.substr(at_, tag - at_), sign, true);
      skip(rest().size() - end.size());
      close("%}", end_sign, true);
      return true;
    }
  }

  void tag_contents(bool block) {
    const std::string_view closer = block ? "%}" : "}}";
    open_.clear();
    while (at_ < text_.size()) {
      if (open_.empty()) {
        const bool minus = sees("-") && rest().substr(1).starts_with(closer);
        const bool plus = block && sees("+") && rest().substr(1).starts_with(closer);
        if (minus || plus || sees(closer)) {
          if (minus || plus) skip(1);
          emit(block ? Kind::kBlockEnd : Kind::kPrintEnd, {});
          return close(closer, minus ? '-' : plus ? '+' : ' ', block);
        }
      }
      if (const size_t spaces = leading_spaces(rest()))
        skip(spaces);
      else if (is_digit(text_[at_]))
        number();
      else if (is_word(text_[at_]))
        word();
      else if (sees("'") || sees("\""))
        string();
      else
        symbol();
    }
    fail_here(fmt::format("a tag is never closed by {}", closer));
  }

  void take(Kind kind, size_t bytes) {
    emit(kind, text_.substr(at_, bytes));
    skip(bytes);
  }

  void word() {
    size_t size = 0;
    while (size < rest().size() && is_word(rest()[size])) ++size;
    take(Kind::kName, size);
  }

  // Digits with single underscores between them, from byte `from`: where they end.
  static size_t digits_end(std::string_view text, size_t from, bool (*is)(char)) {
    size_t at = from;
    while (at < text.size() && (is(text[at]) || (text[at] == '_' && at > from &&
                                                 at + 1 < text.size() && is(text[at + 1]))))
      ++at;
    return at;
  }

  void number() {
    const std::string_view text = rest();
    const bool after_dot = at_ > 0 && text_[at_ - 1] == '.';  // a.0.1 is no fraction
    const size_t whole = digits_end(text, 0, is_digit);
    if (!after_dot) {
      size_t end = whole;
      if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]))
        end = digits_end(text, end + 1, is_digit);
      if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        size_t power = end + 1;
        if (power < text.size() && (text[power] == '+' || text[power] == '-')) ++power;
        if (power < text.size() && is_digit(text[power])) end = digits_end(text, power, is_digit);
      }
      if (end > whole) return take(Kind::kFloat, end);
    }
    if (text[0] != '0') return take(Kind::kInteger, whole);
    const char base = text.size() > 1 ? text[1] : ' ';
    size_t end = 1;
    if (base == 'x' || base == 'X')
      end = digits_end(text, 2, [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      });
    else if (base == 'b' || base == 'B')
      end = digits_end(text, 2, [](char c) { return c == '0' || c == '1'; });
    else if (base == 'o' || base == 'O')
      end = digits_end(text, 2, [](char c) { return c >= '0' && c <= '7'; });
    if (end > 2) return take(Kind::kInteger, end);
    take(Kind::kInteger, digits_end(text, 0, [](char c) { return c == '0'; }));
  }

  void string() {
    const char mark = text_[at_];
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != mark) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) fail_here("a string is never closed");
    const auto value = read_string_literal(text_.substr(at_ + 1, end - at_ - 1));
    if (!value) fail_here("a string has an escape that does not exist");
    emit(Kind::kString, *value);
    skip(end + 1 - at_);
  }

  void symbol() {
    const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                     [&](std::string_view symbol) { return sees(symbol); });
    if (found == kOperators.end())
      fail_here(
          fmt::format("unexpected {}", quote(rest().substr(0, first_code_point(rest()).size))));
    const char c = (*found)[0];
    if (c == '(' || c == '[' || c == '{') {
      open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open_.empty() || open_.back() != c) fail_here(fmt::format("unexpected '{}'", c));
      open_.pop_back();
    }
    take(Kind::kOperator, found->size());
  }

  const std::string source_;
  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // the byte before at_ ends a line
  std::string open_;         // the brackets that have to close, innermost last
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace looseleaf::jinja

#include "text/jinja/format.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

struct Conversion {
  bool left = false, zero = false, plus = false, blank = false, alternative = false;
  int64_t width = 0;
  int64_t precision = -1;
  char type = ' ';
};

constexpr int64_t kMaxPrecision = 1000;

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const MarkedString& pattern, const Value& value)
      : runtime_(runtime), pattern_(pattern), value_(value), out_(runtime) {
    const Sequence* sequence = value.sequence();
    if (sequence != nullptr && sequence->form == Form::kTuple)
      positional_ = sequence->items;
    else
      positional_ = {value};
  }

  Value run() {
    const std::string_view all = pattern_.text();
    size_t at = 0;
    for (size_t percent; (percent = all.find('%', at)) != std::string::npos;) {
      out_.append(pattern_.substr(at, percent - at));
      at = percent + 1;
      convert(at);
    }
    out_.append(pattern_.substr(at));
    const bool named = value_.dict() != nullptr || value_.sequence() != nullptr;
    const bool lenient = named && value_.type_name() != "tuple";
    if (next_ < positional_.size() && !lenient) fail("%: more values than the pattern asks for");
    return out_.take();
  }

 private:
  char peek(size_t at) const {
    if (at >= pattern_.text().size()) fail("%: the pattern ends inside a conversion");
    return pattern_.text()[at];
  }

  const Value& take() {
    if (next_ >= positional_.size()) fail("%: fewer values than the pattern asks for");
    return positional_[next_++];
  }

  int64_t read_number(size_t& at) {
    if (peek(at) == '*') {
      ++at;
      return to_index(take(), "%: a width");
    }
    int64_t number = 0;
    while (peek(at) >= '0' && peek(at) <= '9') {
      number = number * 10 + (pattern_.text()[at++] - '0');
      if (number > runtime_.budget.limits().built_bytes) fail("%: a width is too large");
    }
    return number;
  }

  void convert(size_t& at) {
    runtime_.budget.step();
    Conversion how;
    const Value* named = nullptr;
    if (peek(at) == '(') {
      const size_t close = pattern_.text().find(')', at);
      if (close == std::string::npos) fail("%: a name is never closed");
      const Dict* dict = value_.dict();
      if (dict == nullptr) fail("%: names need a mapping");
      const std::string name = pattern_.text().substr(at + 1, close - at - 1);
      named = find_key(runtime_, *dict, Value::text(name, Origin::kTemplate));
      if (named == nullptr) fail("%: no value is named {}", quote(name));
      at = close + 1;
    }
    for (;; ++at) {
      const char flag = peek(at);
      if (flag == '-')
        how.left = true;
      else if (flag == '0')
        how.zero = true;
      else if (flag == '+')
        how.plus = true;
      else if (flag == ' ')
        how.blank = true;
      else if (flag == '#')
        how.alternative = true;
      else
        break;
    }
    how.width = read_number(at);
    if (how.width < 0) {
      how.left = true;
      how.width = -how.width;
    }
    if (peek(at) == '.') {
      ++at;
      how.precision = std::max<int64_t>(read_number(at), 0);
    }
    while (peek(at) == 'l' || peek(at) == 'h' || peek(at) == 'L') ++at;
    how.type = peek(at++);
    if (how.type == '%') return out_.append("%");
    write(how, named != nullptr ? *named : take());
  }

  void write(const Conversion& how, const Value& value) {
    switch (how.type) {
      case 's':
      case 'r':
      case 'a': {
        TextBuilder text(runtime_);
        if (how.type == 's')
          print(text, value);
        else
          print_quoted(text, value);
        const MarkedString& all = text.built();
        if (how.precision < 0) return padded(how, "", all);
        const size_t bytes = byte_of(all.text(), static_cast<size_t>(how.precision));
        return padded(how, "", all.substr(0, bytes));
      }
      case 'c':
        if (value.string() != nullptr && count_code_points(value.string()->text()) == 1)
          return padded(how, "", *value.string());
        fail("%c needs one character");
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return write_whole(how, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return write_real(how, value);
      default:
        fail("%: no conversion is called {}", quote(std::string(1, how.type)));
    }
  }

  void write_whole(const Conversion& how, const Value& value) {
    Number number;
    if (value.is_undefined()) fail("{}", value.why());
    const bool decimal = how.type == 'd' || how.type == 'i' || how.type == 'u';
    if (as_number(value, number) == nullptr || (number.is_float && !decimal))
      fail("%{} needs a number, not {}", how.type, value.type_name());
    if (number.is_float) {
      if (!(std::fabs(number.real) < 9.2e18)) fail("%{}: a number is out of range", how.type);
      number.whole = static_cast<int64_t>(number.real);
    }
    const bool negative = number.whole < 0;
    const uint64_t size =
        negative ? ~static_cast<uint64_t>(number.whole) + 1 : static_cast<uint64_t>(number.whole);
    std::string digits = how.type == 'x'   ? fmt::format("{:x}", size)
                         : how.type == 'X' ? fmt::format("{:X}", size)
                         : how.type == 'o' ? fmt::format("{:o}", size)
                                           : fmt::format("{}", size);
    if (how.precision > kMaxPrecision) fail("%: a precision above {}", kMaxPrecision);
    while (static_cast<int64_t>(digits.size()) < how.precision) digits.insert(0, "0");
    std::string prefix = sign(how, negative);
    if (how.alternative && !decimal)
      prefix += how.type == 'o' ? "0o" : how.type == 'x' ? "0x" : "0X";
    padded(how, prefix, MarkedString(digits, Origin::kTemplate));
  }

  void write_real(const Conversion& how, const Value& value) {
    Number number;
    if (value.is_undefined()) fail("{}", value.why());
    if (as_number(value, number) == nullptr)
      fail("%{} needs a number, not {}", how.type, value.type_name());
    if (how.precision > kMaxPrecision) fail("%: a precision above {}", kMaxPrecision);
    const int precision = how.precision < 0 ? 6 : static_cast<int>(how.precision);
    const double size = std::fabs(number.real);
    const std::string pattern =
        fmt::format("{{:{}.{}{}}}", how.alternative ? "#" : "", precision, how.type);
    padded(how, sign(how, std::signbit(number.real)),
           MarkedString(fmt::format(fmt::runtime(pattern), size), Origin::kTemplate));
  }

  static std::string sign(const Conversion& how, bool negative) {
    return negative ? "-" : how.plus ? "+" : how.blank ? " " : "";
  }

  void padded(const Conversion& how, std::string_view prefix, const MarkedString& text) {
    const auto size = static_cast<int64_t>(prefix.size() + count_code_points(text.text()));
    const int64_t fill = how.width - size;
    const bool number = std::string_view("diuxXoeEfFgG").find(how.type) != std::string::npos;
    const bool zeros = how.zero && !how.left && number;
    if (!how.left && !zeros) out_.repeat(MarkedString(" ", Origin::kTemplate), fill);
    out_.append(prefix);
    if (zeros) out_.repeat(MarkedString("0", Origin::kTemplate), fill);
    out_.append(text);
    if (how.left) out_.repeat(MarkedString(" ", Origin::kTemplate), fill);
  }

  Runtime& runtime_;
  const MarkedString& pattern_;
  const Value& value_;
  std::vector<Value> positional_;
  size_t next_ = 0;
  TextBuilder out_;
};

}  // namespace

Value format_percent(Runtime& runtime, const MarkedString& pattern, const Value& value) {
  return PercentFormatter(runtime, pattern, value).run();
}

Value format_braces(Runtime& runtime, const MarkedString& pattern, const Arguments& arguments) {
  const std::string_view all = pattern.text();
  TextBuilder out(runtime);
  size_t next = 0;
  for (size_t at = 0; at < all.size();) {
    runtime.budget.step();
    const size_t brace = std::min(all.find_first_of("{}", at), all.size());
    out.append(pattern.substr(at, brace - at));
    if (brace == all.size()) break;
    if (brace + 1 < all.size() && all[brace + 1] == all[brace]) {
      out.append(pattern.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    const size_t close = all.find('}', brace);
    if (all[brace] == '}' || close == std::string_view::npos)
      fail("format: a brace stands alone at byte {}", brace);
    const std::string_view name = all.substr(brace + 1, close - brace - 1);
    if (name.find_first_of(".[!:{") != std::string_view::npos)
      fail("format: only {{}}, {{0}} and {{name}} are supported");
    const bool digits =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    const Value* value = nullptr;
    if (digits && name.size() < 9) {
      const size_t index = name.empty() ? next++ : std::stoul(std::string(name));
      if (index < arguments.positional.size()) value = &arguments.positional[index];
    } else {
      for (const auto& [key, held] : arguments.keywords)
        if (key == name) value = &held;
    }
    if (value == nullptr) fail("format: no value for the field {}", quote(name));
    print(out, *value);
    at = close + 1;
  }
  return out.take();
}

}  // namespace looseleaf::jinja

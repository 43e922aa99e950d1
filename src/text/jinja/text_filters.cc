// Filters of strings and numbers.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/strings.h"
#include "text/jinja/to_json.h"
#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

// str(value), held by `kept`.
const MarkedString& text_of(Runtime& runtime, const Value& value, Value& kept) {
  kept = to_text(runtime, value);
  return *kept.string();
}
bool flag(const Value& value) { return is_true(value); }

template <auto kChange>
Value change(Runtime& runtime, const Value& input, const Bound&) {
  Value kept;
  return kChange(runtime, text_of(runtime, input, kept));
}

// Words begin behind white space, dashes and opening brackets.
Value title(Runtime& runtime, const MarkedString& text) {
  bool begins = true;
  return map_characters(runtime, text, [&](std::string& out, int32_t c, size_t) {
    const bool between = c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
    if (begins)
      append_upper(out, c);
    else
      append_lower(out, c);
    begins = between;
  });
}

Value trim(Runtime& runtime, const Value& input, const Bound& arguments) {
  Value kept;
  const MarkedString& text = text_of(runtime, input, kept);
  const Value& set = arguments[0];
  if (!arguments.has_some(0)) return strip(runtime, text, nullptr, Side::kBoth);
  if (set.string() == nullptr) fail("trim: chars is a {}, not a str", set.type_name());
  return strip(runtime, text, set.string(), Side::kBoth);
}

Value string(Runtime& runtime, const Value& input, const Bound&) { return to_text(runtime, input); }

Value replace_filter(Runtime& runtime, const Value& input, const Bound& arguments) {
  Value text, from, to;
  const int64_t most = !arguments.has_some(2) ? -1 : to_index(arguments[2], "replace: count");
  return replace(runtime, text_of(runtime, input, text), text_of(runtime, arguments[0], from),
                 text_of(runtime, arguments[1], to), most);
}

Value center(Runtime& runtime, const Value& input, const Bound& arguments) {
  Value kept;
  const MarkedString& text = text_of(runtime, input, kept);
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  const int64_t width = !arguments.has(0) ? 80 : to_index(arguments[0], "center: width");
  if (width <= length) return kept;
  const int64_t room = width - length, left = room / 2 + (room & width & 1);
  return pad(runtime, text, left, room - left, MarkedString(" ", Origin::kTemplate));
}

Value indent(Runtime& runtime, const Value& input, const Bound& arguments) {
  if (input.is_undefined()) fail("{}", input.why());
  if (input.string() == nullptr) fail("indent: a {} is no str", input.type_name());
  MarkedString blanks;
  if (const MarkedString* given = arguments[0].string()) {
    blanks = *given;
  } else {
    const int64_t width = !arguments.has(0) ? 4 : to_index(arguments[0], "indent: width");
    TextBuilder builder(runtime);
    builder.repeat(MarkedString(" ", Origin::kTemplate), width);
    blanks = builder.built();
  }
  TextBuilder with_end(runtime);  // so that a last line end opens a line of its own
  with_end.append(*input.string());
  with_end.append("\n");
  const std::vector<Value> lines = split_lines(runtime, with_end.built(), false);
  TextBuilder out(runtime);
  for (size_t i = 0; i < lines.size(); ++i) {
    const MarkedString& line = *lines[i].string();
    if (i > 0) out.append("\n");
    const bool indented = i == 0 ? flag(arguments[1]) : flag(arguments[2]) || !line.text().empty();
    if (indented) out.append(blanks);
    out.append(line);
  }
  return out.take();
}

Value truncate(Runtime& runtime, const Value& input, const Bound& arguments) {
  const int64_t length = !arguments.has(0) ? 255 : to_index(arguments[0], "truncate: length");
  const MarkedString dots("...", Origin::kTemplate);
  Value kept;
  const MarkedString& end = !arguments.has(2) ? dots : text_of(runtime, arguments[2], kept);
  const int64_t leeway = !arguments.has_some(3) ? 5 : to_index(arguments[3], "truncate: leeway");
  const auto end_length = static_cast<int64_t>(count_code_points(end.text()));
  if (length < end_length || leeway < 0) fail("truncate: a length or leeway is too small");
  if (length_of(input) - leeway <= length) return input;  // as the sum, which could overflow
  if (input.string() == nullptr) fail("truncate: a {} is no str", input.type_name());
  const MarkedString& text = *input.string();
  MarkedString start =
      text.substr(0, byte_of(text.text(), static_cast<size_t>(length - end_length)));
  if (!flag(arguments[1])) {
    const size_t blank = start.text().rfind(' ');
    if (blank != std::string::npos) start = start.substr(0, blank);
  }
  TextBuilder out(runtime);
  out.append(start);
  out.append(end);
  return out.take();
}

Value word_count(Runtime& runtime, const Value& input, const Bound&) {
  Value kept;
  std::string_view rest = text_of(runtime, input, kept).text();
  runtime.budget.work(rest.size() * 8);
  int64_t words = 0;
  bool inside = false;
  while (!rest.empty()) {
    const CodePoint c = first_code_point(rest);
    const bool word = c.value == '_' || is_letter(c.value) || is_numeric(c.value);
    words += word && !inside;
    inside = word;
    rest.remove_prefix(c.size);
  }
  return Value(words);
}

// int(text, base) of Python, nothing where it raises.
std::optional<int64_t> read_whole(std::string_view text, int base) {
  text.remove_prefix(leading_spaces(text));
  text.remove_suffix(trailing_spaces(text));
  std::string digits(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    const int named = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (named != 0 && (base == named || base == 0)) {
      digits.erase(0, 2);
      base = named;
      if (digits.starts_with('_')) digits.erase(0, 1);
    }
  }
  if (base == 0) base = 10;
  if (digits.starts_with('_') || digits.ends_with('_') || digits.find("__") != std::string::npos)
    return std::nullopt;
  std::erase(digits, '_');
  if (negative) digits.insert(0, "-");
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, base);
  if (code == std::errc::result_out_of_range) fail("int: the number goes beyond 64 bits");
  if (code != std::errc() || stop != end || digits.starts_with("--")) return std::nullopt;
  return value;
}

// float(text) of Python, nothing where it raises.
std::optional<double> read_real(std::string_view text) {
  text.remove_prefix(leading_spaces(text));
  text.remove_suffix(trailing_spaces(text));
  std::string digits(text);
  if (digits.starts_with('+')) digits.erase(0, 1);
  if (digits.starts_with('+') || digits.starts_with('_') || digits.ends_with('_'))
    return std::nullopt;
  for (size_t i = 1; i + 1 < digits.size(); ++i)
    if (digits[i] == '_' &&
        (digits[i - 1] < '0' || digits[i - 1] > '9' || digits[i + 1] < '0' || digits[i + 1] > '9'))
      return std::nullopt;
  std::erase(digits, '_');
  if (digits.find('(') != std::string::npos) return std::nullopt;  // nan(...)
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value);
  if (stop != end || digits.empty()) return std::nullopt;
  if (code == std::errc::result_out_of_range) return std::strtod(digits.c_str(), nullptr);
  if (code != std::errc()) return std::nullopt;
  return value;
}

Value to_int(Runtime&, const Value& input, const Bound& arguments) {
  const Value missing = !arguments.has(0) ? Value(int64_t{0}) : arguments[0];
  const int64_t base = !arguments.has(1) ? 10 : to_index(arguments[1], "int: base");
  Number number;
  if (as_number(input, number) != nullptr && !number.is_float) return Value(number.whole);
  std::optional<double> real;
  if (number.is_float) {
    real = number.real;
  } else if (const MarkedString* text = input.string()) {
    if (base != 0 && (base < 2 || base > 36)) return missing;
    if (const auto whole = read_whole(text->text(), static_cast<int>(base))) return Value(*whole);
    real = read_real(text->text());
  } else if (input.is_undefined()) {
    fail("{}", input.why());
  }
  if (!real || std::isnan(*real)) return missing;
  if (std::isinf(*real)) fail("int: infinity is no int");
  if (!(std::fabs(*real) < 9.2e18)) fail("int: the number goes beyond 64 bits");
  return Value(static_cast<int64_t>(*real));
}

Value to_float(Runtime&, const Value& input, const Bound& arguments) {
  Number number;
  if (input.is_undefined()) fail("{}", input.why());
  if (as_number(input, number) != nullptr) return Value(number.real);
  if (input.string() != nullptr)
    if (const auto real = read_real(input.string()->text())) return Value(*real);
  return !arguments.has(0) ? Value(0.0) : arguments[0];
}

Value absolute(Runtime&, const Value& input, const Bound&) {
  Number number;
  if (input.is_undefined()) fail("{}", input.why());
  if (as_number(input, number) == nullptr) fail("abs: a {} is no number", input.type_name());
  if (number.is_float) return Value(std::fabs(number.real));
  return number.whole < 0 ? negate(Value(number.whole)) : Value(number.whole);
}

// To the nearest, halves to even, of the decimal digits that the number stands for exactly.
double round_to(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 300) return value;
  if (digits >= 0) return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
  if (digits < -308) return 0.0 * value;
  const double scale = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / scale) * scale;
}

Value round(Runtime&, const Value& input, const Bound& arguments) {
  Number number;
  if (input.is_undefined()) fail("{}", input.why());
  if (as_number(input, number) == nullptr) fail("round: a {} is no number", input.type_name());
  const int64_t digits = !arguments.has(0) ? 0 : to_index(arguments[0], "round: precision");
  const std::string how = !arguments.has(1)                  ? "common"
                          : arguments[1].string() != nullptr ? arguments[1].string()->text()
                                                             : "";
  if (how == "common") {
    if (number.is_float) return Value(round_to(number.real, digits));
    if (digits >= 0) return Value(number.whole);
    return Value(static_cast<int64_t>(round_to(number.real, digits)));
  }
  if (how != "ceil" && how != "floor") fail("round: the method is common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = number.real * scale;
  return Value((how == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value default_filter(Runtime&, const Value& input, const Bound& arguments) {
  const bool replaced = input.is_undefined() || (flag(arguments[1]) && !is_true(input));
  if (!replaced) return input;
  return !arguments.has(0) ? Value::text("", Origin::kTemplate) : arguments[0];
}

// The arguments of transformers' tojson.
Value tojson(Runtime& runtime, const Value& input, const Bound& arguments) {
  JsonStyle style;
  style.ascii = flag(arguments[0]);
  const Value& indent = arguments[1];
  style.lines = arguments.has_some(1);
  if (indent.string() != nullptr) {
    style.indent = *indent.string();
  } else if (style.lines) {
    TextBuilder blanks(runtime);
    blanks.repeat(MarkedString(" ", Origin::kTemplate), to_index(indent, "tojson: indent"));
    style.indent = blanks.built();
  }
  style.item_separator = MarkedString(style.lines ? "," : ", ", Origin::kTemplate);
  style.key_separator = MarkedString(": ", Origin::kTemplate);
  if (arguments.has_some(2)) {
    const std::vector<Value> separators = items_of(runtime, arguments[2]);
    if (separators.size() != 2 || separators[0].string() == nullptr ||
        separators[1].string() == nullptr)
      fail("tojson: separators are two strings");
    style.item_separator = *separators[0].string();
    style.key_separator = *separators[1].string();
  }
  style.sorted = flag(arguments[3]);
  return to_json(runtime, input, style);
}

constexpr Filter kFilters[] = {
    {"upper", "", change<upper>},
    {"lower", "", change<lower>},
    {"capitalize", "", change<capitalize>},
    {"title", "", change<title>},
    {"trim", "chars=", trim},
    {"string", "", string},
    {"safe", "", string},
    {"replace", "old new count=", replace_filter},
    {"center", "width=", center},
    {"indent", "width= first= blank=", indent},
    {"truncate", "length= killwords= end= leeway=", truncate},
    {"wordcount", "", word_count},
    {"int", "default= base=", to_int},
    {"float", "default=", to_float},
    {"abs", "", absolute},
    {"round", "precision= method=", round},
    {"default", "default_value= boolean=", default_filter},
    {"d", "default_value= boolean=", default_filter},
    {"tojson", "ensure_ascii= indent= separators= sort_keys=", tojson},
};

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace looseleaf::jinja

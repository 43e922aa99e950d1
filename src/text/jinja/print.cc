#include "text/jinja/print.h"

#include <charconv>
#include <cmath>

#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

void print_string(TextBuilder& out, const MarkedString& text) {
  const std::string_view all = text.text();
  const bool doubled = all.find('\'') != std::string::npos && all.find('"') == std::string::npos;
  const char mark = doubled ? '"' : '\'';
  out.append(std::string_view(&mark, 1));
  size_t begin = 0;
  std::string escaped;
  for (const MarkedString::Range& range : text.ranges()) {
    escaped.clear();
    std::string_view rest = all.substr(begin, range.end - begin);
    while (!rest.empty()) {
      const CodePoint c = first_code_point(rest);
      if (c.value == '\\' || c.value == mark)
        (escaped += '\\') += static_cast<char>(c.value);
      else if (c.value == '\n')
        escaped += "\\n";
      else if (c.value == '\r')
        escaped += "\\r";
      else if (c.value == '\t')
        escaped += "\\t";
      else if (is_printable(c.value))
        escaped += rest.substr(0, c.size);
      else if (c.value < 0x100)
        escaped += fmt::format("\\x{:02x}", c.value);
      else if (c.value < 0x10000)
        escaped += fmt::format("\\u{:04x}", c.value);
      else
        escaped += fmt::format("\\U{:08x}", c.value);
      rest.remove_prefix(c.size);
    }
    out.append(escaped, range.origin);
    begin = range.end;
  }
  out.append(std::string_view(&mark, 1));
}

void print_items(TextBuilder& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    print_quoted(out, items[i]);
  }
}

void print_sequence(TextBuilder& out, const Value& value, const Sequence& sequence) {
  const std::vector<Value>& items = sequence.items;
  switch (sequence.form) {
    case Form::kTuple:
      out.append("(");
      print_items(out, items);
      out.append(items.size() == 1 ? ",)" : ")");
      return;
    case Form::kList:
      out.append("[");
      print_items(out, items);
      out.append("]");
      return;
    case Form::kKeys:
    case Form::kValues:
    case Form::kItems:
      out.append(value.type_name());
      out.append("([");
      print_items(out, items);
      out.append("])");
      return;
    case Form::kRange:
      if (!sequence.shown.empty()) return out.append(sequence.shown);
      break;
    case Form::kGenerator:
      break;
  }
  fail("a {} has no text: make it a list first", value.type_name());
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string digits(buffer, result.ptr);
  const size_t e = digits.find('e');
  const int exponent = std::stoi(digits.substr(e + 1));
  if (exponent < -4 || exponent >= 16) return digits;
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

void print_quoted(TextBuilder& out, const Value& value) {
  if (value.is_undefined())
    out.append("Undefined");
  else if (const MarkedString* text = value.string())
    print_string(out, *text);
  else
    print(out, value);
}

void print(TextBuilder& out, const Value& value) {
  if (value.is_undefined()) return;
  if (value.is_none()) return out.append("None");
  if (const bool* flag = value.get<bool>()) return out.append(*flag ? "True" : "False");
  if (const int64_t* number = value.get<int64_t>()) return out.append(fmt::format("{}", *number));
  if (const double* number = value.get<double>()) return out.append(float_text(*number));
  if (const MarkedString* text = value.string()) return out.append(*text);
  if (const Sequence* sequence = value.sequence()) return print_sequence(out, value, *sequence);
  const Dict* dict = value.dict();
  if (dict == nullptr) fail("a {} has no text", value.type_name());
  out.append("{");
  for (size_t i = 0; i < dict->entries.size(); ++i) {
    if (i > 0) out.append(", ");
    print_quoted(out, dict->entries[i].first);
    out.append(": ");
    print_quoted(out, dict->entries[i].second);
  }
  out.append("}");
}

Value to_text(Runtime& runtime, const Value& value) {
  if (value.string() != nullptr) return value;
  TextBuilder out(runtime);
  print(out, value);
  return out.take();
}

}  // namespace looseleaf::jinja

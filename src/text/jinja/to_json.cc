#include "text/jinja/to_json.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style)
      : runtime_(runtime), style_(style), out_(runtime) {}

  Value take() { return out_.take(); }

  void write(const Value& value, int level) {
    runtime_.budget.step();
    if (const MarkedString* text = value.string()) return write_string(*text);
    if (const Dict* dict = value.dict()) return write_dict(*dict, level);
    if (const Sequence* sequence = value.sequence();
        sequence != nullptr && (sequence->form == Form::kList || sequence->form == Form::kTuple))
      return write_list(*sequence, level);
    out_.append(scalar(value));
  }

 private:
  static std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (const bool* flag = value.get<bool>()) return *flag ? "true" : "false";
    if (const int64_t* number = value.get<int64_t>()) return fmt::format("{}", *number);
    if (const double* number = value.get<double>()) {
      if (std::isnan(*number)) return "NaN";
      if (std::isinf(*number)) return *number < 0 ? "-Infinity" : "Infinity";
      return float_text(*number);
    }
    if (value.is_undefined()) fail("tojson: {}", value.why());
    fail("tojson: JSON has no {}", value.type_name());
  }

  void escape(std::string& out, std::string_view bytes, int32_t c) const {
    switch (c) {
      case '"':
        out += "\\\"";
        return;
      case '\\':
        out += "\\\\";
        return;
      case '\n':
        out += "\\n";
        return;
      case '\r':
        out += "\\r";
        return;
      case '\t':
        out += "\\t";
        return;
      case '\b':
        out += "\\b";
        return;
      case '\f':
        out += "\\f";
        return;
      default:
        break;
    }
    if (c >= 0x20 && (c < 0x7F || !style_.ascii)) {
      out += bytes;
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      const int32_t rest = c - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }

  void write_string(const MarkedString& text) {
    out_.append("\"");
    size_t begin = 0;
    std::string escaped;
    for (const MarkedString::Range& range : text.ranges()) {
      escaped.clear();
      std::string_view rest = std::string_view(text.text()).substr(begin, range.end - begin);
      while (!rest.empty()) {
        const CodePoint c = first_code_point(rest);
        escape(escaped, rest.substr(0, c.size), c.value);
        rest.remove_prefix(c.size);
      }
      out_.append(escaped, range.origin);
      begin = range.end;
    }
    out_.append("\"");
  }

  void new_line(int level) {
    if (!style_.lines) return;
    out_.append("\n");
    out_.repeat(style_.indent, level);
  }

  void write_list(const Sequence& list, int level) {
    if (list.items.empty()) return out_.append("[]");
    out_.append("[");
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator);
      new_line(level + 1);
      write(list.items[i], level + 1);
    }
    new_line(level);
    out_.append("]");
  }

  void write_dict(const Dict& dict, int level) {
    if (dict.entries.empty()) return out_.append("{}");
    runtime_.budget.build(dict.entries.size() * sizeof(void*));
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sorted)
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        return compare(runtime_, "<", a->first, b->first);
      });
    out_.append("{");
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator);
      new_line(level + 1);
      const Value& key = entries[i]->first;
      if (key.string() != nullptr)
        write_string(*key.string());
      else
        write_string(MarkedString(scalar(key), Origin::kTemplate));
      out_.append(style_.key_separator);
      write(entries[i]->second, level + 1);
    }
    new_line(level);
    out_.append("}");
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  TextBuilder out_;
};

}  // namespace

Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace looseleaf::jinja

#include "text/jinja/strings.h"

#include <algorithm>

#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

Value part(Runtime& runtime, const MarkedString& text, size_t from, size_t to) {
  runtime.budget.step();
  return runtime.text(text.substr(from, to - from));
}

bool holds(std::string_view set, int32_t c) {
  while (!set.empty()) {
    const CodePoint member = first_code_point(set);
    if (member.value == c) return true;
    set.remove_prefix(member.size);
  }
  return false;
}

}  // namespace

std::vector<Value> characters(Runtime& runtime, const MarkedString& text) {
  std::vector<Value> items;
  std::string_view rest = text.text();
  for (size_t at = 0; at < rest.size();) {
    const size_t size = first_code_point(rest.substr(at)).size;
    runtime.budget.build(sizeof(Value) + sizeof(MarkedString));
    items.push_back(part(runtime, text, at, at + size));
    at += size;
  }
  return items;
}

size_t find_text(std::string_view text, std::string_view what, size_t from) {
  return text.find(what, from);
}

SliceRange resolve_slice(const Slice& slice, int64_t length) {
  const int64_t step = slice.step.value_or(1);
  if (step == 0) fail("a slice's step is 0");
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  const auto bound = [&](std::optional<int64_t> index, int64_t missing) {
    if (!index) return missing;
    int64_t value = *index;
    if (value < 0) value = value < -length ? low : value + length;
    return std::clamp(value, low, high);
  };
  const int64_t start = bound(slice.start, step < 0 ? high : low);
  const int64_t stop = bound(slice.stop, step < 0 ? low : high);
  SliceRange range{start, 0, step};
  // Unsigned, since a step may be as far below zero as an int goes.
  const uint64_t size = step < 0 ? ~static_cast<uint64_t>(step) + 1 : static_cast<uint64_t>(step);
  const int64_t span = step < 0 ? start - stop : stop - start;
  if (span > 0) range.count = static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / size + 1);
  return range;
}

Value slice_text(Runtime& runtime, const MarkedString& text, const Slice& slice) {
  runtime.budget.work(text.text().size());
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  const SliceRange range = resolve_slice(slice, length);
  if (range.count == 0) return runtime.text(std::string_view());
  if (range.step == 1) {
    const size_t from = byte_of(text.text(), static_cast<size_t>(range.first));
    const std::string_view rest = std::string_view(text.text()).substr(from);
    return part(runtime, text, from, from + byte_of(rest, static_cast<size_t>(range.count)));
  }
  runtime.budget.build(static_cast<size_t>(length) * sizeof(size_t));
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.text().size();
       at += first_code_point(std::string_view(text.text()).substr(at)).size)
    starts.push_back(at);
  starts.push_back(text.text().size());
  TextBuilder builder(runtime);
  for (int64_t i = 0; i < range.count; ++i) {
    runtime.budget.step();
    const auto index = static_cast<size_t>(range.first + i * range.step);
    builder.append(text.substr(starts[index], starts[index + 1] - starts[index]));
  }
  return builder.take();
}

std::optional<Value> character_at(Runtime& runtime, const MarkedString& text, int64_t index) {
  runtime.budget.work(text.text().size());
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  const size_t from = byte_of(text.text(), static_cast<size_t>(index));
  const std::string_view rest = std::string_view(text.text()).substr(from);
  return part(runtime, text, from, from + first_code_point(rest).size);
}

Value strip(Runtime& runtime, const MarkedString& text, const MarkedString* set, Side side) {
  std::string_view rest = text.text();
  const auto goes = [&](int32_t c) {
    runtime.budget.work(set == nullptr ? 0 : set->text().size());
    return set == nullptr ? is_space(c) : holds(set->text(), c);
  };
  size_t from = 0;
  while (side != Side::kRight && !rest.empty() && goes(first_code_point(rest).value)) {
    from += first_code_point(rest).size;
    rest.remove_prefix(first_code_point(rest).size);
  }
  while (side != Side::kLeft && !rest.empty() && goes(last_code_point(rest).value))
    rest.remove_suffix(last_code_point(rest).size);
  return part(runtime, text, from, from + rest.size());
}

std::vector<Value> split(Runtime& runtime, const MarkedString& text, const MarkedString* separator,
                         int64_t most) {
  const std::string_view all = text.text();
  runtime.budget.work(all.size());
  std::vector<Value> parts;
  size_t at = 0;
  const auto more = [&] { return most < 0 || static_cast<int64_t>(parts.size()) < most; };
  if (separator != nullptr) {
    if (separator->text().empty()) fail("a string cannot be split at an empty one");
    for (size_t next; more() && (next = all.find(separator->text(), at)) != std::string::npos;) {
      parts.push_back(part(runtime, text, at, next));
      at = next + separator->text().size();
    }
    parts.push_back(part(runtime, text, at, all.size()));
    return parts;
  }
  for (;;) {
    at += leading_spaces(all.substr(at));
    if (at == all.size()) return parts;
    if (!more()) {
      parts.push_back(part(runtime, text, at, all.size()));
      return parts;
    }
    size_t end = at;
    while (end < all.size()) {
      const CodePoint c = first_code_point(all.substr(end));
      if (is_space(c.value)) break;
      end += c.size;
    }
    parts.push_back(part(runtime, text, at, end));
    at = end;
  }
}

std::vector<Value> split_from_right(Runtime& runtime, const MarkedString& text,
                                    const MarkedString* separator, int64_t most) {
  if (most < 0) return split(runtime, text, separator, most);
  const std::string_view all = text.text();
  runtime.budget.work(all.size());
  std::vector<Value> parts;
  size_t end = all.size();
  const auto more = [&] { return static_cast<int64_t>(parts.size()) < most; };
  if (separator != nullptr) {
    const std::string& cut = separator->text();
    if (cut.empty()) fail("a string cannot be split at an empty one");
    while (more() && end >= cut.size()) {
      const size_t found = all.substr(0, end).rfind(cut);
      if (found == std::string::npos) break;
      parts.push_back(part(runtime, text, found + cut.size(), end));
      end = found;
    }
    parts.push_back(part(runtime, text, 0, end));
  } else {
    for (;;) {
      end -= trailing_spaces(all.substr(0, end));
      if (end == 0) break;
      if (!more()) {
        parts.push_back(part(runtime, text, 0, end));
        break;
      }
      size_t from = end;
      while (from > 0) {
        const CodePoint c = last_code_point(all.substr(0, from));
        if (is_space(c.value)) break;
        from -= c.size;
      }
      parts.push_back(part(runtime, text, from, end));
      end = from;
    }
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Value> split_lines(Runtime& runtime, const MarkedString& text, bool keep_ends) {
  const std::string_view all = text.text();
  runtime.budget.work(all.size());
  std::vector<Value> lines;
  size_t from = 0;
  for (size_t at = 0; at < all.size();) {
    const CodePoint c = first_code_point(all.substr(at));
    size_t next = at + c.size;
    const bool ends = (c.value >= 0x0A && c.value <= 0x0D) ||
                      (c.value >= 0x1C && c.value <= 0x1E) || c.value == 0x85 ||
                      c.value == 0x2028 || c.value == 0x2029;
    if (ends) {
      if (c.value == '\r' && next < all.size() && all[next] == '\n') ++next;
      lines.push_back(part(runtime, text, from, keep_ends ? next : at));
      from = next;
    }
    at = next;
  }
  if (from < all.size()) lines.push_back(part(runtime, text, from, all.size()));
  return lines;
}

Value replace(Runtime& runtime, const MarkedString& text, const MarkedString& from,
              const MarkedString& to, int64_t most) {
  const std::string_view all = text.text();
  runtime.budget.work(all.size());
  TextBuilder builder(runtime);
  size_t at = 0;
  int64_t done = 0;
  const auto more = [&] { return most < 0 || done < most; };
  if (from.text().empty()) {
    // Before each character and at the end.
    for (;; ++done) {
      runtime.budget.step();
      if (more()) builder.append(to);
      if (!more() || at == all.size()) break;
      const size_t size = first_code_point(all.substr(at)).size;
      builder.append(text.substr(at, size));
      at += size;
    }
  } else {
    for (size_t next; more() && (next = all.find(from.text(), at)) != std::string::npos; ++done) {
      runtime.budget.step();
      builder.append(text.substr(at, next - at));
      builder.append(to);
      at = next + from.text().size();
    }
  }
  builder.append(text.substr(at));
  return builder.take();
}

Value join(Runtime& runtime, const MarkedString& separator, const std::vector<Value>& items,
           bool only_strings) {
  TextBuilder builder(runtime);
  for (size_t i = 0; i < items.size(); ++i) {
    runtime.budget.step();
    if (i > 0) builder.append(separator);
    if (only_strings && items[i].string() == nullptr)
      fail("join: item {} is a {}, not a str", i, items[i].type_name());
    print(builder, items[i]);
  }
  return builder.take();
}

Value map_characters(Runtime& runtime, const MarkedString& text, const Change& change) {
  const std::string_view all = text.text();
  runtime.budget.work(all.size() * 8);
  TextBuilder builder(runtime);
  size_t begin = 0, index = 0;
  std::string changed;
  for (const MarkedString::Range& range : text.ranges()) {
    changed.clear();
    std::string_view rest = all.substr(begin, range.end - begin);
    while (!rest.empty()) {
      const CodePoint c = first_code_point(rest);
      change(changed, c.value, index++);
      rest.remove_prefix(c.size);
    }
    builder.append(changed, range.origin);
    begin = range.end;
  }
  return builder.take();
}

Value upper(Runtime& runtime, const MarkedString& text) {
  return map_characters(runtime, text,
                        [](std::string& out, int32_t c, size_t) { append_upper(out, c); });
}
Value lower(Runtime& runtime, const MarkedString& text) {
  return map_characters(runtime, text,
                        [](std::string& out, int32_t c, size_t) { append_lower(out, c); });
}
Value capitalize(Runtime& runtime, const MarkedString& text) {
  return map_characters(runtime, text, [](std::string& out, int32_t c, size_t index) {
    if (index == 0)
      append_title(out, c);
    else
      append_lower(out, c);
  });
}

Value pad(Runtime& runtime, const MarkedString& text, int64_t left, int64_t right,
          const MarkedString& fill) {
  TextBuilder builder(runtime);
  builder.repeat(fill, left);
  builder.append(text);
  builder.repeat(fill, right);
  return builder.take();
}

}  // namespace looseleaf::jinja

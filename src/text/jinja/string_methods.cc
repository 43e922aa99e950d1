#include "text/jinja/string_methods.h"

#include <algorithm>

#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/strings.h"
#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

const MarkedString& text_of(const Value& value, std::string_view what) {
  if (value.is_undefined()) fail("{}", value.why());
  if (value.string() == nullptr) fail("{} is a {}, not a str", what, value.type_name());
  return *value.string();
}
// Null: left out, or None.
const MarkedString* optional_text(const Bound& arguments, size_t i, std::string_view what) {
  return arguments.has_some(i) ? &text_of(arguments[i], what) : nullptr;
}
int64_t optional_number(const Bound& arguments, size_t i, std::string_view what) {
  return arguments.has(i) ? to_index(arguments[i], what) : -1;
}

template <Side kSide>
Value strip_method(Runtime& runtime, const Value& self, const Bound& arguments) {
  return strip(runtime, *self.string(), optional_text(arguments, 0, "strip: chars"), kSide);
}

template <auto kSplit>
Value split_method(Runtime& runtime, const Value& self, const Bound& arguments) {
  return runtime.sequence(kSplit(runtime, *self.string(), optional_text(arguments, 0, "split: sep"),
                                 optional_number(arguments, 1, "split: maxsplit")));
}
Value splitlines(Runtime& runtime, const Value& self, const Bound& arguments) {
  return runtime.sequence(split_lines(runtime, *self.string(), is_true(arguments[0])));
}

// The part of the text that the arguments 1 and 2, start and end in code points, leave: where it
// begins in bytes. Nothing when start lies behind the text's end.
struct Window {
  std::string_view text;
  size_t from = 0;
  int64_t first = 0;
};
std::optional<Window> window(Runtime& runtime, const MarkedString& text, const Bound& arguments) {
  runtime.budget.work(text.text().size());
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  const auto place = [&](size_t i, int64_t missing) {
    if (!arguments.has_some(i)) return missing;
    const int64_t index = to_index(arguments[i], "a slice's end");
    return index < 0 ? std::max<int64_t>(0, index < -length ? 0 : index + length) : index;
  };
  const int64_t first = place(1, 0), last = std::min(place(2, length), length);
  if (first > length || first > last) return std::nullopt;
  const std::string_view all = text.text();
  const size_t from = byte_of(all, static_cast<size_t>(first));
  const size_t to = byte_of(all, static_cast<size_t>(last));
  return Window{all.substr(from, to - from), from, first};
}

enum class Affix : uint8_t { kStart, kEnd };
template <Affix kAffix>
Value has_affix(Runtime& runtime, const Value& self, const Bound& arguments) {
  const auto part = window(runtime, *self.string(), arguments);
  const auto matches = [&](const Value& affix) {
    const std::string& wanted = text_of(affix, "a prefix or suffix").text();
    if (!part) return false;
    return kAffix == Affix::kStart ? part->text.starts_with(wanted) : part->text.ends_with(wanted);
  };
  const Sequence* several = arguments[0].sequence();
  if (several == nullptr || several->form != Form::kTuple) return Value(matches(arguments[0]));
  bool any = false;
  for (const Value& affix : several->items) any = matches(affix) || any;
  return Value(any);
}
template <Affix kAffix>
Value remove_affix(Runtime& runtime, const Value& self, const Bound& arguments) {
  const MarkedString& text = *self.string();
  const std::string& affix = text_of(arguments[0], "a prefix or suffix").text();
  if (kAffix == Affix::kStart)
    return text.text().starts_with(affix) ? runtime.text(text.substr(affix.size())) : self;
  return text.text().ends_with(affix)
             ? runtime.text(text.substr(0, text.text().size() - affix.size()))
             : self;
}

template <bool kLast, bool kMustBe>
Value find_in_text(Runtime& runtime, const Value& self, const Bound& arguments) {
  const std::string& wanted = text_of(arguments[0], "find: what").text();
  const auto part = window(runtime, *self.string(), arguments);
  size_t found = std::string::npos;
  if (part) found = kLast ? part->text.rfind(wanted) : part->text.find(wanted);
  if (found != std::string::npos)
    return Value(part->first +
                 static_cast<int64_t>(count_code_points(part->text.substr(0, found))));
  if (kMustBe) fail("index: the text does not hold it");
  return Value(int64_t{-1});
}

Value count(Runtime& runtime, const Value& self, const Bound& arguments) {
  const std::string& wanted = text_of(arguments[0], "count: what").text();
  const auto part = window(runtime, *self.string(), arguments);
  if (!part) return Value(int64_t{0});
  if (wanted.empty()) return Value(static_cast<int64_t>(count_code_points(part->text) + 1));
  int64_t found = 0;
  for (size_t at = 0; (at = part->text.find(wanted, at)) != std::string::npos; at += wanted.size())
    ++found;
  return Value(found);
}

Value replace_method(Runtime& runtime, const Value& self, const Bound& arguments) {
  return replace(runtime, *self.string(), text_of(arguments[0], "replace: old"),
                 text_of(arguments[1], "replace: new"),
                 optional_number(arguments, 2, "replace: count"));
}
Value join_method(Runtime& runtime, const Value& self, const Bound& arguments) {
  return join(runtime, *self.string(), items_of(runtime, arguments[0]), true);
}

template <auto kChange>
Value change(Runtime& runtime, const Value& self, const Bound&) {
  return kChange(runtime, *self.string());
}
Value swap_case(Runtime& runtime, const MarkedString& text) {
  return map_characters(runtime, text, [](std::string& out, int32_t c, size_t) {
    if (is_upper(c))
      append_lower(out, c);
    else
      append_upper(out, c);
  });
}
Value title(Runtime& runtime, const MarkedString& text) {
  bool inside = false;
  return map_characters(runtime, text, [&](std::string& out, int32_t c, size_t) {
    if (inside)
      append_lower(out, c);
    else
      append_title(out, c);
    inside = is_cased(c);
  });
}

template <bool kEmpty, auto kEach>
Value all_are(Runtime& runtime, const Value& self, const Bound&) {
  std::string_view rest = self.string()->text();
  runtime.budget.work(rest.size() * 8);
  if (rest.empty()) return Value(kEmpty);
  while (!rest.empty()) {
    const CodePoint c = first_code_point(rest);
    if (!kEach(c.value)) return Value(false);
    rest.remove_prefix(c.size);
  }
  return Value(true);
}
bool is_ascii(int32_t c) { return c < 0x80; }
bool is_alphanumeric(int32_t c) { return is_letter(c) || is_numeric(c); }

template <auto kAll>
Value cased(Runtime& runtime, const Value& self, const Bound&) {
  runtime.budget.work(self.string()->text().size() * 8);
  return Value(kAll(self.string()->text()));
}

enum class Room : uint8_t { kLeft, kRight, kBoth };
template <Room kRoom>
Value justify(Runtime& runtime, const Value& self, const Bound& arguments) {
  const MarkedString& text = *self.string();
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  const MarkedString blank(" ", Origin::kTemplate);
  const MarkedString& fill = !arguments.has(1) ? blank : text_of(arguments[1], "a fill");
  if (count_code_points(fill.text()) != 1) fail("a fill is one character");
  const int64_t width = to_index(arguments[0], "a width");
  if (width <= length) return self;
  const int64_t room = width - length;
  // Python puts the odd blank left where the width is odd.
  const int64_t left = kRoom == Room::kLeft    ? room
                       : kRoom == Room::kRight ? 0
                                               : room / 2 + (room & width & 1);
  return pad(runtime, text, left, room - left, fill);
}
Value zero_fill(Runtime& runtime, const Value& self, const Bound& arguments) {
  const MarkedString& text = *self.string();
  const auto length = static_cast<int64_t>(count_code_points(text.text()));
  const int64_t width = to_index(arguments[0], "zfill: a width");
  if (width <= length) return self;
  const bool sign = text.text().starts_with('-') || text.text().starts_with('+');
  TextBuilder builder(runtime);
  builder.append(text.substr(0, sign ? 1 : 0));
  builder.repeat(MarkedString("0", Origin::kTemplate), width - length);
  builder.append(text.substr(sign ? 1 : 0));
  return builder.take();
}

template <bool kLast>
Value partition(Runtime& runtime, const Value& self, const Bound& arguments) {
  const MarkedString& text = *self.string();
  const MarkedString& separator = text_of(arguments[0], "partition: sep");
  if (separator.text().empty()) fail("partition: an empty separator");
  runtime.budget.work(text.text().size());
  const size_t at =
      kLast ? text.text().rfind(separator.text()) : text.text().find(separator.text());
  const Value none = runtime.text(std::string_view());
  if (at == std::string::npos)
    return runtime.sequence(
        kLast ? std::vector<Value>{none, none, self} : std::vector<Value>{self, none, none},
        Form::kTuple);
  return runtime.sequence({runtime.text(text.substr(0, at)), runtime.text(separator),
                           runtime.text(text.substr(at + separator.text().size()))},
                          Form::kTuple);
}

Value has_no_signature(Runtime&, const Value&, const Bound&) { return {}; }

constexpr Method kMethods[] = {
    {"strip", "/ chars=", strip_method<Side::kBoth>},
    {"lstrip", "/ chars=", strip_method<Side::kLeft>},
    {"rstrip", "/ chars=", strip_method<Side::kRight>},
    {"split", "sep= maxsplit=", split_method<split>},
    {"rsplit", "sep= maxsplit=", split_method<split_from_right>},
    {"splitlines", "keepends=", splitlines},
    {"startswith", "/ prefix start= end=", has_affix<Affix::kStart>},
    {"endswith", "/ suffix start= end=", has_affix<Affix::kEnd>},
    {"removeprefix", "/ prefix", remove_affix<Affix::kStart>},
    {"removesuffix", "/ suffix", remove_affix<Affix::kEnd>},
    {"find", "/ sub start= end=", find_in_text<false, false>},
    {"rfind", "/ sub start= end=", find_in_text<true, false>},
    {"index", "/ sub start= end=", find_in_text<false, true>},
    {"rindex", "/ sub start= end=", find_in_text<true, true>},
    {"count", "/ sub start= end=", count},
    {"replace", "/ old new count=", replace_method},
    {"join", "/ iterable", join_method},
    {"upper", "/", change<upper>},
    {"lower", "/", change<lower>},
    {"capitalize", "/", change<capitalize>},
    {"title", "/", change<title>},
    {"swapcase", "/", change<swap_case>},
    {"isalpha", "/", all_are<false, is_letter>},
    {"isalnum", "/", all_are<false, is_alphanumeric>},
    {"isdecimal", "/", all_are<false, is_decimal>},
    {"isnumeric", "/", all_are<false, is_numeric>},
    {"isdigit", "/", all_are<false, is_decimal>},
    {"isspace", "/", all_are<false, is_space>},
    {"isascii", "/", all_are<true, is_ascii>},
    {"isprintable", "/", all_are<true, is_printable>},
    {"isupper", "/", cased<all_upper>},
    {"islower", "/", cased<all_lower>},
    {"ljust", "/ width fill=", justify<Room::kRight>},
    {"rjust", "/ width fill=", justify<Room::kLeft>},
    {"center", "/ width fill=", justify<Room::kBoth>},
    {"zfill", "/ width", zero_fill},
    {"partition", "/ sep", partition<false>},
    {"rpartition", "/ sep", partition<true>},
    {"format", "", has_no_signature},
};

// Some character is cased, and no cased one is `other`.
bool all_of_case(std::string_view rest, bool (*other)(int32_t)) {
  bool any = false;
  while (!rest.empty()) {
    const CodePoint c = first_code_point(rest);
    if (is_cased(c.value)) {
      if (other(c.value)) return false;
      any = true;
    }
    rest.remove_prefix(c.size);
  }
  return any;
}

}  // namespace

std::span<const Method> string_methods() { return kMethods; }

bool all_upper(std::string_view text) {
  return all_of_case(text, [](int32_t c) { return !is_upper(c); });
}
bool all_lower(std::string_view text) {
  return all_of_case(text, [](int32_t c) { return !is_lower(c); });
}

}  // namespace looseleaf::jinja

#include "text/jinja/filters.h"

#include <algorithm>
#include <array>

#include "text/jinja/attributes.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

// Null: none is called so.
const Filter* find_filter(std::string_view name) {
  for (const std::span<const Filter> table : {text_filters(), sequence_filters()})
    for (const Filter& filter : table)
      if (filter.name == name) return &filter;
  return nullptr;
}

const std::string& name_of(const Value& value, std::string_view what) {
  if (value.string() == nullptr) fail("{} is a {}, not a str", what, value.type_name());
  return value.string()->text();
}

Arguments behind(const Arguments& arguments, size_t first) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(first),
                         arguments.positional.end());
  rest.keywords = arguments.keywords;
  return rest;
}

Value map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  std::vector<Value> results;
  if (!is_true(input)) return runtime.sequence({}, Form::kGenerator);
  if (arguments.positional.empty()) {
    const Bound bound = bind("map", "attribute default=", arguments);
    const Value missing = !bound.has(1) ? Value(None{}) : bound[1];
    for (const Value& item : items_of(runtime, input))
      results.push_back(attribute_path(runtime, item, bound[0], missing));
  } else {
    const std::string& name = name_of(arguments.positional[0], "map: a filter's name");
    const Arguments rest = behind(arguments, 1);
    for (const Value& item : items_of(runtime, input))
      results.push_back(call_filter(runtime, name, item, rest));
  }
  return runtime.sequence(std::move(results), Form::kGenerator);
}

// select, reject and their variants with an attribute.
Value pick(Runtime& runtime, std::string_view name, const Value& input,
           const Arguments& arguments) {
  std::vector<Value> kept;
  if (!is_true(input)) return runtime.sequence({}, Form::kGenerator);
  const bool by_attribute = name.ends_with("attr"), wanted = name.starts_with("select");
  const size_t test = by_attribute ? 1 : 0;
  if (arguments.positional.size() < test) fail("{}: the attribute's name is missing", name);
  const bool tested = arguments.positional.size() > test;
  const Arguments rest = tested ? behind(arguments, test + 1) : Arguments();
  for (Value& item : items_of(runtime, input)) {
    const Value value =
        by_attribute ? attribute_path(runtime, item, arguments.positional[0]) : item;
    const bool holds =
        tested
            ? call_test(runtime, name_of(arguments.positional[test], "a test's name"), value, rest)
            : is_true(value);
    if (holds == wanted) kept.push_back(std::move(item));
  }
  return runtime.sequence(std::move(kept), Form::kGenerator);
}

Value format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.keywords.empty())
    fail("format: values by name and by place do not mix");
  std::vector<std::pair<Value, Value>> named;
  for (const auto& [name, value] : arguments.keywords)
    named.emplace_back(runtime.text(name), value);
  const Value values = named.empty() ? runtime.sequence(arguments.positional, Form::kTuple)
                                     : runtime.dict(std::move(named));
  return format_percent(runtime, *to_text(runtime, input).string(), values);
}

constexpr std::array<std::string_view, 4> kPicks = {"select", "reject", "selectattr", "rejectattr"};
bool is_pick(std::string_view name) {
  return std::find(kPicks.begin(), kPicks.end(), name) != kPicks.end();
}

}  // namespace

bool has_filter(std::string_view name) {
  return find_filter(name) != nullptr || is_pick(name) || name == "map" || name == "format";
}

Value call_filter(Runtime& runtime, std::string_view name, const Value& input,
                  const Arguments& arguments) {
  runtime.budget.step();
  const Frame frame(runtime.budget);
  if (name == "map") return map(runtime, input, arguments);
  if (name == "format") return format(runtime, input, arguments);
  if (is_pick(name)) return pick(runtime, name, input, arguments);
  const Filter* filter = find_filter(name);
  if (filter == nullptr) fail("no filter is named {}", quote(name));
  return filter->call(runtime, input, bind(name, filter->signature, arguments));
}

Value attribute_path(Runtime& runtime, const Value& value, const Value& path,
                     const Value& missing) {
  if (path.is_undefined() || path.is_none()) return value;
  Value held = value;
  const auto go = [&](const Value& key) {
    held = item(runtime, held, key);
    if (held.is_undefined() && !missing.is_none()) held = missing;
  };
  if (path.string() == nullptr) {
    go(path);
    return held;
  }
  std::string_view rest = path.string()->text();
  for (;;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view name = rest.substr(0, dot);
    const bool digits =
        !name.empty() && name.size() < 10 &&
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    go(digits ? Value(static_cast<int64_t>(std::stol(std::string(name)))) : runtime.text(name));
    if (dot == rest.size()) return held;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace looseleaf::jinja

#include "repair/method.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace looseleaf {

extern const MethodInfo kFull, kPrefix, kBlock, kReuse, kRelaxKv, kProphetKv, kCacheBlend, kEpic,
    kWeave, kRandom, kPlan;

namespace {

constexpr std::array kTable = {&kFull,       &kPrefix, &kBlock, &kReuse,  &kRelaxKv, &kProphetKv,
                               &kCacheBlend, &kEpic,   &kWeave, &kRandom, &kPlan};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename Range, typename Name>
std::string join_names(const Range& range, Name name) {
  std::string names;
  for (const auto& item : range) names += (names.empty() ? "" : ", ") + std::string(name(item));
  return names;
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

// The value as canonical names write it, where one of the alternatives takes it.
std::optional<std::string> accepted(std::string_view values, std::string_view value) {
  for (const std::string_view alternative : split(values, '|')) {
    const size_t dots = alternative.find("..");
    if (dots == std::string_view::npos) {
      if (alternative == value) return std::string(value);
      continue;
    }
    const std::string_view low = alternative.substr(0, dots), high = alternative.substr(dots + 2);
    const auto number = parse_number(value);
    if (!number || *number < *parse_number(low) || *number > *parse_number(high)) continue;
    const bool integer = low.find('.') == std::string_view::npos;
    if (integer && *number != std::floor(*number)) continue;
    return fmt::format("{}", *number);
  }
  return std::nullopt;
}

const MethodOption* find_option(const MethodInfo& info, std::string_view name) {
  const auto found = std::find_if(info.options.begin(), info.options.end(),
                                  [&](const MethodOption& o) { return o.name == name; });
  return found == info.options.end() ? nullptr : &*found;
}

Status read_number(std::string_view text, Method& method) {
  const MethodNumber& number = method.info->number;
  if (number.name.empty())
    return field_error("method", "'{}' takes no number, but '{}' is given", method.info->name,
                       text);
  const auto value = parse_number(text);
  if (!value || *value < 0 || *value > number.most ||
      (number.integer && *value != std::floor(*value)))
    return field_error("method", "{}:{} is '{}', but takes {} from 0 to {}", method.info->name,
                       number.name, text, number.integer ? "an integer" : "a number", number.most);
  method.number = *value;
  return {};
}

Status read_option(std::string_view key, std::string_view value, Method& method) {
  const MethodInfo& info = *method.info;
  const MethodOption* option = find_option(info, key);
  if (option == nullptr)
    return field_error("method", "'{}' has no option '{}'; its options: {}", info.name, key,
                       info.options.empty() ? "none" : join_names(info.options, [](const auto& o) {
                         return o.name;
                       }));
  const auto text = accepted(option->values, value);
  if (!text)
    return field_error("method", "{}:{} is '{}', but takes {}", info.name, key, value,
                       option->values);
  method.options[std::string(key)] = *text;
  return {};
}

}  // namespace

std::span<const MethodInfo* const> methods_table() { return kTable; }

std::string_view auto_method(bool has_documents) { return has_documents ? "reuse" : "prefix"; }

int Method::integer(const std::string& name) const {
  return static_cast<int>(*parse_number(options.at(name)));
}

std::optional<double> Method::value(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::nullopt : parse_number(found->second);
}

std::string Method::canonical() const {
  std::string text(info->name);
  if (number) text += fmt::format(":{}", *number);
  for (const MethodOption& option : info->options) {
    text += fmt::format(":{}={}", option.name, options.at(std::string(option.name)));
  }
  return text;
}

Expected<Method> parse_method(std::string_view text, bool has_documents) {
  const auto parts = split(text, ':');
  std::string_view name = parts[0];
  if (name == "auto") name = auto_method(has_documents);
  const auto found = std::find_if(kTable.begin(), kTable.end(),
                                  [&](const MethodInfo* m) { return m->name == name; });
  if (found == kTable.end())
    return field_error("method", "'{}' is not a method; there are: auto, {}", name,
                       join_names(kTable, [](const MethodInfo* m) { return m->name; }));
  Method method{*found, {}, {}};
  for (const MethodOption& o : method.info->options)
    method.options.emplace(o.name, o.default_value);
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals != std::string_view::npos) {
      LL_RETURN_IF_ERROR(
          read_option(parts[i].substr(0, equals), parts[i].substr(equals + 1), method));
    } else if (i == 1) {
      LL_RETURN_IF_ERROR(read_number(parts[i], method));
    } else {
      return field_error("method", "'{}' is no key=value; a number stands behind the name",
                         parts[i]);
    }
  }
  if (method.info->number.name.empty()) return method;
  const bool budget = method.value("budget").has_value();
  if (budget && method.number)
    return field_error("method", "{}: give a {} or a budget, not both", name,
                       method.info->number.name);
  if (!budget && !method.number) method.number = method.info->number.default_value;
  return method;
}

}  // namespace looseleaf

#include "repair/method.h"

#include <algorithm>
#include <array>
#include <vector>

namespace looseleaf {

extern const MethodInfo kFull, kPrefix, kBlock, kReuse;

namespace {

constexpr std::array kTable = {&kFull, &kPrefix, &kBlock, &kReuse};

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

}  // namespace

std::span<const MethodInfo* const> methods_table() { return kTable; }

std::string_view auto_method(bool has_documents) { return has_documents ? "reuse" : "prefix"; }

std::string Method::canonical() const {
  std::string text(info->name);
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
  Method method{*found, {}};
  for (const MethodOption& o : method.info->options)
    method.options.emplace(o.name, o.default_value);
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return field_error("method", "'{}' takes no number, but '{}' is given", name, part);
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    const auto option = std::find_if(method.info->options.begin(), method.info->options.end(),
                                     [&](const MethodOption& o) { return o.name == key; });
    if (option == method.info->options.end())
      return field_error(
          "method", "'{}' has no option '{}'; its options: {}", name, key,
          method.info->options.empty()
              ? "none"
              : join_names(method.info->options, [](const MethodOption& o) { return o.name; }));
    const auto allowed = split(option->values, '|');
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      return field_error("method", "{}:{} is '{}', but takes {}", name, key, value, option->values);
    method.options[std::string(key)] = value;
  }
  return method;
}

}  // namespace looseleaf

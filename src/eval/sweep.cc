#include "eval/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "repair/method.h"

namespace looseleaf {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

Status add_method(const std::string& text, const std::string& curve,
                  std::vector<SweptMethod>& methods) {
  const auto method = parse_method(text, true);
  if (!method) return error(ErrorCode::kUsage, "--methods: {}", method.error().message);
  const std::string canonical = method->canonical();
  const auto there = std::ranges::find(methods, canonical, &SweptMethod::method);
  if (there == methods.end()) {
    methods.push_back({canonical, curve});
  } else if (there->curve.empty()) {
    there->curve = curve;  // one that was given alone is a point of the sweep as well
  }
  return {};
}

}  // namespace

Expected<std::vector<std::string>> sweep_numbers(const std::string& text) {
  const size_t dots = text.find(".."), slash = text.find('/');
  const auto wrong = [&] {
    return error(ErrorCode::kUsage,
                 "--methods: '{}' is not a sweep; write LOW..HIGH/COUNT, e.g. 0.05..0.30/6", text);
  };
  if (slash == std::string::npos || slash < dots) return wrong();
  const std::string_view all = text;
  const std::string_view low_text = all.substr(0, dots);
  const std::string_view high_text = all.substr(dots + 2, slash - dots - 2);
  const auto low = number(low_text), high = number(high_text);
  const auto count = number(all.substr(slash + 1));
  if (!low || !high || !count || *count != std::floor(*count)) return wrong();
  if (*count < 2 || *count > 100 || *low >= *high) return wrong();
  std::vector<std::string> numbers;
  for (int i = 0; i < static_cast<int>(*count); ++i)
    numbers.push_back(fmt::format("{:.6g}", std::lerp(*low, *high, i / (*count - 1))));
  return numbers;
}

Expected<std::vector<SweptMethod>> expand_methods(const std::string& list) {
  std::vector<SweptMethod> methods;
  for (const std::string& item : split(list, ',')) {
    if (item.empty()) return error(ErrorCode::kUsage, "--methods: an empty name in '{}'", list);
    auto parts = split(item, ':');
    const auto sweep = std::ranges::find_if(
        parts, [](const std::string& part) { return part.find("..") != std::string::npos; });
    if (sweep == parts.end()) {
      LL_RETURN_IF_ERROR(add_method(item, "", methods));
      continue;
    }
    if (sweep != parts.begin() + 1 || sweep->find('=') != std::string::npos)
      return error(ErrorCode::kUsage,
                   "--methods: in '{}' only the number right after the name can be a sweep", item);
    LL_ASSIGN(const auto numbers, sweep_numbers(*sweep));
    std::string curve;
    for (const std::string& part : parts)
      if (part != *sweep) curve += (curve.empty() ? "" : ":") + part;
    for (const std::string& value : numbers) {
      *sweep = value;
      std::string text;
      for (const std::string& part : parts) text += (text.empty() ? "" : ":") + part;
      LL_RETURN_IF_ERROR(add_method(text, curve, methods));
    }
  }
  return methods;
}

}  // namespace looseleaf

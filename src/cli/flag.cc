#include "cli/flag.h"

#include <CLI/Error.hpp>
#include <charconv>
#include <utility>

#include "base/json_text.h"

namespace looseleaf {
namespace {

// All of `text` must be the number.
template <typename Number>
bool parse_all(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, number);
  return ec == std::errc() && rest == end;
}

}  // namespace

Expected<int64_t> parse_integer(const std::string& text, int64_t low, int64_t high) {
  int64_t number = 0;
  if (parse_all(text, number) && number >= low && number <= high) return number;
  return error(ErrorCode::kUsage, "must be a whole number from {} to {}, not {}", low, high,
               in_quotes(text));
}

Expected<float> parse_number(const std::string& text, const NumberRange& range) {
  double number = 0;
  if (parse_all(text, number) && number >= range.low && number <= range.high) {  // NaN is not
    const float rounded = static_cast<float>(number);
    if (!range.open_low || rounded > range.low) return rounded;
  }
  return error(ErrorCode::kUsage, "must be a number {} {}{} to {}, not {}",
               range.open_low ? "above" : "from", range.low, range.open_low ? " and up" : "",
               range.high, in_quotes(text));
}

CLI::Option* add_flag_value(CLI::App& app, const std::string& names, const std::string& type,
                            std::function<Status(const std::string& text)> set,
                            const std::string& help) {
  const std::string name = names.substr(names.find("--"));
  return app
      .add_option_function<std::string>(
          names,
          [name, set = std::move(set)](const std::string& text) {
            const Status status = set(text);
            if (!status) throw CLI::ValidationError(name, status.error().message);
          },
          help)
      ->type_name(type);
}

CLI::Option* add_integer(CLI::App& app, const std::string& names, std::function<void(int64_t)> set,
                         int64_t low, int64_t high, const std::string& help) {
  return add_flag_value(
      app, names, "N",
      [=](const std::string& text) -> Status {
        LL_ASSIGN(const int64_t number, parse_integer(text, low, high));
        set(number);
        return {};
      },
      help);
}

CLI::Option* add_number(CLI::App& app, const std::string& names, std::function<void(float)> set,
                        const NumberRange& range, const std::string& help) {
  return add_flag_value(
      app, names, "X",
      [=](const std::string& text) -> Status {
        LL_ASSIGN(const float number, parse_number(text, range));
        set(number);
        return {};
      },
      help);
}

CLI::Option* add_repeated(CLI::App& app, const std::string& names, const std::string& type,
                          std::vector<std::string>& values, const std::string& help) {
  // Without extra arguments CLI11 neither swallows what follows nor splits "[a, b]".
  return app
      .add_option_function<std::vector<std::string>>(
          names, [&values](const std::vector<std::string>& given) { values = given; }, help)
      ->type_name(type)
      ->allow_extra_args(false);
}

}  // namespace looseleaf

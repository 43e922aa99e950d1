// Flags whose values are checked as they are parsed, with messages of ours.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "server/sampling_ranges.h"

namespace looseleaf {

// Gives the value to `set`; what it refuses is wrong usage, named after the flag.
CLI::Option* add_flag_value(CLI::App& app, const std::string& names, const std::string& type,
                            std::function<Status(const std::string& text)> set,
                            const std::string& help);

// Whole numbers in decimal only; "010" is ten.
CLI::Option* add_integer(CLI::App& app, const std::string& names, std::function<void(int64_t)> set,
                         int64_t low, int64_t high, const std::string& help);

CLI::Option* add_number(CLI::App& app, const std::string& names, std::function<void(float)> set,
                        const NumberRange& range, const std::string& help);

// May be given several times; each time takes one value, whatever it looks like.
CLI::Option* add_repeated(CLI::App& app, const std::string& names, const std::string& type,
                          std::vector<std::string>& values, const std::string& help);

// The number in all of `text`. Errors: kUsage.
Expected<int64_t> parse_integer(const std::string& text, int64_t low, int64_t high);
Expected<float> parse_number(const std::string& text, const NumberRange& range);

}  // namespace looseleaf

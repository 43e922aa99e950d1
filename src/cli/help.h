// How --help looks: one flag a line or paragraph, at most 100 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace looseleaf {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override;
};

}  // namespace looseleaf

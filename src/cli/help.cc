#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace looseleaf {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kNames = 30;  // columns of the names, with their indent

// `name`, then `text` wrapped in the columns beside it.
std::string entry(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  size_t column = out.size();
  const auto go_to_text = [&] {
    if (column + 2 > kNames) {
      out += '\n';
      column = 0;
    }
    out.append(kNames - column, ' ');
    column = kNames;
  };
  go_to_text();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > kNames && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(kNames, ' ');
      column = kNames;
    }
    if (column > kNames) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string option_entry(const CLI::Option& option) {
  std::string name = option.get_name(false, true);
  if (option.get_expected_min() > 0) name += ' ' + option.get_type_name();  // not a mere flag
  return entry(name, option.get_description());
}

std::string usage(const CLI::App& app, const std::string& name) {
  std::string line = "Usage: " + name;
  if (app.get_parent() == nullptr) return line + " COMMAND [FLAGS]\n";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) line += ' ' + option->get_name(true, false);
  }
  return line + " [FLAGS]\n";
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode) const {
  std::string out = app->get_description() + "\n\n" + usage(*app, name);
  const auto commands = app->get_subcommands({});
  if (!commands.empty()) out += "\nCommands:\n";
  for (const CLI::App* command : commands) {
    out += entry(command->get_display_name(true), command->get_description());
  }
  std::vector<std::string> groups = app->get_groups();
  std::ranges::rotate(groups, groups.begin() + 1);  // --help was added first, but matters least
  for (const std::string& group : groups) {
    out += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_group() == group) out += option_entry(*option);
    }
  }
  return out + '\n' + app->get_footer() + '\n';
}

}  // namespace looseleaf

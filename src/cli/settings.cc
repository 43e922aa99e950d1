#include "cli/settings.h"

#include <unistd.h>

#include <CLI/Config.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

#include "cli/output.h"
#include "cli/read_file.h"

namespace looseleaf {
namespace {

constexpr std::string_view kPrefix = "LOOSELEAF_ARG_";

std::string long_name(const CLI::Option& option) { return option.get_lnames().front(); }

// "cache-bytes" is LOOSELEAF_ARG_CACHE_BYTES.
std::string variable_of(const CLI::Option& option) {
  std::string name(kPrefix);
  for (const char c : long_name(option)) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

bool can_be_set(const CLI::Option* option) {
  return option->get_configurable() && !option->get_lnames().empty();
}

// Sets an option as the command line would. `source` names the variable or file in errors.
Status set_option(CLI::Option& option, const std::vector<std::string>& values,
                  const std::string& source) {
  try {
    for (const std::string& value : values) {
      const bool flag = option.get_expected_min() == 0;
      option.add_result(flag ? option.get_flag_value(long_name(option), value) : value);
    }
    option.run_callback();
  } catch (const CLI::Error& problem) {
    return error(ErrorCode::kUsage, "{}: {}", source, problem.what());
  }
  return {};
}

std::vector<CLI::App*> commands_of(CLI::App& root) {
  return root.get_subcommands([](CLI::App*) { return true; });
}

CLI::Option* find_option(CLI::App& command, const std::string& key) {
  for (CLI::Option* option : command.get_options(can_be_set)) {
    if (long_name(*option) == key && key != "config") return option;
  }
  return nullptr;
}

bool any_command_has(CLI::App& root, const std::string& key) {
  return std::ranges::any_of(commands_of(root),
                             [&](CLI::App* command) { return find_option(*command, key); });
}

Status apply_item(CLI::App& command, const CLI::ConfigItem& item, const std::string& path) {
  if (item.name == "++" || item.name == "--") return {};  // where CLI11 saw a table begin or end
  std::string key = item.name;
  std::ranges::replace(key, '_', '-');
  CLI::App& root = *command.get_parent();
  const std::string source = fmt::format("{}: {}", path, item.fullname());
  if (!item.parents.empty()) {
    const std::vector<CLI::App*> commands = commands_of(root);
    const auto table = std::ranges::find(commands, item.parents.front(), &CLI::App::get_name);
    if (item.parents.size() > 1 || table == commands.end() || !find_option(**table, key)) {
      return error(ErrorCode::kUsage, "{}: there is no such setting", source);
    }
    if (*table != &command) return {};
  }
  CLI::Option* option = find_option(command, key);
  if (option == nullptr && !any_command_has(root, key)) {
    return error(ErrorCode::kUsage, "{}: there is no such setting", source);
  }
  if (option == nullptr || option->count() > 0) return {};
  return set_option(*option, item.inputs, source);
}

// A value as TOML. CLI11 reads no escapes, so quotes are chosen to need none.
std::string toml_value(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const bool bare = text == "true" || text == "false" ||
                    (std::from_chars(text.data(), end, number).ptr == end && !text.empty());
  if (bare) return text;
  return text.find('"') == std::string::npos ? '"' + text + '"' : '\'' + text + '\'';
}

std::string toml_values(const std::vector<std::string>& values) {
  if (values.size() == 1) return toml_value(values[0]);
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + toml_value(value);
  return '[' + list + ']';
}

}  // namespace

Status apply_environment(CLI::App& command) {
  for (CLI::Option* option : command.get_options(can_be_set)) {
    const std::string variable = variable_of(*option);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0' || option->count() > 0) continue;
    LL_RETURN_IF_ERROR(set_option(*option, {value}, variable));
  }
  return {};
}

void warn_of_unknown_variables(CLI::App& root) {
  std::set<std::string, std::less<>> known;
  for (CLI::App* command : commands_of(root)) {
    for (const CLI::Option* option : command->get_options(can_be_set)) {
      known.insert(variable_of(*option));
    }
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with(kPrefix) && !known.contains(name)) {
      print_warning(fmt::format("{}: no flag has this name; it has no effect", name));
    }
  }
}

Status apply_config_file(CLI::App& command, const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return error(ErrorCode::kUsage, "--config {}", text.error().message);
  std::istringstream stream(*text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::Error& problem) {
    return error(ErrorCode::kUsage, "{}: {}", path, problem.what());
  }
  // A command's own table goes before what holds for all.
  std::ranges::stable_partition(items, [](const auto& item) { return !item.parents.empty(); });
  for (const CLI::ConfigItem& item : items) LL_RETURN_IF_ERROR(apply_item(command, item, path));
  return {};
}

std::string config_text(CLI::App& command) {
  std::string set, unset;
  for (const CLI::Option* option : command.get_options(can_be_set)) {
    const std::string name = long_name(*option);
    if (name == "config") continue;
    if (option->count() > 0) {
      set += fmt::format("{} = {}\n", name, toml_values(option->results()));
    } else {
      unset += fmt::format("# {} = \n", name);
    }
  }
  return set + unset;
}

}  // namespace looseleaf

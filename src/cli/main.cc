// looseleaf: finds the command, settles its flags and runs it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {
namespace {

// Without this a file that is opened later could become standard output, and be written to. These
// stand-ins refuse what the closed descriptors would.
void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

struct Settings {
  std::string config;
  bool print_config = false;
};

void add_settings_flags(CLI::App& command, Settings& settings) {
  command.option_defaults()->group("Settings");
  command.get_help_ptr()->group("Settings");
  command
      .add_option("--config", settings.config,
                  "Read flags from this TOML file, e.g. cache-bytes = \"2G\". They yield to the "
                  "environment (LOOSELEAF_ARG_CACHE_BYTES) and to the command line")
      ->type_name("FILE");
  command
      .add_flag("--print-config", settings.print_config,
                "Print the settings in force as such a file, and stop")
      ->configurable(false);
}

int usage_error(const std::string& message, const std::string& command) {
  print_error(fmt::format("{} (see {} --help)", message, command));
  return kExitUsage;
}

std::string names_of(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) {
    names += (names.empty() ? "" : ", ") + command.app->get_name();
  }
  return names;
}

// Settles what the command line left open, and runs.
int run_command(CLI::App& root, const Command& command, const Settings& settings) {
  warn_of_unknown_variables(root);
  Status status = apply_environment(*command.app);
  if (status && !settings.config.empty()) {
    status = apply_config_file(*command.app, settings.config);
  }
  if (status && settings.print_config) return report(write_output(config_text(*command.app)));
  return status ? command.run() : report(status);
}

int parse_and_run(int argc, char** argv) {
  CLI::App root(
      "Looseleaf answers from documents whose keys and values are computed once and used "
      "anywhere.",
      "looseleaf");
  root.set_version_flag("--version", std::string("looseleaf ") + version(),
                        "Print the version and stop");
  root.set_help_flag("-h,--help", "Print this help and stop");
  root.footer("looseleaf COMMAND --help says more about a command.");
  root.formatter(std::make_shared<HelpFormatter>());
  Settings settings;
  const std::vector<Command> commands = {add_run(root),  add_eval(root),    add_bench(root),
                                         add_plot(root), add_inspect(root), add_methods(root)};
  for (const Command& command : commands) add_settings_flags(*command.app, settings);

  const auto chosen = [&] {
    return std::ranges::find_if(commands, [](const Command& c) { return c.app->parsed(); });
  };
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return report(write_output(root.help()));
  } catch (const CLI::CallForVersion& call) {
    return report(write_output(std::string(call.what()) + '\n'));
  } catch (const CLI::ParseError& problem) {
    if (chosen() != commands.end()) {
      return usage_error(problem.what(), "looseleaf " + chosen()->app->get_name());
    }
    if (root.remaining_size() == 0) return usage_error(problem.what(), "looseleaf");
    return usage_error(
        fmt::format("no command '{}'; there are: {}", root.remaining().front(), names_of(commands)),
        "looseleaf");
  }
  if (chosen() == commands.end()) {
    return usage_error("no command given; there are: " + names_of(commands), "looseleaf");
  }
  return run_command(root, *chosen(), settings);
}

}  // namespace
}  // namespace looseleaf

int main(int argc, char** argv) {
  using namespace looseleaf;
  occupy_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), told in a line
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory; try a smaller --cache-bytes or --ctx");
  } catch (const std::exception& problem) {
    print_error(fmt::format("internal error: {}", problem.what()));
  }
  return kExitInternal;
}

// Where a flag's value comes from when the command line does not give it: environment, then file.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "base/status.h"

namespace looseleaf {

// Gives every flag of `command` that is not set yet the value of LOOSELEAF_ARG_<FLAG>, if there is
// one. Errors: kUsage (a value that the flag refuses).
Status apply_environment(CLI::App& command);

// Warns of variables with that prefix that belong to no flag of any command of `root`.
void warn_of_unknown_variables(CLI::App& root);

// The same from a TOML file: keys at the top hold for every command, those in a table [run] for run
// only. Errors: kUsage (a key that no command has, a value that the flag refuses), kNotFound.
Status apply_config_file(CLI::App& command, const std::string& path);

// What is in force, as such a file.
std::string config_text(CLI::App& command);

}  // namespace looseleaf

// The commands of looseleaf: one file each.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>  // of every App; clang wants its virtual functions defined
#include <functional>

namespace looseleaf {

struct Command {
  CLI::App* app;             // its part of the command line
  std::function<int()> run;  // after parsing; gives the exit code and has told of errors
};

Command add_run(CLI::App& root);
Command add_eval(CLI::App& root);
Command add_plot(CLI::App& root);
Command add_inspect(CLI::App& root);
Command add_methods(CLI::App& root);
Command add_bench(CLI::App& root);

}  // namespace looseleaf

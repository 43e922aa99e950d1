// The flags of looseleaf eval.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "cli/eval_tasks.h"
#include "cli/options.h"
#include "eval/plot_points.h"
#include "eval/preset.h"

namespace looseleaf {

struct EvalFlags {
  ModelFlags model;
  TaskFlags tasks;
  std::string methods;  // "": the preset's, or full and reuse
  std::optional<int> length, documents;
  int shuffles = 0;  // --order shuffle:K
  uint64_t seed = 0;
  std::string samples;  // --samples
  std::string match;    // "", ttft or flops
  std::string preset, check;
  std::string plot;  // files' name
  PlotAxes axes;
  bool json = false;
};

// These write into `flags`, which must outlive `app`.
void add_eval_flags(CLI::App& app, EvalFlags& flags);
// -x and -y, which plot has too.
void add_axis_flags(CLI::App& app, PlotAxes& axes);

// Puts a preset's values where flags say nothing; `missing`: its methods that there are not. Gives
// null without --preset. Errors: kUsage.
Expected<const Preset*> settle_eval_flags(EvalFlags& flags, std::vector<std::string>& missing);

}  // namespace looseleaf

// looseleaf plot: draws what eval measured.
#include <memory>

#include "base/json_parse.h"
#include "cli/command.h"
#include "cli/eval_flags.h"
#include "cli/flag.h"
#include "cli/output.h"
#include "cli/read_file.h"
#include "eval/plot_files.h"

namespace looseleaf {
namespace {

struct PlotFlags {
  std::vector<std::string> results;
  std::string output = "plot";
  PlotAxes axes;
};

Status plot(const PlotFlags& flags) {
  if (flags.results.empty())
    return error(ErrorCode::kUsage, "nothing to draw; give files that looseleaf eval --json wrote");
  std::vector<PlotPoint> points;
  for (const std::string& path : flags.results) {
    LL_ASSIGN(const std::string text, read_text_file(path));
    const auto rows = parse_json(text);
    if (!rows)
      return error(ErrorCode::kInvalidArgument, "{}: {}", shown_path(path), rows.error().message);
    LL_RETURN_IF_ERROR(add_points(*rows, shown_path(path), flags.axes, points));
  }
  LL_ASSIGN(const PlotFiles files, write_plot(flags.output, points, flags.axes));
  std::string list;
  for (const std::string& name : files.written) list += name + '\n';
  LL_RETURN_IF_ERROR(write_output(list));
  if (!files.missing.empty()) print_warning(files.missing);
  return {};
}

}  // namespace

Command add_plot(CLI::App& root) {
  CLI::App* app = root.add_subcommand("plot", "Draw quality over cost from results of eval");
  app->footer("Example:\n  looseleaf plot a.json b.json -y f1 -o quality");
  auto flags = std::make_shared<PlotFlags>();
  app->option_defaults()->group("Plot");
  app->add_option("RESULTS", flags->results, "Files that looseleaf eval --json wrote")
      ->type_name("R.json...");
  app->add_option("-o,--output", flags->output,
                  "Write NAME.svg, NAME.png (by rsvg-convert) and NAME.csv. Default: plot")
      ->type_name("NAME");
  add_axis_flags(*app, flags->axes);
  return {app, [flags] { return report(plot(*flags)); }};
}

}  // namespace looseleaf

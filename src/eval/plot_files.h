// A plot's files: NAME.svg, NAME.csv and, where rsvg-convert is installed, NAME.png.
#pragma once

#include <string>
#include <vector>

#include "eval/plot_points.h"

namespace looseleaf {

// Rows task,series,method,x,y,lo,hi under that head, x and y with their axes' units.
std::string plot_csv(const std::vector<PlotPoint>& points, const PlotAxes& axes);

// Files that were written, and what could not be, in words.
struct PlotFiles {
  std::vector<std::string> written;
  std::string missing;
};

// `name` may end in .svg, .png or .csv, which is left out. Errors: kUnavailable (a file that cannot
// be written).
Expected<PlotFiles> write_plot(const std::string& name, const std::vector<PlotPoint>& points,
                               const PlotAxes& axes);

}  // namespace looseleaf

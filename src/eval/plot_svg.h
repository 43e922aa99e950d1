// Plots as SVG.
#pragma once

#include <string>
#include <vector>

#include "eval/plot_points.h"

namespace looseleaf {

// One panel a task, in the order of first appearance, with one legend below all of them. The points
// of a series are joined by a line, bars are 95 % intervals, a dashed line continues the level of
// `full`. The cost axis is logarithmic. REQUIRES: points not empty.
std::string plot_svg(const std::vector<PlotPoint>& points, const PlotAxes& axes);

}  // namespace looseleaf

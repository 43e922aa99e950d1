// The points of a plot: quality over cost, from rows of eval's JSON.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace looseleaf {

struct PlotPoint {
  std::string task;    // its panel
  std::string series;  // the sweep that it belongs to, else its method
  std::string method;
  double x = 0;                  // percent of full prefill's FLOPs, or ms; above 0
  double y = 0, lo = 0, hi = 0;  // mean and 95 % interval; shares in percent
};

struct PlotAxes {
  std::string x = "flops";  // flops | ttft
  std::string y = "nll";    // a metric of the rows

  std::string x_label() const;
  std::string y_label() const;
};

// Adds the points of `rows`, a list of rows; paired ones are passed over. `source` names it in
// errors. Errors: kInvalidArgument (no such rows, or none with that metric, with those that there
// are).
Status add_points(const boost::json::value& rows, const std::string& source, const PlotAxes& axes,
                  std::vector<PlotPoint>& points);

}  // namespace looseleaf

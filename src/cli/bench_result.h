// What a bench measured: times, and what was read and computed in them.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace looseleaf {

struct Spread {
  double median = 0, least = 0, most = 0;
};
Spread spread(std::vector<double> values);  // REQUIRES: not empty
boost::json::object spread_json(const Spread& spread);

// One line of the table, and one object of the list.
struct BenchRow {
  std::string text;
  boost::json::object json;
};

}  // namespace looseleaf

// Axes of a plot: from values to pixels, and where the marks stand.
#pragma once

#include <string>
#include <vector>

namespace looseleaf {

class Axis {
 public:
  // Covers low to high with some air, from pixel `start` to pixel `end`.
  // REQUIRES: low <= high; low > 0 on a logarithmic one.
  static Axis linear(double low, double high, double start, double end);
  static Axis logarithmic(double low, double high, double start, double end);

  double pixel(double value) const;

  struct Tick {
    double value;
    std::string label;
  };
  // Linear: 4 to 9 round numbers. Logarithmic: 1, 2 and 5 times powers of ten, more where that is
  // too few.
  std::vector<Tick> ticks() const;

 private:
  bool log_ = false;
  double low_ = 0, high_ = 1;  // logarithms on a logarithmic axis
  double start_ = 0, end_ = 1;
};

}  // namespace looseleaf

#include "eval/axis.h"

#include <fmt/format.h>

#include <cmath>

namespace looseleaf {
namespace {

constexpr double kAir = 0.06;  // share of the range left free at both ends

std::vector<Axis::Tick> round_numbers(double low, double high) {
  // The first of 1, 2, 5 times a power of ten that gives at most 7 marks.
  const double rough = (high - low) / 7;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  std::vector<Axis::Tick> ticks;
  for (double k = std::ceil(low / step); k * step <= high; ++k)
    ticks.push_back({k * step, fmt::format("{:.{}f}", k == 0 ? 0.0 : k * step, digits)});
  return ticks;
}

}  // namespace

Axis Axis::linear(double low, double high, double start, double end) {
  if (low == high) {  // a single value stands in the middle
    const double half = low == 0 ? 1 : std::abs(low) / 10;
    low -= half;
    high += half;
  }
  const double air = (high - low) * kAir;
  Axis axis;
  axis.low_ = low - air;
  axis.high_ = high + air;
  axis.start_ = start;
  axis.end_ = end;
  return axis;
}

Axis Axis::logarithmic(double low, double high, double start, double end) {
  if (low == high) {
    low /= 1.5;
    high *= 1.5;
  }
  Axis axis = linear(std::log10(low), std::log10(high), start, end);
  axis.log_ = true;
  return axis;
}

double Axis::pixel(double value) const {
  const double place = log_ ? std::log10(value) : value;
  return start_ + (end_ - start_) * (place - low_) / (high_ - low_);
}

std::vector<Axis::Tick> Axis::ticks() const {
  if (!log_) return round_numbers(low_, high_);
  std::vector<Tick> ticks;
  const double low = std::pow(10, low_), high = std::pow(10, high_);
  for (int exponent = static_cast<int>(std::floor(low_)); exponent <= high_; ++exponent)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, exponent);
      if (value >= low && value <= high) ticks.push_back({value, fmt::format("{:g}", value)});
    }
  return ticks.size() >= 3 ? ticks : round_numbers(low, high);
}

}  // namespace looseleaf

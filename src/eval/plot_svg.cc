#include "eval/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "eval/axis.h"

namespace looseleaf {
namespace {

constexpr double kPanelWidth = 440, kPanelHeight = 320;
constexpr double kLeft = 72, kRight = 16, kTop = 34, kBottom = 52;  // around a panel's data
constexpr double kLegendLine = 20;
constexpr double kLegendLead = 48, kLegendCharacter = 7.6;  // of an entry: marker and air, a letter

// Okabe and Ito's palette, told apart with every kind of colour vision; black is for `full`.
constexpr std::string_view kColors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                        "#E69F00", "#56B4E9", "#7A6A00"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';  // XML holds no control characters
    else
      out += c;
  }
  return out;
}

template <typename Key>
std::vector<std::string> in_order(const std::vector<PlotPoint>& points, Key key) {
  std::vector<std::string> names;
  for (const PlotPoint& point : points)
    if (std::ranges::find(names, point.*key) == names.end()) names.push_back(point.*key);
  return names;
}

struct Style {
  std::string color;
  int marker = 0;
};

class Writer {
 public:
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view more = "") {
    fmt::format_to(std::back_inserter(out_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                   more, escaped(text));
  }

  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    fmt::format_to(std::back_inserter(out_),
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                   x2, y2, style);
  }

  // Circle, square, two triangles, diamond.
  void marker(double x, double y, const Style& style) {
    const auto out = std::back_inserter(out_);
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
      out_ += "<polygon points=\"";
      for (const auto& [dx, dy] : corners) fmt::format_to(out, "{:.1f},{:.1f} ", x + dx, y + dy);
      fmt::format_to(out, "\" fill=\"{}\" stroke=\"white\"/>\n", style.color);
    };
    switch (style.marker % 5) {
      case 0:
        fmt::format_to(out,
                       "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\" "
                       "stroke=\"white\"/>\n",
                       x, y, style.color);
        return;
      case 1:
        return polygon({{-4, -4}, {4, -4}, {4, 4}, {-4, 4}});
      case 2:
        return polygon({{0, -5.5}, {5, 4}, {-5, 4}});
      case 3:
        return polygon({{0, 5.5}, {5, -4}, {-5, -4}});
      default:
        return polygon({{0, -6}, {6, 0}, {0, 6}, {-6, 0}});
    }
  }

  void raw(std::string_view text) { out_ += text; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

using Styles = std::map<std::string, Style>;

void draw_axes(Writer& writer, const Axis& x, const Axis& y, double left, double top,
               const std::string& title, const PlotAxes& axes) {
  const double width = kPanelWidth - kLeft - kRight, height = kPanelHeight - kTop - kBottom;
  writer.text(left + width / 2, top - 12, "middle", title, " font-weight=\"bold\"");
  for (const Axis::Tick& tick : y.ticks()) {
    const double at = y.pixel(tick.value);
    writer.line(left, at, left + width, at, "stroke=\"#e4e4e4\"");
    writer.text(left - 7, at + 4, "end", tick.label);
  }
  for (const Axis::Tick& tick : x.ticks()) {
    const double at = x.pixel(tick.value);
    writer.line(at, top, at, top + height, "stroke=\"#e4e4e4\"");
    writer.text(at, top + height + 16, "middle", tick.label);
  }
  writer.line(left, top, left, top + height, "stroke=\"#333\"");
  writer.line(left, top + height, left + width, top + height, "stroke=\"#333\"");
  writer.text(left + width / 2, top + height + 36, "middle", axes.x_label());
  const double middle = top + height / 2, beside = left - 52;
  writer.text(beside, middle, "middle", axes.y_label(),
              fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", beside, middle));
}

void draw_panel(Writer& writer, std::vector<PlotPoint> points, const PlotAxes& axes,
                const Styles& styles, double x0, double y0) {
  const double left = x0 + kLeft, top = y0 + kTop;
  const double right = x0 + kPanelWidth - kRight, bottom = y0 + kPanelHeight - kBottom;
  const auto [x_low, x_high] = std::ranges::minmax(points, {}, &PlotPoint::x);
  const double y_low = std::ranges::min(points, {}, &PlotPoint::lo).lo;
  const double y_high = std::ranges::max(points, {}, &PlotPoint::hi).hi;
  const Axis x = Axis::logarithmic(x_low.x, x_high.x, left, right);
  const Axis y = Axis::linear(y_low, y_high, bottom, top);
  draw_axes(writer, x, y, left, top, points[0].task, axes);
  std::ranges::stable_sort(points, {}, &PlotPoint::x);
  for (const PlotPoint& point : points)
    if (point.method == "full") {
      const double level = y.pixel(point.y);
      writer.line(left, level, right, level, "stroke=\"#333\" stroke-dasharray=\"4 4\"");
    }
  for (const auto& [series, style] : styles) {
    const PlotPoint* before = nullptr;
    for (const PlotPoint& point : points) {
      if (point.series != series) continue;
      const double px = x.pixel(point.x), py = y.pixel(point.y);
      const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"1.6\"", style.color);
      if (before != nullptr) writer.line(x.pixel(before->x), y.pixel(before->y), px, py, stroke);
      writer.line(px, y.pixel(point.lo), px, y.pixel(point.hi), stroke + " opacity=\"0.45\"");
      before = &point;
    }
  }
  // Markers last, so that no line hides one.
  for (const PlotPoint& point : points)
    writer.marker(x.pixel(point.x), y.pixel(point.y), styles.at(point.series));
}

Styles styles_of(const std::vector<std::string>& series) {
  Styles styles;
  int next = 0;
  for (const std::string& name : series) {
    if (name == "full") {
      styles[name] = {"#000000", 4};
      continue;
    }
    styles[name] = {std::string(kColors[static_cast<size_t>(next) % std::size(kColors)]), next};
    ++next;
  }
  return styles;
}

}  // namespace

std::string plot_svg(const std::vector<PlotPoint>& points, const PlotAxes& axes) {
  const auto tasks = in_order(points, &PlotPoint::task);
  const auto series = in_order(points, &PlotPoint::series);
  const Styles styles = styles_of(series);
  const auto columns = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(tasks.size()))));
  const size_t rows = (tasks.size() + columns - 1) / columns;
  // Canonical names can be long: the longest makes the legend's columns, or the picture itself.
  const size_t longest = std::ranges::max(series, {}, &std::string::size).size();
  const double entry = kLegendLead + kLegendCharacter * static_cast<double>(longest);
  const double width = std::max(kPanelWidth * static_cast<double>(columns), entry);
  const auto per_line = static_cast<size_t>(width / entry);
  const size_t legend_lines = (series.size() + per_line - 1) / per_line;
  const double plots = kPanelHeight * static_cast<double>(rows);
  const double height = plots + kLegendLine * static_cast<double>(legend_lines) + 14;

  Writer writer;
  writer.raw(fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" "
      "font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height));
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::vector<PlotPoint> own;
    std::ranges::copy_if(points, std::back_inserter(own),
                         [&](const PlotPoint& point) { return point.task == tasks[i]; });
    draw_panel(writer, std::move(own), axes, styles, kPanelWidth * static_cast<double>(i % columns),
               kPanelHeight * static_cast<double>(i / columns));
  }
  for (size_t i = 0; i < series.size(); ++i) {
    const double x = 24 + entry * static_cast<double>(i % per_line);
    const double y = plots + 14 + kLegendLine * static_cast<double>(i / per_line);
    const Style& style = styles.at(series[i]);
    writer.line(x - 12, y, x + 12, y, fmt::format("stroke=\"{}\"", style.color));
    writer.marker(x, y, style);
    writer.text(x + 20, y + 4, "start", series[i]);
  }
  writer.raw("</svg>\n");
  return writer.take();
}

}  // namespace looseleaf

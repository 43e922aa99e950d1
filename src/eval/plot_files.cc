#include "eval/plot_files.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "eval/plot_svg.h"

namespace looseleaf {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

Status write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (file) return {};
  return error(ErrorCode::kUnavailable, "{}: cannot be written: {}", path, std::strerror(errno));
}

// Twice the SVG's size, for screens of today. Gives what went wrong, or nothing.
std::string rasterize(const std::string& svg, const std::string& png) {
  // "./" keeps a name that begins with '-' from being an option.
  const auto plain = [](const std::string& path) {
    return path.starts_with('-') ? "./" + path : path;
  };
  std::string program = "rsvg-convert", zoom = "-z", two = "2", to = "-o";
  std::string target = plain(png), source = plain(svg);
  char* arguments[] = {program.data(), zoom.data(),   two.data(), to.data(),
                       target.data(),  source.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
  if (failed != 0)
    return failed == ENOENT ? "rsvg-convert is not installed (Debian: librsvg2-bin)"
                            : fmt::format("rsvg-convert: {}", std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFEXITED(status) && WEXITSTATUS(status) == 127
             ? "rsvg-convert is not installed (Debian: librsvg2-bin)"
             : "rsvg-convert failed";
}

}  // namespace

std::string plot_csv(const std::vector<PlotPoint>& points, const PlotAxes& axes) {
  std::string out = fmt::format("task,series,method,{},{},lo,hi\n", csv_field(axes.x_label()),
                                csv_field(axes.y_label()));
  for (const PlotPoint& point : points)
    out += fmt::format("{},{},{},{},{},{},{}\n", csv_field(point.task), csv_field(point.series),
                       csv_field(point.method), point.x, point.y, point.lo, point.hi);
  return out;
}

Expected<PlotFiles> write_plot(const std::string& given, const std::vector<PlotPoint>& points,
                               const PlotAxes& axes) {
  std::string name = given;
  for (const std::string_view suffix : {".svg", ".png", ".csv"})
    if (given.size() > suffix.size() && given.ends_with(suffix))
      name = given.substr(0, given.size() - suffix.size());
  PlotFiles files{{name + ".svg", name + ".csv"}, ""};
  LL_RETURN_IF_ERROR(write_file(files.written[0], plot_svg(points, axes)));
  LL_RETURN_IF_ERROR(write_file(files.written[1], plot_csv(points, axes)));
  const std::string problem = rasterize(files.written[0], name + ".png");
  if (problem.empty()) {
    files.written.push_back(name + ".png");
  } else {
    files.missing = fmt::format("{}.png: not written: {}", name, problem);
  }
  return files;
}

}  // namespace looseleaf

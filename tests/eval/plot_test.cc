#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <regex>

#include "eval/axis.h"
#include "eval/plot_files.h"
#include "eval/plot_svg.h"
#include "eval/preset.h"
#include "eval/report.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

TEST(Axis, MarksAreRoundAndInside) {
  for (const auto& [low, high] :
       {std::pair(0.0, 1.0), {0.013, 0.0171}, {-3.0, 40.0}, {97.0, 1e5}}) {
    const Axis axis = Axis::linear(low, high, 100, 500);
    const auto ticks = axis.ticks();
    EXPECT_GE(ticks.size(), 4u) << low;
    EXPECT_LE(ticks.size(), 9u) << low;
    for (const Axis::Tick& tick : ticks) {
      EXPECT_GE(axis.pixel(tick.value), 100);
      EXPECT_LE(axis.pixel(tick.value), 500);
      EXPECT_NEAR(std::stod(tick.label), tick.value, 1e-9 * std::max(1.0, std::abs(tick.value)));
    }
  }
}

TEST(Axis, LogarithmicOnesHaveEqualFactorsAtEqualDistances) {
  const Axis axis = Axis::logarithmic(1, 100, 0, 300);
  EXPECT_NEAR(axis.pixel(10), 150, 1e-9);
  EXPECT_NEAR(axis.pixel(100) - axis.pixel(10), axis.pixel(10) - axis.pixel(1), 1e-9);
  EXPECT_EQ(axis.ticks().front().label, "1");
  EXPECT_EQ(axis.ticks().back().label, "100");
  EXPECT_GE(Axis::logarithmic(3, 4, 0, 1).ticks().size(), 3u);
}

TEST(Axis, ASingleValueStandsInTheMiddle) {
  EXPECT_NEAR(Axis::linear(5, 5, 0, 10).pixel(5), 5, 1e-9);
  EXPECT_NEAR(Axis::linear(0, 0, 0, 10).pixel(0), 5, 1e-9);
  EXPECT_NEAR(Axis::logarithmic(5, 5, 0, 10).pixel(5), 5, 1e-9);
}

EvalRow row(const std::string& task, const std::string& method, double nll, double flops) {
  EvalRow row;
  row.task = task;
  row.method = method;
  row.n = 3;
  row.metrics["nll"] = {{nll, nll - 0.1, nll + 0.2}, nll + 1};
  row.metrics["f1"] = {{0.5, 0.25, 0.75}, 1};
  row.flops = flops;
  row.ttft_ms = {20, 10, 30};
  return row;
}

json::array rows_of_two_tasks() {
  json::array rows;
  for (const char* task : {"a<b", "c"}) {
    rows.push_back(row_json(row(task, "full", 1, 1)));
    rows.push_back(row_json(row(task, "reuse", 2, 0.05)));
    for (const double ratio : {0.2, 0.1}) {
      EvalRow swept = row(task, fmt::format("m:{}", ratio), 2 - ratio, ratio);
      swept.curve = "m";
      rows.push_back(row_json(swept));
    }
  }
  rows.push_back(paired_json({"c", "full", "reuse", "nll", {1, 0, 2}, 3, "", -1}));
  return rows;
}

TEST(Plot, PointsComeFromRowsOfMethods) {
  std::vector<PlotPoint> points;
  ASSERT_TRUE(add_points(rows_of_two_tasks(), "r.json", {}, points));
  ASSERT_EQ(points.size(), 8u);
  EXPECT_EQ(points[1].series, "reuse");
  EXPECT_NEAR(points[1].x, 5, 1e-9);
  EXPECT_NEAR(points[1].lo, 1.9, 1e-9);
  EXPECT_EQ(points[2].series, "m");
  points.clear();
  ASSERT_TRUE(add_points(rows_of_two_tasks(), "r.json", {"ttft", "f1"}, points));
  EXPECT_EQ(points[0].x, 20);
  EXPECT_EQ(points[0].y, 50);
}

TEST(Plot, SaysWhatIsMissing) {
  std::vector<PlotPoint> points;
  const auto error = [&](const json::value& rows, const PlotAxes& axes) {
    const Status status = add_points(rows, "r.json", axes, points);
    return status ? std::string() : status.error().message;
  };
  EXPECT_NE(error(rows_of_two_tasks(), {"flops", "em"}).find("there are: f1, nll"),
            std::string::npos);
  EXPECT_NE(error(json::array(), {}).find("r.json: holds no rows"), std::string::npos);
  EXPECT_NE(error(json::object(), {}).find("r.json: rows: "), std::string::npos);
  EXPECT_NE(error(json::array{json::object{{"method", "x"}}}, {}).find("metrics"),
            std::string::npos);
}

TEST(Plot, SvgHasAPanelATaskAndALegendBelow) {
  std::vector<PlotPoint> points;
  ASSERT_TRUE(add_points(rows_of_two_tasks(), "r.json", {}, points));
  const std::string svg = plot_svg(points, {});
  EXPECT_NE(svg.find(">a&lt;b</text>"), std::string::npos);
  EXPECT_NE(svg.find("NLL of the gold answer"), std::string::npos);
  EXPECT_NE(svg.find("% of full prefill"), std::string::npos);
  // Everything stands inside the picture, the legend below both panels.
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex(R"re(width="(\d+)" height="(\d+)")re")));
  const std::regex text(R"re(<text x="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]*)<)re");
  int legend = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text), end; it != end; ++it) {
    const double x = std::stod((*it)[1]), y = std::stod((*it)[2]);
    EXPECT_TRUE(x >= 0 && x <= std::stod(size[1]) && y >= 0 && y <= std::stod(size[2])) << (*it)[3];
    const std::string name = (*it)[3];
    if (name == "full" || name == "reuse" || name == "m") {
      ++legend;
      EXPECT_GT(y, 320);
    }
  }
  EXPECT_EQ(legend, 3);
}

TEST(Plot, CsvQuotesWhatNeedsIt) {
  const std::string csv = plot_csv({{"a,b", "say \"x\"", "m", 1.5, 2, 1, 3}}, {"ttft", "nll"});
  EXPECT_EQ(csv,
            "task,series,method,\"time to first token, ms\",\"NLL of the gold answer, nats a "
            "token\",lo,hi\n\"a,b\",\"say \"\"x\"\"\",m,1.5,2,1,3\n");
}

TEST(Plot, WritesItsFilesUnderOneName) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("plot-{}", getpid());
  std::filesystem::create_directories(folder);
  std::vector<PlotPoint> points;
  ASSERT_TRUE(add_points(rows_of_two_tasks(), "r.json", {}, points));
  const auto files = write_plot((folder / "x.png").string(), points, {});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->written[0], (folder / "x.svg").string());
  for (const std::string& name : files->written) EXPECT_GT(std::filesystem::file_size(name), 100u);
  // Without the rasterizer that is said; with it there is a picture.
  EXPECT_EQ(files->written.size(), files->missing.empty() ? 3u : 2u);
  const auto nowhere = write_plot((folder / "no" / "x").string(), points, {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kUnavailable);
  std::filesystem::remove_all(folder);
}

TEST(Preset, PutsThePapersNumberBesideOurs) {
  const auto preset = find_preset("lazyattention-qa");
  ASSERT_TRUE(preset);
  EvalRow full = row("hotpotqa", "full", 1, 1);
  full.metrics["em"] = {{0.25, 0.2, 0.3}, 1};
  const auto rows = paper_rows(**preset, {full});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NEAR(rows[0].paper, 0.718, 1e-12);
  EXPECT_EQ(rows[0].ours, 0.25);
  const std::string table = paper_table(**preset, {full}, {"nonsense:1"}, "m.gguf");
  EXPECT_NE(table.find("71.80"), std::string::npos);
  EXPECT_NE(table.find("25.00"), std::string::npos);
  EXPECT_NE(table.find("m.gguf"), std::string::npos);
  EXPECT_NE(table.find("left out: nonsense:1"), std::string::npos);
  const auto unknown = find_preset("x");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("relaxkv-multi-value"), std::string::npos);
}

TEST(Preset, LeavesOutMethodsThatThereAreNot) {
  std::vector<std::string> missing;
  const std::string methods = available_methods(**find_preset("lazyattention-qa"), missing);
  EXPECT_TRUE(methods.starts_with("full,"));
  EXPECT_NE(methods.find("reuse"), std::string::npos);
  for (const std::string& name : missing) EXPECT_EQ(methods.find(name), std::string::npos);
}

}  // namespace
}  // namespace looseleaf

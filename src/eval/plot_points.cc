#include "eval/plot_points.h"

#include <limits>
#include <set>

#include "base/json_reader.h"
#include "eval/report.h"

namespace looseleaf {
namespace {

constexpr double kHuge = std::numeric_limits<double>::max();

Expected<double> number(ObjectReader& object, std::string_view name, double low) {
  const auto field = object.take(name);
  if (!field) return field_error(object.path_of(name), "is missing");
  return field->number(low, kHuge);
}

// Nothing for a row without the metric; its metrics go to `known`.
Status read_row(ObjectReader& row, const PlotAxes& axes, std::set<std::string>& known,
                std::vector<PlotPoint>& points) {
  const auto metrics = row.take("metrics");
  if (!metrics || !metrics->value().is_object())
    return field_error(row.path_of("metrics"), "must be an object");
  for (const auto& metric : metrics->value().get_object()) known.emplace(metric.key());
  LL_ASSIGN(ObjectReader all, ObjectReader::open(*metrics));
  const auto metric = all.take(axes.y);
  if (!metric) return {};
  LL_ASSIGN(ObjectReader summary, ObjectReader::open(*metric));
  PlotPoint point;
  LL_RETURN_IF_ERROR(row.read("task", point.task));
  LL_RETURN_IF_ERROR(row.read("method", point.method));
  point.series = point.method;
  LL_RETURN_IF_ERROR(row.read("curve", point.series));
  const double scale = is_share(axes.y) ? 100 : 1;
  LL_ASSIGN(point.y, number(summary, "mean", -kHuge));
  LL_ASSIGN(point.lo, number(summary, "lo", -kHuge));
  LL_ASSIGN(point.hi, number(summary, "hi", -kHuge));
  for (double* value : {&point.y, &point.lo, &point.hi}) *value *= scale;
  if (axes.x == "flops") {
    LL_ASSIGN(point.x, number(row, "flops", 1e-9));
    point.x *= 100;
  } else {
    const auto time = row.take("ttft_ms");
    if (!time) return field_error(row.path_of("ttft_ms"), "is missing");
    LL_ASSIGN(ObjectReader ttft, ObjectReader::open(*time));
    LL_ASSIGN(point.x, number(ttft, "median", 1e-9));
  }
  points.push_back(std::move(point));
  return {};
}

Status read_rows(const boost::json::value& rows, const PlotAxes& axes,
                 std::vector<PlotPoint>& points) {
  const JsonField list(rows, "rows");
  LL_ASSIGN(const size_t count, list.length());
  std::set<std::string> known;
  const size_t before = points.size();
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(ObjectReader row, ObjectReader::open(list.item(i)));
    if (row.take("method")) LL_RETURN_IF_ERROR(read_row(row, axes, known, points));
  }
  if (points.size() > before) return {};
  if (known.empty())
    return error(ErrorCode::kInvalidArgument,
                 "holds no rows of methods; give the output of looseleaf eval --json");
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  return error(ErrorCode::kInvalidArgument, "no row has the metric '{}'; there are: {}", axes.y,
               names);
}

}  // namespace

std::string PlotAxes::x_label() const {
  return x == "flops" ? "FLOPs before the first token, % of full prefill"
                      : "time to first token, ms";
}

std::string PlotAxes::y_label() const {
  if (is_share(y))
    return (y == "rouge_l"  ? "ROUGE-L"
            : y == "recall" ? "recall"
            : y == "em"     ? "exact match"
                            : "F1") +
           std::string(", %");
  if (y == "nll") return "NLL of the gold answer, nats a token";
  if (y == "kl_first") return "KL from full, first token, nats";
  return y == "kl_answer" ? "KL from full, nats a token" : y;
}

Status add_points(const boost::json::value& rows, const std::string& source, const PlotAxes& axes,
                  std::vector<PlotPoint>& points) {
  Status status = read_rows(rows, axes, points);
  if (status) return status;
  status.error().code = ErrorCode::kInvalidArgument;
  status.error().message = fmt::format("{}: {}", source, status.error().message);
  return status;
}

}  // namespace looseleaf

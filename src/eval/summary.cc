#include "eval/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace looseleaf {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> diff(a.size());
  std::ranges::transform(a, b, diff.begin(), std::minus<>());
  return diff;
}

}  // namespace

TaskResults::TaskResults(const EvalTask& task, const std::vector<SweptMethod>& methods,
                         const RunOptions& options, const SampleFile& samples)
    : task_(task.name), seed_(options.seed) {
  const auto orders = orders_of(options);
  orders_ = static_cast<int>(orders.size());
  for (const SweptMethod& method : methods) {
    Column column{.method = method};
    for (const EvalSample& sample : task.samples) {
      std::map<std::string, double> sums;
      double flops = 0, ttft_ms = 0;
      for (const int order : orders) {
        const SampleRecord& record = *samples.find(task.name, sample.id, order, method.method);
        for (const auto& [name, value] : record.metrics) sums[name] += value / orders_;
        flops += record.flops / orders_;
        ttft_ms += record.ttft_ms / orders_;
        const double weight = 1.0 / (orders_ * static_cast<double>(task.samples.size()));
        column.context_tokens += record.context_tokens * weight;
        column.documents += record.documents * weight;
        column.repaired_tokens += record.repaired_tokens * weight;
        if (column.commits.find(record.commit) == std::string::npos)
          column.commits += (column.commits.empty() ? "" : ", ") + record.commit;
      }
      for (const auto& [name, value] : sums) column.metrics[name].push_back(value);
      column.flops.push_back(flops);
      column.ttft_ms.push_back(ttft_ms);
    }
    // A metric that only some samples have, KL added to a file later, has no mean.
    std::erase_if(column.metrics,
                  [&](const auto& metric) { return metric.second.size() != task.samples.size(); });
    columns_.push_back(std::move(column));
  }
}

std::vector<EvalRow> TaskResults::rows() const {
  std::vector<EvalRow> rows;
  for (const Column& column : columns_) {
    EvalRow row;
    row.task = task_;
    row.method = column.method.method;
    row.curve = column.method.curve;
    row.n = static_cast<int>(column.flops.size());
    row.orders = orders_;
    for (const auto& [name, values] : column.metrics)
      row.metrics[name] = {bootstrap_mean(values, seed_), *std::ranges::max_element(values)};
    row.flops = mean(column.flops);
    row.ttft_ms = bootstrap_median(column.ttft_ms, seed_);
    row.context_tokens = column.context_tokens;
    row.documents = column.documents;
    row.repaired_tokens = column.repaired_tokens;
    row.commits = column.commits;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<PairedRow> TaskResults::paired_rows() const {
  std::vector<PairedRow> rows;
  for (size_t i = 0; i < columns_.size(); ++i)
    for (size_t j = i + 1; j < columns_.size(); ++j) {
      const Column &a = columns_[i], &b = columns_[j];
      for (const auto& [metric, values] : a.metrics) {
        const auto other = b.metrics.find(metric);
        if (other == b.metrics.end()) continue;
        rows.push_back({task_, a.method.method, b.method.method, metric,
                        bootstrap_mean(difference(values, other->second), seed_),
                        static_cast<int>(values.size()), "", -1});
      }
    }
  return rows;
}

double TaskResults::cost(const Column& column, const std::string& by) {
  return by == "flops" ? mean(column.flops) : bootstrap_median(column.ttft_ms, 0).value;
}

struct TaskResults::Curve {
  std::string name;
  std::vector<std::pair<double, const Column*>> points;  // by rising cost

  bool reaches(double at) const { return at >= points.front().first && at <= points.back().first; }
  bool has(const std::string& metric) const {
    return std::ranges::all_of(
        points, [&](const auto& point) { return point.second->metrics.contains(metric); });
  }
  // Each sample's metric at a cost that the curve reaches.
  std::vector<double> values(const std::string& metric, double at) const {
    size_t above = 0;
    while (points[above].first < at) ++above;
    std::vector<double> values = points[above].second->metrics.at(metric);
    if (above == 0) return values;
    const auto& [cost, column] = points[above - 1];
    const double share = (at - cost) / (points[above].first - cost);
    const auto& below = column->metrics.at(metric);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::lerp(below[i], values[i], share);
    return values;
  }
};

std::vector<TaskResults::Curve> TaskResults::curves(const std::string& by) const {
  std::vector<Curve> curves;
  for (const Column& column : columns_) {
    const bool single = column.method.curve.empty();
    const std::string& name = single ? column.method.method : column.method.curve;
    auto curve = std::ranges::find_if(
        curves, [&](const Curve& other) { return !single && other.name == name; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{name, {}});
    curve->points.emplace_back(cost(column, by), &column);
  }
  for (Curve& curve : curves)
    std::ranges::sort(curve.points, {}, [](const auto& point) { return point.first; });
  return curves;
}

std::vector<PairedRow> TaskResults::matched_rows(const std::string& by) const {
  std::vector<PairedRow> rows;
  const auto all = curves(by);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i + 1; j < all.size(); ++j) {
      const Curve &a = all[i], &b = all[j];
      if (a.points.size() == 1 && b.points.size() == 1) continue;
      std::vector<double> costs;
      for (const Curve* curve : {&a, &b})
        for (const auto& [at, column] : curve->points)
          if (a.reaches(at) && b.reaches(at)) costs.push_back(at);
      std::ranges::sort(costs);
      costs.erase(std::unique(costs.begin(), costs.end()), costs.end());
      if (costs.empty()) continue;
      for (const auto& [metric, values] : a.points[0].second->metrics) {
        if (!a.has(metric) || !b.has(metric)) continue;
        std::vector<double> total(values.size(), 0.0);
        const auto add_row = [&](const std::vector<double>& diff, double at) {
          rows.push_back({task_, a.name, b.name, metric, bootstrap_mean(diff, seed_),
                          static_cast<int>(diff.size()), by, at});
        };
        for (const double at : costs) {
          const auto diff = difference(a.values(metric, at), b.values(metric, at));
          for (size_t k = 0; k < diff.size(); ++k)
            total[k] += diff[k] / static_cast<double>(costs.size());
          add_row(diff, at);
        }
        if (costs.size() > 1) add_row(total, -1);
      }
    }
  return rows;
}

}  // namespace looseleaf

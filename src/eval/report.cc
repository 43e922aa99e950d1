#include "eval/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/text_table.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// The order of columns, and all there are.
constexpr std::string_view kMetrics[] = {"recall", "em",       "f1",       "rouge_l",
                                         "nll",    "kl_first", "kl_answer"};

std::string shown(const std::string& metric, double value) {
  return is_share(metric) ? fmt::format("{:.1f}", 100 * value) : fmt::format("{:.4f}", value);
}

std::string shown(const std::string& metric, const Estimate& estimate) {
  return fmt::format("{} [{}, {}]", shown(metric, estimate.value), shown(metric, estimate.lo),
                     shown(metric, estimate.hi));
}

std::vector<std::string> metrics_of(const std::vector<EvalRow>& rows) {
  std::vector<std::string> names;
  for (const std::string_view name : kMetrics)
    if (std::ranges::any_of(
            rows, [&](const EvalRow& r) { return r.metrics.contains(std::string(name)); }))
      names.emplace_back(name);
  return names;
}

}  // namespace

bool is_share(const std::string& metric) {
  return metric == "recall" || metric == "em" || metric == "f1" || metric == "rouge_l";
}

json::object row_json(const EvalRow& row) {
  json::object metrics;
  for (const auto& [name, summary] : row.metrics)
    metrics[name] = json::object{{"mean", summary.mean.value},
                                 {"lo", summary.mean.lo},
                                 {"hi", summary.mean.hi},
                                 {"max", summary.max}};
  json::object object{{"task", row.task}, {"method", row.method}};
  if (!row.curve.empty()) object["curve"] = row.curve;
  object["n"] = row.n;
  object["metrics"] = std::move(metrics);
  object["flops"] = row.flops;
  object["ttft_ms"] =
      json::object{{"median", row.ttft_ms.value}, {"lo", row.ttft_ms.lo}, {"hi", row.ttft_ms.hi}};
  object["orders"] = row.orders;
  object["context_tokens"] = row.context_tokens;
  object["n_documents"] = row.documents;
  object["repaired_tokens"] = row.repaired_tokens;
  return object;
}

json::object paired_json(const PairedRow& row) {
  json::object object{
      {"task", row.task},       {"a", row.a},        {"b", row.b},        {"metric", row.metric},
      {"diff", row.diff.value}, {"lo", row.diff.lo}, {"hi", row.diff.hi}, {"n", row.n}};
  if (row.match.empty()) return object;
  object["match"] = row.match;
  object["at"] = row.at < 0 ? json::value("mean") : json::value(row.at);
  return object;
}

std::string rows_table(const std::vector<EvalRow>& rows) {
  if (rows.empty()) return "";
  const auto metrics = metrics_of(rows);
  std::vector<std::vector<std::string>> lines = {{"method", "n"}};
  for (const std::string& metric : metrics)
    lines[0].push_back(metric + (is_share(metric) ? " %" : ""));
  lines[0].insert(lines[0].end(), {"FLOPs %", "TTFT ms"});
  for (const EvalRow& row : rows) {
    std::vector<std::string> line = {row.method, std::to_string(row.n)};
    for (const std::string& metric : metrics) {
      const auto found = row.metrics.find(metric);
      line.push_back(found != row.metrics.end() ? shown(metric, found->second.mean) : "");
    }
    line.push_back(fmt::format("{:.1f}", 100 * row.flops));
    line.push_back(
        fmt::format("{:.0f} [{:.0f}, {:.0f}]", row.ttft_ms.value, row.ttft_ms.lo, row.ttft_ms.hi));
    lines.push_back(std::move(line));
  }
  const EvalRow& first = rows[0];
  return fmt::format("{}: {:.0f} tokens, {:.0f} documents{}\n", first.task, first.context_tokens,
                     first.documents,
                     first.orders > 1 ? fmt::format(", {} orders", first.orders) : "") +
         text_table(lines);
}

std::string paired_table(const std::vector<PairedRow>& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> lines = {{"a", "b", "metric", "a - b"}};
  if (!rows[0].match.empty()) lines[0].push_back("at equal " + rows[0].match);
  for (const PairedRow& row : rows) {
    const bool clear = row.diff.lo > 0 || row.diff.hi < 0;
    lines.push_back(
        {row.a, row.b, row.metric, shown(row.metric, row.diff) + (clear ? " *" : "  ")});
    if (row.match.empty()) continue;
    const std::string at = row.match == "flops" ? fmt::format("{:.1f} %", 100 * row.at)
                                                : fmt::format("{:.0f} ms", row.at);
    lines.back().push_back(row.at < 0 ? "mean" : at);
  }
  return fmt::format("{}, n {}; * the interval does not hold 0\n", rows[0].task, rows[0].n) +
         text_table(lines);
}

}  // namespace looseleaf

// From records to rows: one a task and method, and paired ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "eval/bootstrap.h"
#include "eval/runner.h"
#include "eval/sweep.h"

namespace looseleaf {

struct MetricSummary {
  Estimate mean;
  double max = 0;
};

struct EvalRow {
  std::string task, method, curve;  // curve: see SweptMethod
  int n = 0;                        // samples
  int orders = 0;                   // of the documents, for each sample
  std::map<std::string, MetricSummary> metrics;
  double flops = 0;           // mean share of full prefill's
  Estimate ttft_ms;           // median
  double context_tokens = 0;  // mean
  double documents = 0;
  double repaired_tokens = 0;  // mean
  std::string commits;         // of the records
};

// a - b, sample by sample.
struct PairedRow {
  std::string task, a, b, metric;
  Estimate diff;  // mean
  int n = 0;
  std::string match;  // "", "ttft" or "flops": a and b are curves, compared at equal cost
  double at = -1;     // that cost: ms, or a share; -1 with `match`: the mean over all of them
};

// One task's results. A sample's orders are averaged first: they are not independent.
class TaskResults {
 public:
  // REQUIRES: `samples` holds everything of the task.
  TaskResults(const EvalTask& task, const std::vector<SweptMethod>& methods,
              const RunOptions& options, const SampleFile& samples);

  std::vector<EvalRow> rows() const;
  // Each method with each one after it in the list.
  std::vector<PairedRow> paired_rows() const;
  // Sweeps with sweeps and with single methods, at the costs of all points of both that both reach.
  // Between two points of a sweep a sample's value is interpolated linearly. `by`: "ttft" or
  // "flops".
  std::vector<PairedRow> matched_rows(const std::string& by) const;

 private:
  struct Column {  // a method's values
    SweptMethod method;
    std::map<std::string, std::vector<double>> metrics{};           // [samples]
    std::vector<double> flops{}, ttft_ms{};                         // [samples]
    double context_tokens = 0, documents = 0, repaired_tokens = 0;  // means
    std::string commits{};
  };
  struct Curve;
  static double cost(const Column& column, const std::string& by);
  std::vector<Curve> curves(const std::string& by) const;

  std::string task_;
  int orders_ = 0;
  uint64_t seed_ = 0;
  std::vector<Column> columns_;
};

}  // namespace looseleaf

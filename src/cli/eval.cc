// looseleaf eval: answer quality and cost of methods.
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdio>
#include <memory>

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/eval_flags.h"
#include "cli/output.h"
#include "eval/check.h"
#include "eval/plot_files.h"
#include "eval/report.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  looseleaf eval model.gguf --data nq.jsonl --methods full,reuse --limit 50
  looseleaf eval model.gguf --data ruler:multi-value --length 4096 --samples run.jsonl --json
  looseleaf eval model.gguf --check block)";

// All that a sample's result depends on besides task, sample, order and method.
json::object sample_config(const EvalFlags& flags, const Provenance& p,
                           const std::vector<EvalTask>& tasks) {
  json::object data;
  for (const EvalTask& task : tasks) data[task.name] = task.data_hash;
  const DataOptions& options = flags.tasks.options;
  return {{"version", p.version},
          {"model", p.model},
          {"device", p.device},
          {"threads", p.threads},
          {"kv_type", p.kv_type},
          {"private_kv_type", p.private_kv_type},
          {"exact", p.exact},
          {"deterministic", p.deterministic},
          {"seed", p.seed},
          {"data", std::move(data)},
          {"template", flags.tasks.data_template},
          {"chunk", options.chunk},
          {"max_tokens", options.max_tokens},
          {"layout", options.layout},
          {"encoding_prefix", options.encoding_prefix}};
}

// One line that is written over, on a terminal only.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), shown_(isatty(STDERR_FILENO)) {}
  ~Progress() { clear(); }

  void step(const SampleRecord& record) {
    ++done_;
    if (!shown_) return;
    const std::string line =
        fmt::format("\r\033[K{} of {}: {}, {}", done_, total_, record.task, record.method);
    std::fputs(line.c_str(), stderr);
  }
  void clear() {
    if (shown_ && done_ > 0) std::fputs("\r\033[K", stderr);
  }

 private:
  size_t done_ = 0;
  const size_t total_;
  const bool shown_;
};

struct Results {
  std::vector<EvalRow> rows;
  std::string tables;
  json::array list;
};

void add_results(const TaskResults& results, const EvalTask& task, const EvalFlags& flags,
                 const Provenance& provenance, Results& all) {
  const auto rows = results.rows();
  const auto paired = results.paired_rows();
  const auto matched =
      flags.match.empty() ? std::vector<PairedRow>() : results.matched_rows(flags.match);
  const auto add = [&](json::object row) {
    add_provenance(provenance, rows[0].commits, task.data_hash, row);
    all.list.push_back(std::move(row));
  };
  for (const EvalRow& row : rows) add(row_json(row));
  for (const auto* pairs : {&paired, &matched})
    for (const PairedRow& row : *pairs) add(paired_json(row));
  for (const std::string& table : {rows_table(rows), paired_table(paired), paired_table(matched)})
    if (!table.empty()) all.tables += (all.tables.empty() ? "" : "\n") + table;
  all.rows.insert(all.rows.end(), rows.begin(), rows.end());
}

Status draw(const EvalFlags& flags, const json::array& list) {
  if (flags.plot.empty()) return {};
  std::vector<PlotPoint> points;
  LL_RETURN_IF_ERROR(add_points(list, "--plot", flags.axes, points));
  LL_ASSIGN(const PlotFiles files, write_plot(flags.plot, points, flags.axes));
  if (!files.missing.empty()) print_warning(files.missing);
  return {};
}

Status evaluate(const EvalFlags& flags, const Preset* preset,
                const std::vector<std::string>& missing) {
  LL_ASSIGN(const auto methods, expand_methods(flags.methods));
  LL_ASSIGN(const TaskSources sources, TaskSources::open(flags.tasks));
  LL_ASSIGN(Engine engine, Engine::load(flags.model.model, flags.model.engine));
  LL_ASSIGN(const auto tasks, sources.load(engine, flags.seed));
  LL_ASSIGN(const Provenance provenance, provenance_of(engine, command_line(), flags.seed));
  SampleFile samples;
  if (!flags.samples.empty()) {
    LL_ASSIGN(samples, SampleFile::open(flags.samples, sample_config(flags, provenance, tasks)));
  }
  RunOptions options;
  for (const SweptMethod& method : methods) options.methods.push_back(method.method);
  options.shuffles = flags.shuffles;
  options.seed = flags.seed;
  options.commit = provenance.commit;
  size_t total = 0;
  for (const EvalTask& task : tasks) total += task.samples.size();
  Progress progress(total * methods.size() * orders_of(options).size());
  options.progress = [&](const SampleRecord& record) { progress.step(record); };
  for (const EvalTask& task : tasks) LL_RETURN_IF_ERROR(run_task(engine, task, options, samples));
  progress.clear();

  Results results;
  for (const EvalTask& task : tasks)
    add_results(TaskResults(task, methods, options, samples), task, flags, provenance, results);
  if (preset != nullptr) {
    const std::string paper = paper_table(*preset, results.rows, missing, flags.model.model);
    if (flags.json) {
      for (const PaperRow& row : paper_rows(*preset, results.rows))
        results.list.push_back(json::object{{"preset", preset->name},
                                            {"source", preset->source},
                                            {"task", row.task},
                                            {"evaluated", row.method},
                                            {"metric", row.metric},
                                            {"paper", row.paper},
                                            {"ours", row.ours},
                                            {"differs", paper}});
    }
    results.tables += '\n' + paper;
  }
  LL_RETURN_IF_ERROR(write_output(flags.json ? write_json(results.list) + '\n' : results.tables));
  return draw(flags, results.list);
}

Expected<int> check(EvalFlags& flags) {
  flags.model.engine.exact = flags.model.engine.deterministic = true;
  LL_ASSIGN(Engine engine, Engine::load(flags.model.model, flags.model.engine));
  LL_ASSIGN(const auto results, check_method(engine, flags.check));
  std::string text;
  json::array list;
  bool failed = false;
  for (const CheckResult& result : results) {
    const bool bad = result.outcome == CheckResult::Outcome::kFailed;
    const bool good = result.outcome == CheckResult::Outcome::kPassed;
    const char* outcome = bad ? "failed" : good ? "passed" : "does not apply";
    text += fmt::format("{:<14}  {} ({})\n", outcome, result.what, result.detail);
    list.push_back(
        json::object{{"check", result.what}, {"outcome", outcome}, {"detail", result.detail}});
    failed |= bad;
  }
  LL_RETURN_IF_ERROR(write_output(flags.json ? write_json(list) + '\n' : text));
  return failed ? kExitRefused : kExitDone;
}

Expected<int> run(EvalFlags& flags) {
  LL_RETURN_IF_ERROR(check_model(flags.model));
  std::vector<std::string> missing;
  LL_ASSIGN(const Preset* preset, settle_eval_flags(flags, missing));
  if (!flags.check.empty()) return check(flags);
  LL_RETURN_IF_ERROR(evaluate(flags, preset, missing));
  return kExitDone;
}

}  // namespace

Command add_eval(CLI::App& root) {
  CLI::App* app = root.add_subcommand("eval", "Measure answer quality and cost of methods");
  app->footer(kExamples);
  auto flags = std::make_shared<EvalFlags>();
  app->option_defaults()->group("Model");
  add_model_flag(*app, flags->model);
  add_eval_flags(*app, *flags);
  add_engine_flags(*app, flags->model);
  return {app, [flags] {
            const Expected<int> code = run(*flags);
            return code ? *code : report(tl::unexpected(code.error()));
          }};
}

}  // namespace looseleaf

// looseleaf bench: how fast this machine runs a model or attention, beside what it can do at most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/json_text.h"
#include "cli/bench_attention.h"
#include "cli/bench_engine.h"
#include "cli/command.h"
#include "cli/flag.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/repair_set_file.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr int kMostTokens = 1 << 20;
constexpr const char* kExamples = R"(Examples:
  looseleaf bench engine model.gguf
  looseleaf bench engine model.gguf -p 512,4096 -n 64 -d 0,4096 --reps 5 --json
  looseleaf bench engine model.gguf -p 0 -n 0 --documents 10 --document-tokens 400
  looseleaf bench engine model.gguf -p 0 -n 0 --documents 10 --repair-set dump/0.npz
  looseleaf bench engine random:llama-3.1-8b/12 --device cuda
  looseleaf bench attention --row 64x16/1000/1.0/512 --row 2048/16384/512
  looseleaf bench attention --check)";

constexpr std::array kContexts = {"causal", "union", "own+union"};

struct BenchFlags {
  ModelFlags model;
  std::string what;
  BenchPlan plan{.prefill = {512},
                 .decode = 64,
                 .depths = {0},
                 .documents = 0,
                 .document_tokens = 400,
                 .repetitions = 5};
  AttentionBench attention;
  std::optional<int> repetitions;
  std::string repair_set;
  std::string repair_context = "own+union";
  bool ceilings = false;
  bool json = false;

  // Whether documents are there to be reused as they are, which is compared with the ceilings.
  bool reuse() const { return plan.documents > 0 && repair_set.empty(); }
};

// "512,4096".
Status parse_list(const std::string& text, std::vector<int>& numbers) {
  numbers.clear();
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    LL_ASSIGN(const int64_t number, parse_integer(item, 0, kMostTokens));
    numbers.push_back(static_cast<int>(number));
  }
  if (!numbers.empty() && text.back() != ',') return {};
  return error(ErrorCode::kUsage, "must be whole numbers with commas between, e.g. 512,4096");
}

void add_bench_flags(CLI::App& app, BenchFlags& flags) {
  BenchPlan& plan = flags.plan;
  app.option_defaults()->group("Measured");
  add_flag_value(
      app, "-p,--prefill", "LIST",
      [&](const std::string& t) { return parse_list(t, plan.prefill); },
      "Prompts of so many tokens; 0: none. Default: 512");
  add_integer(
      app, "-n,--decode", [&](int64_t n) { plan.decode = static_cast<int>(n); }, 0, kMostTokens,
      "Tokens to generate one after the other; 0: none. Default: 64");
  add_flag_value(
      app, "-d,--depth", "LIST", [&](const std::string& t) { return parse_list(t, plan.depths); },
      "Tokens of context before them. Default: 0");
  add_integer(
      app, "--documents", [&](int64_t n) { plan.documents = static_cast<int>(n); }, 0, 1024,
      "Also measure a question behind so many cached documents in new orders. Default: 0");
  add_integer(
      app, "--document-tokens", [&](int64_t n) { plan.document_tokens = static_cast<int>(n); }, 1,
      kMostTokens, "Tokens of each. Default: 400");
  add_integer(
      app, "--reps", [&](int64_t n) { flags.repetitions = static_cast<int>(n); }, 1, 1000,
      "Times that each is measured, after some that are not counted. Default: 5, of attention on a "
      "GPU 50");
  app.add_option("--repair-set", flags.repair_set,
                 "Measure a repair of these documents instead: the one in this file of `run "
                 "--dump`, brought to their number and to the model's layers")
      ->type_name("FILE");
  add_flag_value(
      app, "--repair-context", "NAME",
      [&](const std::string& t) -> Status {
        if (std::ranges::find(kContexts, t) == kContexts.end())
          return error(ErrorCode::kUsage, "must be causal, union or own+union, not {}",
                       in_quotes(t));
        flags.repair_context = t;
        return {};
      },
      "What repaired tokens attend to. Default: own+union");
  app.add_flag("--ceilings", flags.ceilings,
               "Measure first what the machine reads and multiplies at most");
  app.option_defaults()->group("Output");
  app.add_flag("--json", flags.json, "Print a JSON list");
}

Status check_fits(const EngineCore& core, const BenchPlan& plan) {
  int most = plan.documents * plan.document_tokens + (plan.documents > 0 ? 64 : 0);
  for (const int depth : plan.depths) {
    for (const int tokens : plan.prefill) most = std::max(most, depth + tokens);
    most = std::max(most, depth + plan.decode);
  }
  if (most <= core.options.context) return {};
  return error(ErrorCode::kUsage,
               "{} tokens are to stand in a context of {}; lower -p, -n, -d or --documents", most,
               core.options.context);
}

// Memory of the process that is neither weight nor page: scratch, tokenizer, code's data.
int64_t other_memory(const EngineCore& core) {
  const int64_t weights = core.model->generated == nullptr ? 0 : core.model->weight_bytes;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:"))
      return std::stoll(line.substr(8)) * 1024 - core.pool.used_bytes() - weights;
  return 0;
}

class Report {
 public:
  explicit Report(bool as_json) : json_(as_json) {}

  Status add(BenchRow row) {
    if (!json_) return write_output(row.text + '\n');
    list_.push_back(std::move(row.json));
    return {};
  }
  Status text(const std::string& line) { return json_ ? Status{} : write_output(line + '\n'); }
  Status finish() { return json_ ? write_output(write_json(list_) + '\n') : Status{}; }

 private:
  bool json_;
  json::array list_;
};

Status measure(EngineCore& core, const BenchFlags& flags, const RepairSet& set, Report& report) {
  const BenchPlan& plan = flags.plan;
  Ceilings ceilings;
  if (flags.ceilings || flags.reuse()) {
    LL_ASSIGN(ceilings, core.device->measure_ceilings());
    LL_RETURN_IF_ERROR(
        report.add({fmt::format("{}, {} threads: reads {:.1f} GB/s, multiplies {:.1f} GFLOP/s",
                                core.device->name(), core.options.threads, ceilings.read_gbps,
                                ceilings.matrix_gflops),
                    {{"test", "ceilings"},
                     {"device", core.device->name()},
                     {"threads", core.options.threads},
                     {"gbps", ceilings.read_gbps},
                     {"gflops", ceilings.matrix_gflops}}}));
  }
  LL_RETURN_IF_ERROR(
      report.text(fmt::format("{:<8} {:>6} {:>10} {:>10} {:>10} {:>8} {:>8}", "test", "depth",
                              "tokens/s", "least", "most", "GB/s", "GFLOP/s")));
  for (const int depth : plan.depths) {
    for (const int tokens : plan.prefill) {
      if (tokens == 0) continue;
      LL_ASSIGN(BenchRow row, bench_prefill(core, tokens, depth, plan.repetitions));
      LL_RETURN_IF_ERROR(report.add(std::move(row)));
    }
    if (plan.decode == 0) continue;
    LL_ASSIGN(BenchRow row, bench_decode(core, plan.decode, depth, plan.repetitions));
    LL_RETURN_IF_ERROR(report.add(std::move(row)));
  }
  if (!flags.repair_set.empty()) {
    LL_ASSIGN(BenchRow row, bench_repair(core, plan, set, flags.repair_context));
    LL_RETURN_IF_ERROR(report.add(std::move(row)));
  }
  if (flags.reuse()) {
    LL_ASSIGN(std::vector<BenchRow> rows, bench_documents(core, plan, ceilings));
    for (BenchRow& row : rows) LL_RETURN_IF_ERROR(report.add(std::move(row)));
  }
  // A GPU's pages and scratch are not the process's.
  if ((!flags.ceilings && !flags.reuse()) || core.device->name() != "cpu") return report.finish();
  const int64_t memory = other_memory(core);
  LL_RETURN_IF_ERROR(report.add(
      {fmt::format("memory beyond file and KV: {:.0f} MB", static_cast<double>(memory) / 1e6),
       {{"test", "memory"}, {"bytes", memory}}}));
  return report.finish();
}

Status bench(BenchFlags& flags) {
  if (flags.what == "attention") {
    if (flags.model.model.empty())
      return bench_attention(flags.attention, flags.model.engine, flags.repetitions, flags.json);
    return error(ErrorCode::kUsage,
                 "bench attention takes no MODEL; its shape is --heads, "
                 "--kv-heads, --head-dim");
  }
  if (flags.what != "engine")
    return error(ErrorCode::kUsage, "no bench {}; there are: attention, engine",
                 flags.what.empty() ? "named" : in_quotes(flags.what));
  flags.plan.repetitions = flags.repetitions.value_or(flags.plan.repetitions);
  LL_RETURN_IF_ERROR(check_model(flags.model));
  RepairSet set;
  if (!flags.repair_set.empty()) {
    if (flags.plan.documents == 0)
      return error(ErrorCode::kUsage, "--repair-set needs --documents: how many there are");
    LL_ASSIGN(set, read_repair_set(flags.repair_set));
  }
  LL_ASSIGN(const std::unique_ptr<EngineCore> core,
            load_core(flags.model.model, flags.model.engine));
  LL_RETURN_IF_ERROR(check_fits(*core, flags.plan));
  Report report(flags.json);
  return measure(*core, flags, set, report);
}

}  // namespace

Command add_bench(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("bench", "Measure how fast a model, or attention alone, runs here");
  app->footer(kExamples);
  auto flags = std::make_shared<BenchFlags>();
  app->option_defaults()->group("Model");
  app->add_option("WHAT", flags->what,
                  "engine: a model's prefill, decode and reuse, without a server; attention: the "
                  "operation by itself")
      ->configurable(false);
  add_model_flag(*app, flags->model);
  add_bench_flags(*app, *flags);
  add_attention_flags(*app, flags->attention);
  add_engine_flags(*app, flags->model);
  return {app, [flags] { return report(bench(*flags)); }};
}

}  // namespace looseleaf

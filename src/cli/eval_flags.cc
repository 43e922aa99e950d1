#include "cli/eval_flags.h"

#include <limits>

#include "cli/flag.h"

namespace looseleaf {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// "given", or "shuffle:K".
Expected<int> parse_order(const std::string& text) {
  constexpr std::string_view kShuffle = "shuffle:";
  if (text == "given") return 0;
  if (text.starts_with(kShuffle)) {
    const auto count = parse_integer(text.substr(kShuffle.size()), 1, 1000);
    if (count) return static_cast<int>(*count);
  }
  return error(ErrorCode::kUsage,
               "must be given or shuffle:K with K from 1 to 1000, e.g. shuffle:3");
}

Status check_one_of(const std::string& text, std::initializer_list<std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    if (text == name) return {};
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return error(ErrorCode::kUsage, "must be one of {}", list);
}

void add_data_flags(CLI::App& app, EvalFlags& flags) {
  app.option_defaults()->group("Data");
  add_repeated(app, "--data", "FILE", flags.tasks.data,
               "JSON lines of {question, answers, ctxs}, - for standard input, or ruler:KIND for "
               "a task made from the seed: single, multi-key, multi-value, multi-query, "
               "variable-tracking, two-hop; may be repeated");
  app.add_option("--template", flags.tasks.data_template,
                 "qa, or longbench for the lines of that benchmark with its prompts. Default: qa")
      ->type_name("NAME");
  app.add_option("--chunk", flags.tasks.options.chunk,
                 "How a longbench context becomes chunks: passage, or a number of tokens. Default: "
                 "passage")
      ->type_name("HOW");
  add_integer(
      app, "--limit", [&](int64_t n) { flags.tasks.options.limit = static_cast<int>(n); }, 1,
      kMaxInt, "Samples of each task at most. Default: all of a file, 20 of ruler");
  add_integer(
      app, "--length", [&](int64_t n) { flags.length = static_cast<int>(n); }, 100, 1 << 24,
      "ruler: tokens of a prompt. Default: 4096");
  add_integer(
      app, "--documents", [&](int64_t n) { flags.documents = static_cast<int>(n); }, 1, 1 << 16,
      "ruler: documents of a prompt. Default: 14");
  app.add_option("--haystack", flags.tasks.haystack,
                 "ruler: a text file to hide facts in. Default: built-in sentences")
      ->type_name("FILE");
}

void add_method_flags(CLI::App& app, EvalFlags& flags) {
  app.option_defaults()->group("Methods");
  app.add_option("--methods", flags.methods,
                 "Separated by commas; NAME:LOW..HIGH/COUNT is a sweep. KL is measured where full "
                 "is among them. Default: full,reuse")
      ->type_name("M,M,...");
  app.add_option("--preset", flags.preset,
                 "Data and methods of a paper's table; its numbers are "
                 "printed beside ours. Flags come before it")
      ->type_name("NAME");
  app.add_option("--check", flags.check,
                 "Try on the model what every method must satisfy, and evaluate nothing")
      ->type_name("METHOD");
  add_flag_value(
      app, "--order", "ORDER",
      [&](const std::string& text) -> Status {
        LL_ASSIGN(flags.shuffles, parse_order(text));
        return {};
      },
      "given, or shuffle:K for K random orders of each sample's documents. Default: given");
  add_flag_value(
      app, "--match", "COST",
      [&](const std::string& text) {
        flags.match = text;
        return check_one_of(text, {"ttft", "flops"});
      },
      "ttft or flops: compare sweeps at equal cost, between their points by interpolation");
  add_integer(
      app, "--seed", [&](int64_t n) { flags.seed = static_cast<uint64_t>(n); }, 0,
      std::numeric_limits<int64_t>::max(),
      "Of ruler's samples, orders and bootstrap intervals. Default: 0");
}

void add_prompt_flags(CLI::App& app, EvalFlags& flags) {
  app.option_defaults()->group("Prompt");
  DataOptions& options = flags.tasks.options;
  add_integer(
      app, "-n,--max-tokens", [&](int64_t n) { options.max_tokens = static_cast<int>(n); }, 1,
      kMaxInt, "Tokens of an answer at most. Default: 32, ruler 64, longbench its own");
  add_flag_value(
      app, "--layout", "NAME",
      [&](const std::string& text) {
        options.layout = text;
        return check_one_of(text, {"auto", "qa", "plain"});
      },
      "How documents and question are written: qa or plain. Default: auto, which is qa");
  add_flag_value(
      app, "--encoding-prefix", "P",
      [&](const std::string& text) {
        options.encoding_prefix = text;
        return check_one_of(text, {"none", "bos", "header"});
      },
      "What chunks are computed behind: none, bos or header. Default: bos");
}

}  // namespace

void add_axis_flags(CLI::App& app, PlotAxes& axes) {
  add_flag_value(
      app, "-x,--x", "COST",
      [&](const std::string& text) {
        axes.x = text;
        return check_one_of(text, {"flops", "ttft"});
      },
      "The plot's cost: flops or ttft. Default: flops");
  app.add_option("-y,--y", axes.y,
                 "The plot's metric: nll, kl_answer, kl_first, f1, em, recall or "
                 "rouge_l. Default: nll")
      ->type_name("METRIC");
}

void add_eval_flags(CLI::App& app, EvalFlags& flags) {
  add_data_flags(app, flags);
  add_method_flags(app, flags);
  add_prompt_flags(app, flags);
  app.option_defaults()->group("Output");
  app.add_flag("--json", flags.json, "Print one JSON list of rows instead of tables");
  app.add_option("--samples", flags.samples,
                 "Keep each sample's result in this file, and go on from what is there")
      ->type_name("FILE.jsonl");
  app.add_option("--plot", flags.plot, "Write NAME.svg, NAME.png and NAME.csv")->type_name("NAME");
  add_axis_flags(app, flags.axes);
}

Expected<const Preset*> settle_eval_flags(EvalFlags& flags, std::vector<std::string>& missing) {
  const Preset* preset = nullptr;
  if (!flags.preset.empty()) {
    LL_ASSIGN(preset, find_preset(flags.preset));
    if (flags.tasks.data.empty() && !preset->data.empty())
      flags.tasks.data.emplace_back(preset->data);
    if (flags.methods.empty()) flags.methods = available_methods(*preset, missing);
    if (preset->length > 0) {
      flags.tasks.length = preset->length;
      flags.tasks.documents = preset->documents;
    }
  }
  if (flags.methods.empty()) flags.methods = "full,reuse";
  flags.tasks.length = flags.length.value_or(flags.tasks.length);
  flags.tasks.documents = flags.documents.value_or(flags.tasks.documents);
  if (!flags.check.empty()) {
    if (!flags.tasks.data.empty())
      return error(ErrorCode::kUsage, "--check evaluates nothing; leave --data and --preset out");
    return preset;
  }
  if (flags.tasks.data.empty())
    return error(ErrorCode::kUsage, "nothing to evaluate; give --data FILE or --data ruler:KIND");
  return preset;
}

}  // namespace looseleaf

#include "eval/preset.h"

#include <algorithm>

#include "eval/text_table.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

constexpr PaperNumber kRelaxKv[] = {{"relaxkv:0.15", 95.00}, {"prophetkv:0.20", 91.17}};
constexpr PaperNumber kProphetKv[] = {{"reuse", 32.0}, {"prophetkv:0.20", 100.0}};
constexpr PaperNumber kLazyAttention[] = {
    {"full", 71.8}, {"cacheblend:0.15", 67.5}, {"block", 69.3}, {"reuse", 69.2}};

constexpr std::string_view kRulerDiffers =
    "the generator and its filler are ours, not RULER's with Paul Graham's essays; the question is "
    "asked through the chat template, without RULER's answer prefix; documents are chunks of equal "
    "length";

const Preset kPresets[] = {
    {"relaxkv-multi-value", "RULER, four values of one key, 32K tokens", "RelaxKV, 2609.33503",
     "Qwen3-14B", "ruler:multi-value", "full,reuse,relaxkv:0.15,prophetkv:0.20", "recall", 32768,
     64, 0, kRelaxKv, kRulerDiffers},
    {"prophetkv-multi-value", "RULER, four values of one key, 8K tokens", "ProphetKV, 2602.02579",
     "Llama-3.1-8B", "ruler:multi-value", "full,reuse,prophetkv:0.20", "recall", 8192, 16, 0,
     kProphetKv, kRulerDiffers},
    {"lazyattention-qa", "exact match, mean of 2Wiki, TriviaQA, NarrativeQA and HotpotQA",
     "LazyAttention, 2606.04302", "a Llama tuned for block attention", "",
     "full,cacheblend:0.15,block,reuse", "em", 0, 0, 0, kLazyAttention,
     "each file of --data is compared with the paper's mean over its four sets"},
};

std::string canonical(std::string_view method) {
  const auto parsed = parse_method(method, true);
  return parsed ? parsed->canonical() : "";
}

}  // namespace

Expected<const Preset*> find_preset(const std::string& name) {
  std::string names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return &preset;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name);
  }
  return error(ErrorCode::kUsage, "--preset: there is no '{}'; there are: {}", name, names);
}

std::string available_methods(const Preset& preset, std::vector<std::string>& missing) {
  std::string list;
  for (std::string_view rest = preset.methods; !rest.empty();) {
    const std::string_view method = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(method.size() + 1, rest.size()));
    if (canonical(method).empty()) {
      missing.emplace_back(method);
    } else {
      list += (list.empty() ? "" : ",") + std::string(method);
    }
  }
  return list;
}

std::vector<PaperRow> paper_rows(const Preset& preset, const std::vector<EvalRow>& rows) {
  std::vector<PaperRow> found;
  const std::string metric(preset.metric);
  for (const PaperNumber& number : preset.numbers)
    for (const EvalRow& row : rows)
      if (row.method == canonical(number.method) && row.metrics.contains(metric))
        found.push_back({row.method, row.task, metric, number.percent / 100,
                         row.metrics.at(metric).mean.value});
  return found;
}

std::string paper_table(const Preset& preset, const std::vector<EvalRow>& rows,
                        const std::vector<std::string>& missing, const std::string& model) {
  std::vector<std::vector<std::string>> lines = {
      {"method", "task", fmt::format("{} %, paper", preset.metric), "ours"}};
  for (const PaperRow& row : paper_rows(preset, rows))
    lines.push_back({row.method, row.task, fmt::format("{:.2f}", 100 * row.paper),
                     fmt::format("{:.2f}", 100 * row.ours)});
  std::string out = fmt::format("{}: {}\n{}", preset.source, preset.table, text_table(lines));
  out += fmt::format("differs: the model is {}, the paper's {}", model, preset.model);
  if (!rows.empty()) {
    const EvalRow& row = rows[0];
    out += fmt::format("; {} samples", row.n);
    if (preset.length > 0)
      out += fmt::format(" of {:.0f} tokens, the paper's of {}", row.context_tokens, preset.length);
  }
  out += fmt::format("; {}\n", preset.differs);
  for (const std::string& method : missing)
    out += fmt::format("left out: {}, which this build does not have\n", method);
  return out;
}

}  // namespace looseleaf

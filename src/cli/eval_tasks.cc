#include "cli/eval_tasks.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "cli/read_file.h"
#include "eval/ruler.h"

namespace looseleaf {
namespace {

constexpr std::string_view kRuler = "ruler:";
constexpr int kRulerSamples = 20;  // where --limit is not given

}  // namespace

Expected<TaskSources> TaskSources::open(const TaskFlags& flags) {
  TaskSources sources;
  sources.flags_ = flags;
  if (flags.data_template != "qa" && flags.data_template != "longbench")
    return error(ErrorCode::kUsage, "--template: must be qa or longbench, not '{}'",
                 flags.data_template);
  for (const std::string& data : flags.data) {
    Source source;
    if (data.starts_with(kRuler)) {
      source.ruler = data.substr(kRuler.size());
      EvalRandom random(0, 0);
      LL_RETURN_IF_ERROR(make_puzzle(source.ruler, random));
    } else if (data.ends_with(".zst") || data.ends_with(".gz")) {
      return error(ErrorCode::kUnsupported,
                   "{}: is compressed; unpack it first, or give - and pipe it in, e.g. zstd -dc "
                   "FILE | looseleaf eval MODEL --data -",
                   data);
    } else {
      LL_ASSIGN(std::string text, read_text_file(data));
      source.file = {data == "-" ? "standard input" : data, std::move(text)};
      if (flags.data_template == "qa") LL_RETURN_IF_ERROR(read_qa(source.file, flags.options));
    }
    sources.sources_.push_back(std::move(source));
  }
  if (flags.haystack.empty()) return sources;
  LL_ASSIGN(const std::string text, read_text_file(flags.haystack));
  sources.haystack_ = Haystack(text);
  sources.haystack_hash_ = to_hex(Sha256().field(text).finish());
  if (sources.haystack_.built_in())
    return error(ErrorCode::kInvalidArgument, "{}: holds no sentence", flags.haystack);
  return sources;
}

Expected<EvalTask> TaskSources::load_one(const Source& source, uint64_t seed,
                                         const CountTokens& count_tokens) const {
  DataOptions options = flags_.options;
  if (source.ruler.empty())
    return flags_.data_template == "qa" ? read_qa(source.file, options)
                                        : read_longbench(source.file, options, count_tokens);
  if (options.limit == 0) options.limit = kRulerSamples;
  const RulerOptions ruler{.length = flags_.length,
                           .documents = flags_.documents,
                           .seed = seed,
                           .haystack = &haystack_,
                           .haystack_hash = haystack_hash_};
  return make_ruler(source.ruler, ruler, options, count_tokens);
}

Expected<std::vector<EvalTask>> TaskSources::load(const Engine& engine, uint64_t seed) const {
  const CountTokens count_tokens = [&](const std::string& text) -> Expected<int> {
    LL_ASSIGN(const auto tokens, engine.tokenize(text));
    return static_cast<int>(tokens.size());
  };
  std::vector<EvalTask> tasks;
  for (const Source& source : sources_) {
    LL_ASSIGN(EvalTask task, load_one(source, seed, count_tokens));
    if (std::ranges::find(tasks, task.name, &EvalTask::name) != tasks.end())
      return error(ErrorCode::kUsage, "--data: two tasks are called {}; rename one of the files",
                   task.name);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace looseleaf

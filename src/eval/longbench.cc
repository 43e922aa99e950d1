#include <algorithm>

#include "base/hash.h"
#include "base/json_reader.h"
#include "eval/data.h"
#include "eval/longbench_prompts.h"

namespace looseleaf {
namespace {

// `pattern` cut at {context}, {input} filled in on both sides, in one pass.
struct Framed {
  std::string before, after;
};

Framed frame(std::string_view pattern, const std::string& input) {
  constexpr std::string_view kContext = "{context}", kInput = "{input}";
  const auto fill = [&](std::string_view part) {
    std::string text(part);
    if (const size_t at = text.find(kInput); at != std::string::npos)
      text.replace(at, kInput.size(), input);
    return text;
  };
  const size_t at = pattern.find(kContext);
  return {fill(pattern.substr(0, at)), fill(pattern.substr(at + kContext.size()))};
}

// Documents stand in the middle of the one message, exactly as the benchmark's text has them.
Request request_of(const LongBenchTask& task, const std::string& input,
                   const std::vector<std::string>& chunks) {
  Request request;
  request.layout = Layout{"", "{text}", "{text}", "{question}"};
  std::vector<Document> documents;
  for (const std::string& chunk : chunks) documents.emplace_back().text = chunk;
  Framed framed = frame(task.prompt, input);
  if (task.few_shot) {
    request.prefix = std::move(framed.before);
    request.documents = std::move(documents);
    request.prompt = std::move(framed.after);
    return request;
  }
  Message message{.role = "user", .content = {std::move(framed.before)}};
  std::ranges::move(documents, std::back_inserter(message.content));
  message.content.emplace_back(std::move(framed.after));
  request.messages.push_back(std::move(message));
  return request;
}

Expected<int> chunk_tokens(const std::string& chunk) {
  if (chunk == "passage") return 0;
  const bool digits = !chunk.empty() && chunk.size() <= 7 &&
                      chunk.find_first_not_of("0123456789") == std::string::npos;
  const int tokens = digits ? std::stoi(chunk) : 0;
  if (tokens > 0) return tokens;
  return error(ErrorCode::kUsage, "--chunk: must be passage or a number of tokens, not '{}'",
               chunk);
}

struct Line {
  std::string id, dataset, input, context;
  std::vector<std::string> answers;
};

Expected<Line> read_line(const boost::json::value& value, int number) {
  LL_ASSIGN(ObjectReader object, ObjectReader::open(JsonField(value, "")));
  Line line;
  line.id = fmt::format("line {}", number);
  LL_RETURN_IF_ERROR(object.read("_id", line.id));
  LL_RETURN_IF_ERROR(object.read("dataset", line.dataset));
  LL_RETURN_IF_ERROR(object.read("input", line.input));
  LL_RETURN_IF_ERROR(object.read("context", line.context));
  if (line.context.empty()) return field_error("context", "is missing or empty");
  const auto answers = object.take("answers");
  if (!answers) return field_error("answers", "is missing");
  LL_ASSIGN(const size_t count, answers->length());
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(std::string answer, answers->item(i).string());
    if (!answer.empty()) line.answers.push_back(std::move(answer));
  }
  if (line.answers.empty()) return field_error("answers", "is empty; a sample needs a reference");
  return line;
}

}  // namespace

Expected<EvalTask> read_longbench(const DataFile& file, const DataOptions& options,
                                  const CountTokens& count_tokens) {
  LL_ASSIGN(const int tokens, chunk_tokens(options.chunk));
  EvalTask task;
  task.data_hash = to_hex(Sha256().field(file.text).finish());
  const LongBenchTask* known = nullptr;
  LL_RETURN_IF_ERROR(for_each_line(
      file, options.limit, [&](const boost::json::value& value, int number) -> Status {
        LL_ASSIGN(Line line, read_line(value, number));
        if (known == nullptr) {
          known = find_longbench_task(line.dataset);
          if (known == nullptr)
            return error(ErrorCode::kUnsupported,
                         "dataset: '{}' is not among the supported tasks of LongBench: {}",
                         line.dataset, longbench_task_names());
          task.name = line.dataset;
          task.first_line_only = known->few_shot;
          task.metrics = {known->summary ? TextMetric::kRougeL : TextMetric::kF1};
        } else if (line.dataset != task.name) {
          return field_error("dataset", "is '{}' after '{}'; give each task its own file",
                             line.dataset, task.name);
        }
        LL_ASSIGN(const auto chunks, cut_context(line.context, tokens, count_tokens));
        EvalSample sample;
        sample.id = fmt::format("{}#{}", line.id, number);  // some of its ids stand twice
        sample.request = request_of(*known, line.input, chunks);
        sample.request.encoding_prefix = options.encoding_prefix;
        sample.request.max_tokens = options.max_tokens > 0 ? options.max_tokens : known->max_tokens;
        sample.request.sampling.temperature = 0;
        sample.answers = std::move(line.answers);
        sample.gold = sample.answers[0];
        task.samples.push_back(std::move(sample));
        return {};
      }));
  return task;
}

}  // namespace looseleaf

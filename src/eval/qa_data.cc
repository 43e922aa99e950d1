#include <set>

#include "base/hash.h"
#include "base/json_reader.h"
#include "eval/data.h"

namespace looseleaf {
namespace {

constexpr int kMaxTokens = 32;

Expected<std::vector<std::string>> read_answers(ObjectReader& object) {
  const auto field = object.take("answers");
  if (!field) return field_error(object.path_of("answers"), "is missing");
  LL_ASSIGN(const size_t count, field->length());
  if (count == 0) return field_error(field->path(), "is empty; a sample needs a reference");
  std::vector<std::string> answers;
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(std::string answer, field->item(i).string());
    if (answer.empty()) return field_error(field->item(i).path(), "is empty");
    answers.push_back(std::move(answer));
  }
  return answers;
}

Expected<std::vector<Document>> read_contexts(ObjectReader& object) {
  const auto field = object.take("ctxs");
  if (!field) return field_error(object.path_of("ctxs"), "is missing");
  LL_ASSIGN(const size_t count, field->length());
  if (count == 0) return field_error(field->path(), "is empty; a sample needs a document");
  std::vector<Document> documents;
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(ObjectReader context, ObjectReader::open(field->item(i)));
    Document document;
    LL_RETURN_IF_ERROR(context.read("title", document.title));
    LL_RETURN_IF_ERROR(context.read("text", document.text));
    if (document.text.empty()) return field_error(context.path_of("text"), "is missing or empty");
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace

Expected<EvalTask> read_qa(const DataFile& file, const DataOptions& options) {
  EvalTask task;
  task.name = stem_of(file.path);
  task.data_hash = to_hex(Sha256().field(file.text).finish());
  task.metrics = {TextMetric::kF1, TextMetric::kEm, TextMetric::kRecallAny};
  std::set<std::string> ids;
  LL_RETURN_IF_ERROR(
      for_each_line(file, options.limit, [&](const boost::json::value& value, int line) -> Status {
        LL_ASSIGN(ObjectReader object, ObjectReader::open(JsonField(value, "")));
        EvalSample sample;
        sample.id = fmt::format("line {}", line);
        LL_RETURN_IF_ERROR(object.read("id", sample.id));
        if (!ids.insert(sample.id).second)
          return field_error("id", "'{}' was there before", sample.id);
        LL_RETURN_IF_ERROR(object.read("question", sample.request.question));
        if (sample.request.question.empty()) return field_error("question", "is missing or empty");
        LL_ASSIGN(sample.answers, read_answers(object));
        LL_ASSIGN(sample.request.documents, read_contexts(object));
        sample.gold = sample.answers[0];
        sample.request.layout = options.layout;
        sample.request.encoding_prefix = options.encoding_prefix;
        sample.request.max_tokens = options.max_tokens > 0 ? options.max_tokens : kMaxTokens;
        sample.request.sampling.temperature = 0;
        task.samples.push_back(std::move(sample));
        return {};
      }));
  return task;
}

}  // namespace looseleaf

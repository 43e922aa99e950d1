#include "eval/record.h"

#include <limits>

#include "base/json_reader.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr double kHuge = std::numeric_limits<double>::max();

Expected<JsonField> member(ObjectReader& object, std::string_view name) {
  if (auto field = object.take(name)) return *field;
  return field_error(object.path_of(name), "is missing");
}

Status read_text(ObjectReader& object, std::string_view name, std::string& out) {
  LL_ASSIGN(const JsonField field, member(object, name));
  LL_ASSIGN(out, field.string());
  return {};
}

Status read_count(ObjectReader& object, std::string_view name, int& out) {
  LL_ASSIGN(const JsonField field, member(object, name));
  LL_ASSIGN(const int64_t value, field.integer(0, std::numeric_limits<int>::max()));
  out = static_cast<int>(value);
  return {};
}

Status read_number(ObjectReader& object, std::string_view name, double& out) {
  LL_ASSIGN(const JsonField field, member(object, name));
  LL_ASSIGN(out, field.number(0, kHuge));
  return {};
}

Expected<SampleRecord> read(const json::value& value) {
  LL_ASSIGN(ObjectReader object, ObjectReader::open(JsonField(value, "")));
  SampleRecord record;
  LL_RETURN_IF_ERROR(read_text(object, "task", record.task));
  LL_RETURN_IF_ERROR(read_text(object, "sample", record.sample));
  LL_RETURN_IF_ERROR(read_count(object, "order", record.order));
  LL_RETURN_IF_ERROR(read_text(object, "method", record.method));
  LL_ASSIGN(const JsonField metrics, member(object, "metrics"));
  if (!metrics.value().is_object()) return metrics.wrong("an object");
  for (const json::key_value_pair& metric : metrics.value().get_object()) {
    const JsonField field(metric.value(), "metrics." + std::string(metric.key()));
    LL_ASSIGN(record.metrics[std::string(metric.key())], field.number(0, kHuge));
  }
  LL_RETURN_IF_ERROR(read_number(object, "flops", record.flops));
  LL_RETURN_IF_ERROR(read_number(object, "ttft_ms", record.ttft_ms));
  LL_RETURN_IF_ERROR(read_count(object, "context_tokens", record.context_tokens));
  LL_RETURN_IF_ERROR(read_count(object, "n_documents", record.documents));
  LL_RETURN_IF_ERROR(read_count(object, "repaired_tokens", record.repaired_tokens));
  LL_RETURN_IF_ERROR(read_text(object, "prompt_hash", record.prompt_hash));
  LL_RETURN_IF_ERROR(read_text(object, "text", record.text));
  LL_RETURN_IF_ERROR(read_text(object, "commit", record.commit));
  return record;
}

}  // namespace

json::object to_json(const SampleRecord& record) {
  json::object metrics;
  for (const auto& [name, value] : record.metrics) metrics[name] = value;
  return {{"task", record.task},
          {"sample", record.sample},
          {"order", record.order},
          {"method", record.method},
          {"metrics", std::move(metrics)},
          {"flops", record.flops},
          {"ttft_ms", record.ttft_ms},
          {"context_tokens", record.context_tokens},
          {"n_documents", record.documents},
          {"repaired_tokens", record.repaired_tokens},
          {"prompt_hash", record.prompt_hash},
          {"text", record.text},
          {"commit", record.commit}};
}

Expected<SampleRecord> record_from_json(const json::value& value) {
  auto record = read(value);
  if (!record) record.error().code = ErrorCode::kCorrupt;
  return record;
}

}  // namespace looseleaf

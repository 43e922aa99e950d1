#include "server/message_json.h"

#include <algorithm>

#include "base/json_text.h"
#include "server/document_json.h"

namespace looseleaf {
namespace {

Expected<std::string> read_role(ObjectReader& message) {
  const auto field = message.take("role");
  if (!field) return field_error(message.path_of("role"), "is missing");
  LL_ASSIGN(std::string role, field->string());
  if (role == "developer") return std::string("system");  // OpenAI's newer name for it
  constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool"};
  if (std::ranges::find(kRoles, role) != std::end(kRoles)) return role;
  if (role == "function") return unsupported_field(field->path(), "use tool instead of function");
  return field->wrong("system, user, assistant or tool");
}

// Anthropic's form, the part itself being the document.
Expected<Document> read_source(const JsonField& source_field, ObjectReader& part,
                               IgnoredFields& ignored) {
  LL_ASSIGN(ObjectReader source, ObjectReader::open(source_field));
  std::string type;
  LL_RETURN_IF_ERROR(source.read("type", type));
  if (type != "text") {
    return unsupported_field(source.path_of("type"),
                             "must be text: looseleaf does not convert documents");
  }
  Document document;
  LL_RETURN_IF_ERROR(source.read("data", document.text));
  if (document.text.empty()) return field_error(source.path_of("data"), "must not be empty");
  source.take("media_type");  // text/plain; the text itself says no more
  LL_RETURN_IF_ERROR(part.read("title", document.title));
  LL_RETURN_IF_ERROR(part.read("context", document.metadata["context"]));
  if (document.metadata["context"].empty()) document.metadata.clear();
  if (const auto field = part.take("citations")) {
    bool enabled = false;
    LL_ASSIGN(ObjectReader citations, ObjectReader::open(*field));
    LL_RETURN_IF_ERROR(citations.read("enabled", enabled));
    if (enabled) return unsupported_field(citations.path_of("enabled"), "must be false");
  }
  ignored.add_unknown(source, "messages[].content[].source");
  return document;
}

Expected<Document> read_document_part(ObjectReader& part, IgnoredFields& ignored) {
  const auto document = part.take("document");
  const auto source = part.take("source");
  if (document && source)
    return field_error(source->path(), "stands beside {}; give one of them", document->path());
  if (source) return read_source(*source, part, ignored);
  if (!document) return field_error(part.path_of("document"), "is missing");
  return read_document(*document, ignored);
}

Expected<ContentPart> read_part(const JsonField& field, std::string_view role,
                                IgnoredFields& ignored) {
  LL_ASSIGN(ObjectReader part, ObjectReader::open(field));
  const auto type_field = part.take("type");
  if (!type_field) return field_error(part.path_of("type"), "is missing");
  LL_ASSIGN(const std::string type, type_field->string());
  ContentPart content;
  if (type == "text") {
    const auto text = part.take("text");
    if (!text) return field_error(part.path_of("text"), "is missing");
    LL_ASSIGN(content, text->string());
  } else if (type == "document") {
    if (role != "user" && role != "tool") {
      return field_error(type_field->path(), "documents stand in user and tool messages only");
    }
    LL_ASSIGN(content, read_document_part(part, ignored));
  } else {
    return unsupported_field(type_field->path(),
                             "must be text or document, not " + in_quotes(type));
  }
  ignored.add_unknown(part, "messages[].content[]");
  return content;
}

Expected<Message> read_message(const JsonField& field, IgnoredFields& ignored) {
  LL_ASSIGN(ObjectReader object, ObjectReader::open(field));
  Message message;
  LL_ASSIGN(message.role, read_role(object));
  if (const auto calls = object.take("tool_calls")) {
    LL_ASSIGN(const size_t count, calls->length());
    if (count > 0) return unsupported_field(calls->path(), "tool calls are not supported");
  }
  const auto content = object.take("content");
  if (!content) return field_error(object.path_of("content"), "is missing");
  if (content->value().is_string()) {
    LL_ASSIGN(std::string text, content->string());
    message.content.emplace_back(std::move(text));
  } else {
    if (!content->value().is_array()) return content->wrong("a string or a list of parts");
    LL_ASSIGN(const size_t count, content->length());
    if (count == 0) return field_error(content->path(), "must not be empty");
    for (size_t i = 0; i < count; ++i) {
      LL_ASSIGN(ContentPart part, read_part(content->item(i), message.role, ignored));
      message.content.push_back(std::move(part));
    }
  }
  ignored.add_unknown(object, "messages[]");
  return message;
}

}  // namespace

Expected<std::vector<Message>> read_messages(const JsonField& field, IgnoredFields& ignored) {
  LL_ASSIGN(const size_t count, field.length());
  if (count == 0) return field_error(field.path(), "must not be empty");
  std::vector<Message> messages;
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(Message message, read_message(field.item(i), ignored));
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace looseleaf

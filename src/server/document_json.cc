#include "server/document_json.h"

#include "base/json_text.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// Ours, OpenAI's and Haystack's, LangChain's, Cohere's.
constexpr const char* kTextNames[] = {"text", "content", "page_content", "snippet"};

Expected<std::string> read_text(const JsonField& field) {
  LL_ASSIGN(std::string text, field.string());
  if (text.empty()) return field_error(field.path(), "must not be empty");
  return text;
}

// The one member that holds the text, whatever it is called.
Expected<std::optional<JsonField>> take_text(ObjectReader& object) {
  std::optional<JsonField> found;
  for (const char* name : kTextNames) {
    std::optional<JsonField> field = object.take(name);
    if (!field) continue;
    if (found) {
      return field_error(field->path(), "says the same as {}; give one of them", found->path());
    }
    found = std::move(field);
  }
  return found;
}

// Layouts put metadata into text: strings as they are, anything else as JSON.
std::string metadata_text(const json::value& value) {
  if (value.is_string()) return {value.get_string().data(), value.get_string().size()};
  return write_json(value);
}

Status read_metadata(ObjectReader& object, std::map<std::string, std::string>& out) {
  const auto field = object.take("metadata");
  if (!field) return {};
  LL_ASSIGN(ObjectReader metadata, ObjectReader::open(*field));
  for (const std::string& key : metadata.unknown()) {
    out[key] = metadata_text(metadata.take(key)->value());
  }
  return {};
}

// Cohere's data: a text, or members of which one holds the text and all others are metadata.
Status read_data(const JsonField& field, Document& document) {
  if (field.value().is_string()) {
    LL_ASSIGN(document.text, read_text(field));
    return {};
  }
  if (!field.value().is_object()) return field.wrong("a string or an object");
  LL_ASSIGN(ObjectReader data, ObjectReader::open(field));
  LL_ASSIGN(const std::optional<JsonField> text, take_text(data));
  if (!text) return field_error(data.path_of("text"), "is missing");
  LL_ASSIGN(document.text, read_text(*text));
  LL_RETURN_IF_ERROR(data.read("title", document.title));
  for (const std::string& key : data.unknown()) {
    document.metadata[key] = metadata_text(data.take(key)->value());
  }
  return {};
}

// What the document says: exactly one of a text, tokens and Cohere's data.
Status read_substance(ObjectReader& object, Document& document) {
  LL_ASSIGN(const std::optional<JsonField> text, take_text(object));
  const std::optional<JsonField> tokens = object.take("tokens");
  const std::optional<JsonField> data = object.take("data");
  if (text && tokens)
    return field_error(tokens->path(), "stands beside {}; give one of them", text->path());
  if (data && (text || tokens)) {
    return field_error(data->path(), "stands beside {}; give one of them",
                       (text ? text : tokens)->path());
  }
  if (text) {
    LL_ASSIGN(document.text, read_text(*text));
  } else if (tokens) {
    LL_ASSIGN(document.tokens, tokens->token_ids());
  } else if (data) {
    return read_data(*data, document);
  } else {
    return field_error(object.path_of("text"),
                       "is missing (also called content, page_content or snippet; or give tokens)");
  }
  return {};
}

}  // namespace

Expected<Document> read_document(const JsonField& field, IgnoredFields& ignored) {
  Document document;
  if (field.value().is_string()) {
    LL_ASSIGN(document.text, read_text(field));
    return document;
  }
  if (!field.value().is_object()) return field.wrong("a string or an object");
  LL_ASSIGN(ObjectReader object, ObjectReader::open(field));
  if (const auto chunk_id = object.take("chunk_id")) {
    return unsupported_field(chunk_id->path(),
                             "documents by chunk id are not supported yet; give "
                             "the text, which is recognized");
  }
  LL_RETURN_IF_ERROR(read_substance(object, document));
  LL_RETURN_IF_ERROR(object.read("title", document.title));
  LL_RETURN_IF_ERROR(object.read("id", document.id));
  LL_RETURN_IF_ERROR(read_metadata(object, document.metadata));
  ignored.add_unknown(object, "documents[]");
  return document;
}

Expected<std::vector<Document>> read_documents(const JsonField& field, IgnoredFields& ignored) {
  LL_ASSIGN(const size_t count, field.length());
  std::vector<Document> documents;
  documents.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    LL_ASSIGN(Document document, read_document(field.item(i), ignored));
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace looseleaf

#include "cli/documents.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/json_parse.h"
#include "base/utf8.h"
#include "cli/document_files.h"
#include "cli/read_file.h"
#include "server/document_json.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ec;  // what cannot be looked at is reported where it is opened
  return fs::is_directory(path, ec);
}

bool is_regular(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec);
}

Expected<Document> text_document(const std::string& path, std::string title) {
  LL_ASSIGN(std::string text, read_text_file(path));
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string::npos) {
    return error(ErrorCode::kInvalidArgument, "{}: is empty; leave it out", shown_path(path));
  }
  if (find_invalid_utf8(title)) {
    return error(ErrorCode::kInvalidArgument, "{}: its name is not UTF-8; rename it", path);
  }
  Document document;
  document.text = std::move(text);
  document.title = std::move(title);
  return document;
}

Status add_folder(const std::string& path, std::vector<Document>& documents) {
  LL_ASSIGN(const std::vector<std::string> names, list_folder(path));
  if (names.empty()) {
    return error(ErrorCode::kNotFound, "{}: no text or Markdown file in this folder", path);
  }
  for (const std::string& name : names)
    LL_RETURN_IF_ERROR(check_text_format(fs::path(path) / name));
  for (const std::string& name : names) {
    std::string title = fs::path(name).replace_extension().generic_string();
    LL_ASSIGN(Document document, text_document(fs::path(path) / name, std::move(title)));
    documents.push_back(std::move(document));
  }
  return {};
}

Status add_file(const std::string& path, std::vector<Document>& documents) {
  if (is_folder(path)) return add_folder(path, documents);
  if (path != "-") LL_RETURN_IF_ERROR(check_text_format(path));
  // A pipe, such as <(command), has no name of its own.
  const bool named = path != "-" && is_regular(path);
  LL_ASSIGN(Document document, text_document(path, named ? fs::path(path).stem().string() : ""));
  documents.push_back(std::move(document));
  return {};
}

// Puts the file before an error's own place: "docs.jsonl:12: text: must be a string".
tl::unexpected<Error> in_file(const std::string& place, Error error) {
  error.message = fmt::format("{}: {}", place, error.message);
  return tl::unexpected(std::move(error));
}

// One document a line; empty lines do not count.
Status add_json_lines(const std::string& path, std::string_view text,
                      std::vector<Document>& documents) {
  IgnoredFields ignored;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", path, line);
    const auto value = parse_json(row);
    if (!value) return in_file(place, value.error());
    auto document = read_document(JsonField(*value, "document"), ignored);
    if (!document) return in_file(place, document.error());
    documents.push_back(*std::move(document));
  }
  return {};
}

// A list of documents, or {"documents": [...]}.
Status add_json(const std::string& path, std::string_view text, std::vector<Document>& documents) {
  const auto value = parse_json(text);
  if (!value) return in_file(path, value.error());
  JsonField list(*value, "documents");
  if (value->is_object()) {
    const boost::json::value* member = value->get_object().if_contains("documents");
    if (member == nullptr) {
      return error(ErrorCode::kInvalidArgument,
                   "{}: must be a list of documents, or an object that has one as \"documents\"",
                   path);
    }
    list = JsonField(*member, "documents");
  }
  IgnoredFields ignored;
  auto read = read_documents(list, ignored);
  if (!read) return in_file(path, read.error());
  std::ranges::move(*read, std::back_inserter(documents));
  return {};
}

Status add_collection(const std::string& path, std::vector<Document>& documents) {
  if (is_folder(path)) return add_folder(path, documents);
  const std::string suffix = lower_suffix(path);
  if (suffix != ".jsonl" && suffix != ".json") {
    LL_RETURN_IF_ERROR(check_exists(path));
    return error(ErrorCode::kUnsupported,
                 "{}: --docs takes a folder, .jsonl or .json; use --doc for a single text", path);
  }
  LL_ASSIGN(const std::string text, read_text_file(path));
  const size_t before = documents.size();
  LL_RETURN_IF_ERROR(suffix == ".jsonl" ? add_json_lines(path, text, documents)
                                        : add_json(path, text, documents));
  if (documents.size() == before) {
    return error(ErrorCode::kInvalidArgument, "{}: holds no documents", path);
  }
  return {};
}

}  // namespace

Expected<std::vector<Document>> load_documents(const DocumentSources& sources) {
  std::vector<Document> documents;
  for (const std::string& path : sources.files) LL_RETURN_IF_ERROR(add_file(path, documents));
  if (!sources.collection.empty()) {
    LL_RETURN_IF_ERROR(add_collection(sources.collection, documents));
  }
  for (const std::string& text : sources.texts) {
    if (text.empty()) return error(ErrorCode::kUsage, "--doc-text: must not be empty");
    if (find_invalid_utf8(text)) return error(ErrorCode::kUsage, "--doc-text: must be UTF-8");
    documents.emplace_back().text = text;
  }
  return documents;
}

}  // namespace looseleaf

#include "cli/document_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

// README and the like have no suffix.
constexpr std::string_view kTextSuffixes[] = {"", ".txt", ".text", ".md", ".markdown", ".rst"};

struct FormatHint {
  std::string_view suffix, hint;
};

constexpr FormatHint kHints[] = {
    {".pdf", "convert it first, e.g. pdftotext FILE.pdf"},
    {".doc", "convert it first, e.g. pandoc -t plain"},
    {".docx", "convert it first, e.g. pandoc -t plain"},
    {".odt", "convert it first, e.g. pandoc -t plain"},
    {".epub", "convert it first, e.g. pandoc -t plain"},
    {".rtf", "convert it first, e.g. pandoc -t plain"},
    {".html", "convert it first, e.g. pandoc -t plain"},
    {".htm", "convert it first, e.g. pandoc -t plain"},
    {".json", "documents in JSON are read by --docs"},
    {".jsonl", "documents in JSON are read by --docs"},
};

}  // namespace

std::string lower_suffix(const std::string& path) {
  std::string suffix = fs::path(path).extension().string();
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return suffix;
}

Status check_exists(const std::string& path) {
  std::error_code ec;
  if (fs::exists(path, ec)) return {};
  return error(ErrorCode::kNotFound, "{}: no such file or folder", path);
}

Status check_text_format(const std::string& path) {
  LL_RETURN_IF_ERROR(check_exists(path));
  const std::string suffix = lower_suffix(path);
  if (std::ranges::find(kTextSuffixes, suffix) != std::end(kTextSuffixes)) return {};
  const auto hint = std::ranges::find(kHints, suffix, &FormatHint::suffix);
  return error(ErrorCode::kUnsupported, "{}: {} is not read as a document; {}", path, suffix,
               hint != std::end(kHints)
                   ? hint->hint
                   : "only text and Markdown are (.txt, .md, .rst), or any text on --doc -");
}

Expected<std::vector<std::string>> list_folder(const std::string& path) {
  LL_RETURN_IF_ERROR(check_exists(path));
  std::vector<std::string> names;
  std::error_code ec;
  fs::recursive_directory_iterator entry(path, ec), end;
  for (; !ec && entry != end; entry.increment(ec)) {
    std::error_code ignored;  // a link to nowhere is no regular file
    if (entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      names.push_back(entry->path().lexically_relative(path).generic_string());
    }
  }
  if (ec) return error(ErrorCode::kInvalidArgument, "{}: {}", path, ec.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace looseleaf

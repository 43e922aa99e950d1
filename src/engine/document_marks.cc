#include "engine/document_marks.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace looseleaf {
namespace {

// INTERLINEAR ANNOTATION ANCHOR and TERMINATOR: neither letters nor white space.
constexpr std::string_view kOpen = "\uFFF9", kClose = "\uFFFB";

// The mark that `rest` begins with is taken from it; nothing when there is none.
std::optional<size_t> take_mark(std::string_view& rest) {
  if (!rest.starts_with(kOpen)) return std::nullopt;
  const size_t close = rest.find(kClose);
  if (close == std::string_view::npos) return std::nullopt;
  size_t index = 0;
  const char* end = rest.data() + close;
  const auto [stop, code] = std::from_chars(rest.data() + kOpen.size(), end, index);
  if (code != std::errc() || stop != end) return std::nullopt;
  rest.remove_prefix(close + kClose.size());
  return index;
}

}  // namespace

MarkedString document_mark(size_t index) {
  return {fmt::format("{}{}{}", kOpen, index, kClose), Origin::kInsert};
}

Expected<std::vector<MarkedPart>> split_at_marks(const MarkedString& text, size_t documents) {
  constexpr std::string_view kInstead =
      "place it elsewhere, or use a completion: prefix, documents, prompt";
  std::vector<MarkedPart> parts;
  std::vector<bool> seen(documents);
  size_t begin = 0;
  const auto text_part = [&]() -> MarkedString& {
    if (parts.empty() || !std::holds_alternative<MarkedString>(parts.back()))
      parts.emplace_back(MarkedString());
    return std::get<MarkedString>(parts.back());
  };
  for (const MarkedString::Range& range : text.ranges()) {
    std::string_view rest = std::string_view(text.text()).substr(begin, range.end - begin);
    begin = range.end;
    if (range.origin != Origin::kInsert) {
      text_part().append(rest, range.origin);
      continue;
    }
    while (!rest.empty()) {
      const auto index = take_mark(rest);
      if (!index || *index >= documents)
        return error(ErrorCode::kUnsupported,
                     "documents: the chat template cuts or changes a message where a document "
                     "stands; {}",
                     kInstead);
      if (seen[*index])
        return error(ErrorCode::kUnsupported,
                     "documents: the chat template writes documents[{}] more than once; {}", *index,
                     kInstead);
      seen[*index] = true;
      parts.emplace_back(*index);
    }
  }
  for (size_t i = 0; i < documents; ++i)
    if (!seen[i])
      return error(ErrorCode::kUnsupported,
                   "documents: the chat template leaves documents[{}] out; {}", i, kInstead);
  return parts;
}

Expected<MarkedString> text_before_mark(const MarkedString& text) {
  size_t begin = 0;
  for (const MarkedString::Range& range : text.ranges()) {
    if (range.origin == Origin::kInsert) return text.substr(0, begin);
    begin = range.end;
  }
  return error(ErrorCode::kUnsupported,
               "encoding_prefix: the chat template does not write the first message, so it has no "
               "header; use none or bos");
}

}  // namespace looseleaf

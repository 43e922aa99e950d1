#include "engine/layout.h"

#include <functional>
#include <optional>

#include "text/quote.h"

namespace looseleaf {
namespace {

const Layout kQa = {
    .intro = "Answer from the documents.\n\n",
    .document = "Title: {title}\n{text}\n\n",
    .document_untitled = "{text}\n\n",
    .question = "Question: {question}",
};
const Layout kPlain = {
    .intro = "",
    .document = "Title: {title}\n{text}\n\n",
    .document_untitled = "{text}\n\n",
    .question = "{question}",
};

using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

Expected<std::string> substitute(const std::string& field, const std::string& pattern,
                                 const Lookup& lookup) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t open = pattern.find('{', at);
    out.append(pattern, at, open - at);
    if (open == std::string::npos) return out;
    const size_t close = pattern.find('}', open);
    if (close == std::string::npos)
      return field_error(field, "the brace at byte {} is never closed", open);
    const std::string name = pattern.substr(open + 1, close - open - 1);
    const auto value = lookup(name);
    if (!value)
      return field_error(field, "no value for the placeholder {}", quote("{" + name + "}"));
    out += *value;
    at = close + 1;
  }
}

}  // namespace

Expected<Layout> resolve_layout(const std::variant<std::string, Layout>& layout,
                                bool has_system_message) {
  if (const auto* custom = std::get_if<Layout>(&layout)) return *custom;
  const std::string& name = std::get<std::string>(layout);
  if (name == "qa" || (name == "auto" && !has_system_message)) return kQa;
  if (name == "plain" || name == "auto") return kPlain;
  return field_error("layout",
                     "{} is not a layout; there are: qa, plain, or an object with "
                     "intro, document, document_untitled, question",
                     quote(name));
}

Expected<std::string> render_document(const Layout& layout, const Document& document) {
  const bool titled = !document.title.empty();
  return substitute(titled ? "layout.document" : "layout.document_untitled",
                    titled ? layout.document : layout.document_untitled,
                    [&](std::string_view name) -> std::optional<std::string> {
                      if (name == "title") return document.title;
                      if (name == "text") return document.text;
                      if (name == "id") return document.id;
                      constexpr std::string_view kMetadata = "metadata.";
                      if (!name.starts_with(kMetadata)) return std::nullopt;
                      const auto found =
                          document.metadata.find(std::string(name.substr(kMetadata.size())));
                      if (found == document.metadata.end()) return std::nullopt;
                      return found->second;
                    });
}

Expected<std::string> render_question(const Layout& layout, const std::string& question) {
  return substitute("layout.question", layout.question,
                    [&](std::string_view name) -> std::optional<std::string> {
                      if (name == "question") return question;
                      return std::nullopt;
                    });
}

}  // namespace looseleaf

#include "server/layout_json.h"

#include "engine/layout.h"

namespace looseleaf {
namespace {

// A pattern without its placeholder would drop what the user gave.
Status check_holds(const std::string& pattern, std::string_view placeholder, std::string path) {
  if (pattern.find(placeholder) != std::string::npos) return {};
  return field_error(std::move(path), "must contain {}", placeholder);
}

}  // namespace

Status check_layout_name(const std::string& name) {
  LL_RETURN_IF_ERROR(resolve_layout(name, false));
  return {};
}

Expected<std::variant<std::string, Layout>> read_layout(const JsonField& field) {
  if (field.value().is_string()) {
    LL_ASSIGN(std::string name, field.string());
    LL_RETURN_IF_ERROR(check_layout_name(name));
    return name;
  }
  if (!field.value().is_object()) return field.wrong("a name or an object");
  LL_ASSIGN(ObjectReader object, ObjectReader::open(field));
  Layout layout;
  layout.question = "{question}";
  LL_RETURN_IF_ERROR(object.read("intro", layout.intro));
  LL_RETURN_IF_ERROR(object.read("document", layout.document));
  layout.document_untitled = layout.document;
  LL_RETURN_IF_ERROR(object.read("document_untitled", layout.document_untitled));
  LL_RETURN_IF_ERROR(object.read("question", layout.question));
  LL_RETURN_IF_ERROR(check_holds(layout.document, "{text}", object.path_of("document")));
  LL_RETURN_IF_ERROR(
      check_holds(layout.document_untitled, "{text}", object.path_of("document_untitled")));
  LL_RETURN_IF_ERROR(check_holds(layout.question, "{question}", object.path_of("question")));
  if (const std::vector<std::string> names = object.unknown(); !names.empty()) {
    return field_error(object.path_of(names.front()),
                       "is not part of a layout (intro, document, document_untitled, question)");
  }
  return layout;
}

}  // namespace looseleaf

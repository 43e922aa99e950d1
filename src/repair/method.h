// Methods: how the documents' keys and values come to be. One file a method in repair/methods/,
// one line each in the table of method.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

enum class DocumentStorage {
  kPrivate,  // computed in the prompt, for this request only
  kPrefix,   // computed in the prompt, pages shared by prompts that begin alike
  kCopy,     // a chunk, copied with its keys moved to the prompt position
  kShared,   // the chunk itself, bound at the prompt position
};

struct MethodOption {
  std::string_view name;
  std::string_view default_value;
  std::string_view values;  // "0|1"
  std::string_view summary;
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  DocumentStorage storage;
  std::span<const MethodOption> options;
};

// A method with its options, as a request names it.
struct Method {
  const MethodInfo* info = nullptr;
  std::map<std::string, std::string> options;  // every option of the method, defaults filled in

  bool flag(const std::string& option) const { return options.at(option) == "1"; }
  std::string canonical() const;  // NAME[:key=value]..., options in the table's order
};

std::span<const MethodInfo* const> methods_table();

// What "auto" stands for.
std::string_view auto_method(bool has_documents);

// `text`: NAME[:NUMBER][:key=value]...; "auto" becomes the method that it stands for.
// Errors: kInvalidArgument (unknown name or option, with those that there are; a value out of
// range).
Expected<Method> parse_method(std::string_view text, bool has_documents);

}  // namespace looseleaf

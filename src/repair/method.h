// Methods: how the documents' keys and values come to be. One file a method in repair/methods/,
// one line each in the table of method.cc.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "repair/plan.h"

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
  // Alternatives, each a word or a range: "0|1", "off|0.0..1.0" (numbers), "0..64" (integers).
  std::string_view values;
  std::string_view summary;
};

// The NUMBER of NAME:NUMBER. 0 repairs nothing.
struct MethodNumber {
  std::string_view name;  // "ratio"; empty where the method takes none
  double default_value = 0;
  double most = 1;
  bool integer = false;
};

struct Method;

struct MethodInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  DocumentStorage storage;
  std::span<const MethodOption> options;
  MethodNumber number = {};
  // A repair: what it chooses from, and how. `number` is Method::number, or what meets its budget.
  Evidence evidence = Evidence::kNone;
  RepairPlan (*plan)(const Method& method, const RepairInput& input, double number) = nullptr;
};

// The option of every repair that takes a number.
inline constexpr MethodOption kBudgetOption = {
    "budget", "off", "off|0.0..1.0",
    "instead of the number: the share of full prefill's operations to spend in all"};

// A method with its options, as a request names it.
struct Method {
  const MethodInfo* info = nullptr;
  std::optional<double> number;                // set where the method takes one and has no budget
  std::map<std::string, std::string> options;  // every option of the method, defaults filled in

  bool repairs() const { return info->plan != nullptr; }
  const std::string& option(const std::string& name) const { return options.at(name); }
  bool flag(const std::string& name) const { return options.at(name) == "1"; }
  int integer(const std::string& name) const;  // of an option that takes integers alone
  // Of an option that takes numbers; nothing where it has none of these or is a word such as "off".
  std::optional<double> value(const std::string& name) const;
  std::string canonical() const;  // NAME[:NUMBER][:key=value]..., options in the table's order
};

std::span<const MethodInfo* const> methods_table();

// What "auto" stands for.
std::string_view auto_method(bool has_documents);

// `text`: NAME[:NUMBER][:key=value]...; "auto" becomes the method that it stands for.
// Errors: kInvalidArgument (unknown name or option, with those that there are; a value out of
// range).
Expected<Method> parse_method(std::string_view text, bool has_documents);

}  // namespace looseleaf

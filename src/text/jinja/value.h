// The values of templates: Python's, as far as chat templates use them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/marked_string.h"

namespace looseleaf::jinja {

class Value;
struct MacroNode;  // text/jinja/ast.h
struct Scope;      // text/jinja/scope.h
struct LoopState;  // text/jinja/scope.h

// What jinja2 calls Undefined: prints as nothing, is false and empty; anything else faults, with
// `why`.
struct Undefined {
  std::shared_ptr<const std::string> why;
};
struct None {};

enum class Form : uint8_t { kList, kTuple, kRange, kGenerator, kKeys, kValues, kItems };

// Immutable but for `next`, so values form no cycles and their depth is known when they are made.
struct Sequence {
  Form form = Form::kList;
  int depth = 1;
  std::vector<Value> items;
  size_t next = 0;         // kGenerator: the first item that is not consumed
  std::string shown = {};  // kRange: its text; empty for a slice of one
};

struct Dict {
  int depth = 1;
  std::vector<std::pair<Value, Value>> entries;  // in order of insertion, keys differ
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> entries;
};

struct Function {
  enum class Kind : uint8_t { kBuiltin, kMethod, kMacro };
  Kind kind = Kind::kBuiltin;
  std::string name;
  std::vector<Value> self;  // kMethod: the one value that it belongs to
  const MacroNode* macro = nullptr;
  std::weak_ptr<Scope> scope;  // kMacro: where it was defined, which it does not keep alive
};

class Value {
 public:
  using Variant = std::variant<Undefined, None, bool, int64_t, double,
                               std::shared_ptr<MarkedString>, std::shared_ptr<Sequence>,
                               std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
                               std::shared_ptr<const Function>, std::shared_ptr<LoopState>>;

  Value() = default;  // undefined
  template <typename T>
  requires std::constructible_from<Variant, T> Value(T data) : data_(std::move(data)) {}

  static Value text(MarkedString text) {
    return Value(std::make_shared<MarkedString>(std::move(text)));
  }
  static Value text(std::string_view text, Origin origin) {
    return Value::text(MarkedString(text, origin));
  }
  static Value undefined(std::string why);

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }

  // Null when it is something else.
  const MarkedString* string() const { return pointed<std::shared_ptr<MarkedString>>(); }
  Sequence* sequence() const { return pointed<std::shared_ptr<Sequence>>(); }
  const Dict* dict() const { return pointed<std::shared_ptr<const Dict>>(); }
  Namespace* name_space() const { return pointed<std::shared_ptr<Namespace>>(); }
  const Function* function() const { return pointed<std::shared_ptr<const Function>>(); }
  LoopState* loop() const { return pointed<std::shared_ptr<LoopState>>(); }

  // The string itself where nobody else holds it: it may be written to. Else null.
  MarkedString* unshared_string() const {
    const auto* held = get<std::shared_ptr<MarkedString>>();
    return held != nullptr && held->use_count() == 1 ? held->get() : nullptr;
  }

  // Levels of containers: 0 for what is none.
  int depth() const;
  // Python's name of the type: "str", "dict".
  std::string_view type_name() const;
  // Why an undefined value is one. REQUIRES: is_undefined().
  std::string_view why() const;

 private:
  template <typename P>
  auto pointed() const -> decltype(std::declval<P>().get()) {
    const P* held = get<P>();
    return held == nullptr ? nullptr : held->get();
  }
  Variant data_;
};

}  // namespace looseleaf::jinja

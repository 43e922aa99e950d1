// Runs a parsed template: one call of render().
#pragma once

#include <memory>

#include "text/jinja/ast.h"
#include "text/jinja/runtime.h"
#include "text/jinja/scope.h"

namespace looseleaf::jinja {

class Evaluator {
 public:
  explicit Evaluator(Runtime& runtime) : runtime_(runtime) {}

  // What the template writes. Faults; line() says where.
  MarkedString run(const Block& block, const Variables& context);
  int line() const { return line_; }

 private:
  using ScopePtr = std::shared_ptr<Scope>;
  enum class Flow : uint8_t { kOn, kBreak, kContinue };

  // statements.cc
  Flow execute(const Block& block, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Statement& statement, const ScopePtr& scope, TextBuilder& out);
  Flow execute_if(const Statement& statement, const ScopePtr& scope, TextBuilder& out);
  Flow execute_for(const Statement& statement, const ScopePtr& scope, TextBuilder& out);
  Flow execute_set_block(const Statement& statement, const ScopePtr& scope);
  Flow execute_filter_block(const Statement& statement, const ScopePtr& scope, TextBuilder& out);
  Flow execute_with(const Statement& statement, const ScopePtr& scope, TextBuilder& out);
  void define_macro(const MacroNode& macro, const ScopePtr& scope);
  void assign(const Target& target, const Value& value, Scope& scope);
  std::vector<Value> loop_items(const Statement& statement, const ScopePtr& scope);
  Value call_macro(const Function& function, Arguments arguments);
  void check_output(const TextBuilder& out) const;

  // expressions.cc
  Value evaluate(const Expression& expression, const ScopePtr& scope);
  Value evaluate_logic(const Expression& expression, const ScopePtr& scope);
  Value evaluate_literal(const Expression& expression, const ScopePtr& scope);
  Value evaluate_compare(const Expression& expression, const ScopePtr& scope);
  Value evaluate_concat(const Expression& expression, const ScopePtr& scope);
  Value evaluate_slice(const Expression& expression, const ScopePtr& scope);
  Value evaluate_call(const Expression& expression, const ScopePtr& scope);
  Value evaluate_test(const Expression& expression, const ScopePtr& scope);
  Value lookup(const std::string& name, const Scope& scope) const;
  // `block`: what the innermost filter takes that has no input of its own.
  Value evaluate_filter(const Expression& expression, const ScopePtr& scope, const Value* block);
  // Of children behind the first, and keywords.
  Arguments arguments_of(const Expression& expression, const ScopePtr& scope);

  Runtime& runtime_;
  int line_ = 0;
};

}  // namespace looseleaf::jinja

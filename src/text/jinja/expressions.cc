#include "text/jinja/attributes.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/functions.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace looseleaf::jinja {

using Kind = Expression::Kind;

Value Evaluator::evaluate(const Expression& expression, const ScopePtr& scope) {
  runtime_.budget.step();
  const Frame frame(runtime_.budget);
  line_ = expression.line;
  const auto child = [&](size_t i) { return evaluate(*expression.children[i], scope); };
  switch (expression.kind) {
    case Kind::kConstant:
      return expression.constant;
    case Kind::kName:
      return lookup(expression.name, *scope);
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kDict:
      return evaluate_literal(expression, scope);
    case Kind::kAttribute:
      return attribute(runtime_, child(0), expression.name);
    case Kind::kItem: {
      const Value object = child(0);
      return item(runtime_, object, child(1));
    }
    case Kind::kSlice:
      return evaluate_slice(expression, scope);
    case Kind::kCall:
      return evaluate_call(expression, scope);
    case Kind::kFilter:
      return evaluate_filter(expression, scope, nullptr);
    case Kind::kTest:
      return evaluate_test(expression, scope);
    case Kind::kNegate:
      return negate(child(0));
    case Kind::kPlus:
      return unary_plus(child(0));
    case Kind::kBinary: {
      Value left = child(0);
      Value right = child(1);
      return arithmetic(runtime_, expression.name, std::move(left), std::move(right));
    }
    case Kind::kConcat:
      return evaluate_concat(expression, scope);
    case Kind::kCompare:
      return evaluate_compare(expression, scope);
    case Kind::kNot:
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kCondition:
      return evaluate_logic(expression, scope);
  }
  return {};
}

Value Evaluator::lookup(const std::string& name, const Scope& scope) const {
  const Value* found = scope.find(name);
  return found != nullptr ? *found : Value::undefined(fmt::format("'{}' is undefined", name));
}

Value Evaluator::evaluate_logic(const Expression& expression, const ScopePtr& scope) {
  Value first = evaluate(*expression.children[0], scope);
  switch (expression.kind) {
    case Kind::kNot:
      return Value(!is_true(first));
    case Kind::kAnd:
      return is_true(first) ? evaluate(*expression.children[1], scope) : first;
    case Kind::kOr:
      return is_true(first) ? first : evaluate(*expression.children[1], scope);
    default:
      break;
  }
  if (is_true(first)) return evaluate(*expression.children[1], scope);
  if (expression.children[2] != nullptr) return evaluate(*expression.children[2], scope);
  return Value::undefined("an inline if without else is undefined where its condition fails");
}

Value Evaluator::evaluate_literal(const Expression& expression, const ScopePtr& scope) {
  std::vector<Value> values;
  for (const ExpressionPtr& child : expression.children) values.push_back(evaluate(*child, scope));
  if (expression.kind != Kind::kDict)
    return runtime_.sequence(std::move(values),
                             expression.kind == Kind::kTuple ? Form::kTuple : Form::kList);
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i + 1 < values.size(); i += 2)
    entries.emplace_back(std::move(values[i]), std::move(values[i + 1]));
  return make_dict(runtime_, std::move(entries));
}

Value Evaluator::evaluate_compare(const Expression& expression, const ScopePtr& scope) {
  Value left = evaluate(*expression.children[0], scope);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.children[i + 1], scope);
    if (!compare(runtime_, expression.operators[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::evaluate_concat(const Expression& expression, const ScopePtr& scope) {
  TextBuilder out(runtime_);
  for (const ExpressionPtr& child : expression.children) print(out, evaluate(*child, scope));
  return out.take();
}

Value Evaluator::evaluate_slice(const Expression& expression, const ScopePtr& scope) {
  const Value object = evaluate(*expression.children[0], scope);
  Value bounds[3];
  const Value* given[3] = {nullptr, nullptr, nullptr};
  for (size_t i = 0; i < 3; ++i) {
    if (expression.children[i + 1] == nullptr) continue;
    bounds[i] = evaluate(*expression.children[i + 1], scope);
    given[i] = &bounds[i];
  }
  return slice(runtime_, object, given[0], given[1], given[2]);
}

Arguments Evaluator::arguments_of(const Expression& expression, const ScopePtr& scope) {
  Arguments arguments;
  for (size_t i = 1; i < expression.children.size(); ++i)
    arguments.positional.push_back(evaluate(*expression.children[i], scope));
  for (const auto& [name, value] : expression.keywords)
    arguments.keywords.emplace_back(name, evaluate(*value, scope));
  line_ = expression.line;
  return arguments;
}

Value Evaluator::evaluate_call(const Expression& expression, const ScopePtr& scope) {
  const Value callee = evaluate(*expression.children[0], scope);
  Arguments arguments = arguments_of(expression, scope);
  if (callee.is_undefined()) fail("{}", callee.why());
  const Function* function = callee.function();
  if (function == nullptr) fail("a {} cannot be called", callee.type_name());
  switch (function->kind) {
    case Function::Kind::kBuiltin:
      return call_builtin(runtime_, function->name, arguments);
    case Function::Kind::kMethod:
      return call_method(runtime_, *function, arguments);
    case Function::Kind::kMacro:
      break;
  }
  return call_macro(*function, std::move(arguments));
}

Value Evaluator::evaluate_filter(const Expression& expression, const ScopePtr& scope,
                                 const Value* block) {
  const Expression* input = expression.children[0].get();
  const Value value = input == nullptr ? *block
                      : block != nullptr && input->kind == Kind::kFilter
                          ? evaluate_filter(*input, scope, block)
                          : evaluate(*input, scope);
  const Arguments arguments = arguments_of(expression, scope);
  return call_filter(runtime_, expression.name, value, arguments);
}

Value Evaluator::evaluate_test(const Expression& expression, const ScopePtr& scope) {
  const Value value = evaluate(*expression.children[0], scope);
  return Value(call_test(runtime_, expression.name, value, arguments_of(expression, scope)));
}

}  // namespace looseleaf::jinja

#include <algorithm>

#include "text/jinja/evaluator.h"
#include "text/jinja/functions.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

using Kind = Statement::Kind;

std::shared_ptr<Scope> inner(const std::shared_ptr<Scope>& outer) {
  auto scope = std::make_shared<Scope>();
  scope->parent = outer;
  return scope;
}

}  // namespace

MarkedString Evaluator::run(const Block& block, const Variables& context) {
  auto scope = std::make_shared<Scope>();
  scope->parent = builtin_scope(runtime_);
  scope->variables = context;
  TextBuilder out(runtime_);
  execute(block, scope, out);
  return out.built();
}

void Evaluator::check_output(const TextBuilder& out) const {
  const auto limit = runtime_.budget.limits().output_bytes;
  if (out.built().text().size() > static_cast<size_t>(limit))
    fail("it writes more than {} bytes", limit);
}

Evaluator::Flow Evaluator::execute(const Block& block, const ScopePtr& scope, TextBuilder& out) {
  for (const Statement& statement : block) {
    const Flow flow = execute(statement, scope, out);
    if (flow != Flow::kOn) return flow;
  }
  return Flow::kOn;
}

Evaluator::Flow Evaluator::execute(const Statement& statement, const ScopePtr& scope,
                                   TextBuilder& out) {
  runtime_.budget.step();
  const Frame frame(runtime_.budget);
  line_ = statement.line;
  switch (statement.kind) {
    case Kind::kText:
      out.append(*statement.text.string());
      check_output(out);
      return Flow::kOn;
    case Kind::kPrint:
      print(out, evaluate(*statement.value, scope));
      check_output(out);
      return Flow::kOn;
    case Kind::kIf:
      return execute_if(statement, scope, out);
    case Kind::kFor:
      return execute_for(statement, scope, out);
    case Kind::kSet:
      assign(statement.target, evaluate(*statement.value, scope), *scope);
      return Flow::kOn;
    case Kind::kSetBlock:
      return execute_set_block(statement, scope);
    case Kind::kMacro:
      define_macro(*statement.macro, scope);
      return Flow::kOn;
    case Kind::kScope:
      return execute(statement.body, inner(scope), out);
    case Kind::kWith:
      return execute_with(statement, scope, out);
    case Kind::kFilterBlock:
      return execute_filter_block(statement, scope, out);
    case Kind::kBreak:
      return Flow::kBreak;
    case Kind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kOn;
}

Evaluator::Flow Evaluator::execute_if(const Statement& statement, const ScopePtr& scope,
                                      TextBuilder& out) {
  for (const auto& [condition, body] : statement.branches)
    if (is_true(evaluate(*condition, scope))) return execute(body, scope, out);
  return execute(statement.otherwise, scope, out);
}

std::vector<Value> Evaluator::loop_items(const Statement& statement, const ScopePtr& scope) {
  std::vector<Value> items = items_of(runtime_, evaluate(*statement.value, scope));
  if (statement.condition == nullptr) return items;
  std::vector<Value> kept;
  for (Value& item : items) {
    const ScopePtr asked = inner(scope);
    assign(statement.target, item, *asked);
    if (is_true(evaluate(*statement.condition, asked))) kept.push_back(std::move(item));
  }
  return kept;
}

Evaluator::Flow Evaluator::execute_for(const Statement& statement, const ScopePtr& scope,
                                       TextBuilder& out) {
  auto loop = std::make_shared<LoopState>();
  loop->items = loop_items(statement, scope);
  // As jinja2 compiles it: `else` is for loops none of whose rounds came to its end, be it that
  // there was none or that each was left by `continue` or `break`.
  bool ended = false;
  for (; loop->index < loop->items.size(); ++loop->index) {
    runtime_.budget.step();
    const ScopePtr body = inner(scope);
    body->set("loop", Value(loop));
    assign(statement.target, loop->items[loop->index], *body);
    const Flow flow = execute(statement.body, body, out);
    ended |= flow == Flow::kOn;
    if (flow == Flow::kBreak) break;
  }
  return ended ? Flow::kOn : execute(statement.otherwise, inner(scope), out);
}

Evaluator::Flow Evaluator::execute_set_block(const Statement& statement, const ScopePtr& scope) {
  TextBuilder text(runtime_);
  const Flow flow = execute(statement.body, inner(scope), text);
  if (flow != Flow::kOn) return flow;
  Value value = text.take();
  if (statement.value != nullptr) value = evaluate_filter(*statement.value, scope, &value);
  assign(statement.target, value, *scope);
  return Flow::kOn;
}

Evaluator::Flow Evaluator::execute_filter_block(const Statement& statement, const ScopePtr& scope,
                                                TextBuilder& out) {
  TextBuilder text(runtime_);
  const Flow flow = execute(statement.body, inner(scope), text);
  if (flow != Flow::kOn) return flow;
  const Value value = text.take();
  print(out, evaluate_filter(*statement.value, scope, &value));
  return Flow::kOn;
}

Evaluator::Flow Evaluator::execute_with(const Statement& statement, const ScopePtr& scope,
                                        TextBuilder& out) {
  const ScopePtr body = inner(scope);
  for (const auto& [target, value] : statement.bindings)
    assign(target, evaluate(*value, scope), *body);  // none sees the others
  return execute(statement.body, body, out);
}

void Evaluator::assign(const Target& target, const Value& value, Scope& scope) {
  if (target.unpacks) {
    if (value.is_undefined()) fail("{}", value.why());
    const std::vector<Value> items = items_of(runtime_, value);
    if (items.size() != target.parts.size())
      fail("{} values for {} names", items.size(), target.parts.size());
    for (size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i], scope);
    return;
  }
  if (target.attribute.empty()) return scope.set(target.name, value);
  const Value* held = scope.find(target.name);
  Namespace* space = held == nullptr ? nullptr : held->name_space();
  if (space == nullptr) fail("{} is no namespace, so nothing can be set in it", quote(target.name));
  runtime_.storable(value);
  for (auto& [name, kept] : space->entries) {
    if (name != target.attribute) continue;
    kept = value;
    return;
  }
  space->entries.emplace_back(target.attribute, value);
}

void Evaluator::define_macro(const MacroNode& macro, const ScopePtr& scope) {
  auto function = std::make_shared<Function>();
  function->kind = Function::Kind::kMacro;
  function->name = macro.name;
  function->macro = &macro;
  function->scope = scope;
  scope->set(macro.name, Value(std::shared_ptr<const Function>(std::move(function))));
}

Value Evaluator::call_macro(const Function& function, Arguments arguments) {
  const MacroNode& macro = *function.macro;
  const ScopePtr home = function.scope.lock();
  if (home == nullptr) fail("the macro {} is called outside of where it stands", quote(macro.name));
  const ScopePtr scope = inner(home);
  const size_t count = macro.parameters.size(), given = arguments.positional.size();
  const size_t first_default = count - macro.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = macro.parameters[i];
    const auto named = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                    [&](const auto& keyword) { return keyword.first == name; });
    if (i < given) {
      scope->set(name, arguments.positional[i]);
    } else if (named != arguments.keywords.end()) {
      scope->set(name, named->second);
      arguments.keywords.erase(named);
    } else if (i >= first_default) {
      scope->set(name, evaluate(*macro.defaults[i - first_default], scope));
    } else {
      scope->set(name, Value::undefined(fmt::format("parameter '{}' was not provided", name)));
    }
  }
  if (given > count && !macro.takes_varargs)
    fail("the macro {} takes at most {} arguments", quote(macro.name), count);
  if (!arguments.keywords.empty() && !macro.takes_kwargs)
    fail("the macro {} has no parameter {}", quote(macro.name), quote(arguments.keywords[0].first));
  if (macro.takes_varargs) {
    const auto rest = static_cast<std::ptrdiff_t>(std::min(count, given));
    scope->set("varargs",
               runtime_.sequence({arguments.positional.begin() + rest, arguments.positional.end()},
                                 Form::kTuple));
  }
  if (macro.takes_kwargs) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& [name, value] : arguments.keywords)
      entries.emplace_back(runtime_.text(name), value);
    scope->set("kwargs", runtime_.dict(std::move(entries)));
  }
  TextBuilder out(runtime_);
  execute(*macro.body, scope, out);
  return out.take();
}

}  // namespace looseleaf::jinja

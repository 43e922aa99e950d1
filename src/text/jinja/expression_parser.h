// Expressions: jinja2's precedences and its grammar of filters and tests.
#pragma once

#include <set>
#include <string>

#include "text/jinja/ast.h"
#include "text/jinja/token_stream.h"

namespace looseleaf::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr expression(bool with_condition = true);
  // Several expressions with commas between them are a tuple.
  ExpressionPtr tuple(bool with_condition = true);
  // |a|b(c) over nothing: the innermost input is null. Null where no filter stands. `named`: the
  // first one stands there without its bar.
  ExpressionPtr filters_of_block(bool named = false);
  // a | a, b | (a, b) | where `with_attribute`: a.b
  Target target(bool with_attribute);

  // Every name that was read since the set was last emptied.
  std::set<std::string>& names() { return names_; }

 private:
  ExpressionPtr condition();
  ExpressionPtr binary(int level);
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr concatenation();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr postfixes(ExpressionPtr operand);
  ExpressionPtr filters(ExpressionPtr input);
  ExpressionPtr one_filter(ExpressionPtr input);
  ExpressionPtr test(ExpressionPtr value);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr list_literal();
  ExpressionPtr dict_literal();
  ExpressionPtr tuple_in_parentheses();
  ExpressionPtr number();
  Target one_target();
  void arguments(Expression& call);
  bool ends_tuple() const;

  ExpressionPtr make(Expression::Kind kind, int line, std::vector<ExpressionPtr> children = {});
  // Takes the height of what was added after make().
  ExpressionPtr measured(ExpressionPtr made) const;

  TokenStream& tokens_;
  std::set<std::string> names_;
  int depth_ = 0;
};

}  // namespace looseleaf::jinja

#include "text/jinja/expression_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace looseleaf::jinja {
namespace {

using Kind = Expression::Kind;
using TokenKind = Token::Kind;

// Levels of an expression at most: evaluating one takes a stack frame or two a level.
constexpr int kMaxHeight = 150;
// Brackets and signs inside each other at most: reading one takes a dozen stack frames.
constexpr int kMaxDepth = 60;

struct Level {
  Kind kind;
  std::array<std::string_view, 4> symbols;
};
// Left-associative operators, loosest first. Between `and` and sums stand `not` and comparisons,
// between sums and products ~.
constexpr int kOr = 0, kAnd = 1, kSum = 2, kProduct = 3, kPower = 4;
constexpr std::array<Level, 5> kLevels = {{
    {Kind::kOr, {"or"}},
    {Kind::kAnd, {"and"}},
    {Kind::kBinary, {"+", "-"}},
    {Kind::kBinary, {"*", "/", "//", "%"}},
    {Kind::kBinary, {"**"}},
}};

template <typename... Children>
std::vector<ExpressionPtr> list_of(Children... children) {
  std::vector<ExpressionPtr> list;
  (list.push_back(std::move(children)), ...);
  return list;
}

class Nesting {
 public:
  Nesting(int& depth, const TokenStream& tokens) : depth_(depth) {
    if (depth_ >= kMaxDepth)
      tokens.fail_here(fmt::format("expressions nest more than {} deep", kMaxDepth));
    ++depth_;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace

ExpressionPtr ExpressionParser::make(Kind kind, int line, std::vector<ExpressionPtr> children) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = line;
  made->children = std::move(children);
  return measured(std::move(made));
}

ExpressionPtr ExpressionParser::measured(ExpressionPtr made) const {
  int height = 0;
  for (const ExpressionPtr& child : made->children)
    if (child != nullptr) height = std::max(height, child->height);
  for (const auto& [name, value] : made->keywords) height = std::max(height, value->height);
  made->height = height + 1;
  if (made->height > kMaxHeight)
    tokens_.fail_here(fmt::format("an expression has more than {} levels", kMaxHeight));
  return made;
}

ExpressionPtr ExpressionParser::expression(bool with_condition) {
  const Nesting nesting(depth_, tokens_);
  return with_condition ? condition() : binary(kOr);
}

ExpressionPtr ExpressionParser::condition() {
  const int line = tokens_.line();
  ExpressionPtr then = binary(kOr);
  while (tokens_.skip_name("if")) {
    ExpressionPtr test = binary(kOr), otherwise;
    if (tokens_.skip_name("else")) otherwise = expression();
    then = make(Kind::kCondition, line,
                list_of(std::move(test), std::move(then), std::move(otherwise)));
  }
  return then;
}

ExpressionPtr ExpressionParser::binary(int level) {
  const auto operand = [&]() -> ExpressionPtr {
    switch (level) {
      case kOr:
        return binary(kAnd);
      case kAnd:
        return negation();
      case kSum:
        return concatenation();
      case kProduct:
        return binary(kPower);
      default:
        return unary(true);
    }
  };
  const Level& rule = kLevels[static_cast<size_t>(level)];
  const auto stands_here = [&] {
    const auto wanted = level <= kAnd ? TokenKind::kName : TokenKind::kOperator;
    return tokens_.is(wanted) &&
           std::find(rule.symbols.begin(), rule.symbols.end(),
                     std::string_view(tokens_.current().text)) != rule.symbols.end();
  };
  ExpressionPtr left = operand();
  while (stands_here()) {
    const Token token = tokens_.next();
    ExpressionPtr right = operand();
    left = make(rule.kind, token.line, list_of(std::move(left), std::move(right)));
    left->name = token.text;
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  if (!tokens_.is_name("not")) return comparison();
  const Nesting nesting(depth_, tokens_);
  const int line = tokens_.next().line;
  return make(Kind::kNot, line, list_of(negation()));
}

ExpressionPtr ExpressionParser::comparison() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> operands = list_of(binary(kSum));
  std::vector<std::string> operators;
  constexpr std::array<std::string_view, 6> kSymbols = {"==", "!=", "<", "<=", ">", ">="};
  for (;;) {
    if (tokens_.is(TokenKind::kOperator) &&
        std::find(kSymbols.begin(), kSymbols.end(), std::string_view(tokens_.current().text)) !=
            kSymbols.end()) {
      operators.push_back(tokens_.next().text);
    } else if (tokens_.skip_name("in")) {
      operators.emplace_back("in");
    } else if (tokens_.is_name("not") && tokens_.ahead().kind == TokenKind::kName &&
               tokens_.ahead().text == "in") {
      tokens_.next();
      tokens_.next();
      operators.emplace_back("not in");
    } else {
      break;
    }
    operands.push_back(binary(kSum));
  }
  if (operators.empty()) return std::move(operands[0]);
  ExpressionPtr made = make(Kind::kCompare, line, std::move(operands));
  made->operators = std::move(operators);
  return made;
}

ExpressionPtr ExpressionParser::concatenation() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> operands = list_of(binary(kProduct));
  while (tokens_.skip_operator("~")) operands.push_back(binary(kProduct));
  if (operands.size() == 1) return std::move(operands[0]);
  return make(Kind::kConcat, line, std::move(operands));
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const int line = tokens_.line();
  ExpressionPtr made;
  if (tokens_.is_operator("-") || tokens_.is_operator("+")) {
    const Nesting nesting(depth_, tokens_);
    const Kind kind = tokens_.next().text == "-" ? Kind::kNegate : Kind::kPlus;
    made = make(kind, line, list_of(unary(false)));
  } else {
    made = primary();
  }
  made = postfixes(std::move(made));
  return with_filters ? filters(std::move(made)) : std::move(made);
}

ExpressionPtr ExpressionParser::primary() {
  const int line = tokens_.line();
  const auto constant = [&](Value value) {
    ExpressionPtr made = make(Kind::kConstant, line);
    made->constant = std::move(value);
    return made;
  };
  if (tokens_.is(TokenKind::kName)) {
    const std::string name = tokens_.next().text;
    if (name == "true" || name == "True") return constant(Value(true));
    if (name == "false" || name == "False") return constant(Value(false));
    if (name == "none" || name == "None") return constant(Value(None{}));
    names_.insert(name);
    ExpressionPtr made = make(Kind::kName, line);
    made->name = name;
    return made;
  }
  if (tokens_.is(TokenKind::kString)) {
    MarkedString text;  // strings that stand side by side are one
    while (tokens_.is(TokenKind::kString)) text.append(tokens_.next().text, Origin::kTemplate);
    return constant(Value::text(std::move(text)));
  }
  if (tokens_.is(TokenKind::kInteger) || tokens_.is(TokenKind::kFloat)) return number();
  if (tokens_.skip_operator("(")) return tuple_in_parentheses();
  if (tokens_.skip_operator("[")) return list_literal();
  if (tokens_.skip_operator("{")) return dict_literal();
  tokens_.fail_here(fmt::format("unexpected {}", tokens_.shown()));
}

ExpressionPtr ExpressionParser::number() {
  const int line = tokens_.line();
  const bool whole = tokens_.is(TokenKind::kInteger);
  std::string digits = tokens_.current().text;
  std::erase(digits, '_');
  ExpressionPtr made = make(Kind::kConstant, line);
  std::from_chars_result read{};
  const char* end = digits.data() + digits.size();
  if (whole) {
    const char mark = digits.size() > 2 ? static_cast<char>(digits[1] | 0x20) : ' ';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    int64_t value = 0;
    read = std::from_chars(digits.data() + (base == 10 ? 0 : 2), end, value, base);
    made->constant = Value(value);
  } else {
    double value = 0;
    read = std::from_chars(digits.data(), end, value);
    made->constant = Value(value);
  }
  if (read.ec != std::errc() || read.ptr != end)
    tokens_.fail_here(fmt::format("the number {} is out of range", quote(digits)),
                      ErrorCode::kUnsupported);
  tokens_.next();
  return made;
}

ExpressionPtr ExpressionParser::tuple_in_parentheses() {
  const int line = tokens_.line();
  ExpressionPtr made;
  if (tokens_.is_operator(")"))
    made = make(Kind::kTuple, line);
  else
    made = tuple();
  tokens_.expect_operator(")");
  return made;
}

ExpressionPtr ExpressionParser::list_literal() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> items;
  while (!tokens_.is_operator("]")) {
    if (!items.empty()) tokens_.expect_operator(",");
    if (tokens_.is_operator("]")) break;
    items.push_back(expression());
  }
  tokens_.expect_operator("]");
  return make(Kind::kList, line, std::move(items));
}

ExpressionPtr ExpressionParser::dict_literal() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> items;
  while (!tokens_.is_operator("}")) {
    if (!items.empty()) tokens_.expect_operator(",");
    if (tokens_.is_operator("}")) break;
    items.push_back(expression());
    tokens_.expect_operator(":");
    items.push_back(expression());
  }
  tokens_.expect_operator("}");
  return make(Kind::kDict, line, std::move(items));
}

bool ExpressionParser::ends_tuple() const {
  return tokens_.is(TokenKind::kPrintEnd) || tokens_.is(TokenKind::kBlockEnd) ||
         tokens_.is_operator(")");
}

ExpressionPtr ExpressionParser::tuple(bool with_condition) {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) tokens_.expect_operator(",");
    if (ends_tuple()) break;
    items.push_back(expression(with_condition));
    if (!tokens_.is_operator(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return make(Kind::kTuple, line, std::move(items));
  if (items.empty())
    tokens_.fail_here(fmt::format("expected an expression, not {}", tokens_.shown()));
  return std::move(items[0]);
}

ExpressionPtr ExpressionParser::postfixes(ExpressionPtr operand) {
  for (;;) {
    if (tokens_.is_operator(".") || tokens_.is_operator("[")) {
      operand = subscript(std::move(operand));
    } else if (tokens_.is_operator("(")) {
      operand = make(Kind::kCall, tokens_.line(), list_of(std::move(operand)));
      arguments(*operand);
      operand = measured(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr object) {
  const int line = tokens_.line();
  if (tokens_.skip_operator(".")) {
    if (tokens_.is(TokenKind::kInteger)) {
      ExpressionPtr key = number();
      return make(Kind::kItem, line, list_of(std::move(object), std::move(key)));
    }
    ExpressionPtr made = make(Kind::kAttribute, line, list_of(std::move(object)));
    made->name = tokens_.expect_any_name();
    return made;
  }
  tokens_.expect_operator("[");
  ExpressionPtr start, stop, step;
  if (!tokens_.is_operator(":")) start = expression();
  if (tokens_.skip_operator(":")) {
    if (!tokens_.is_operator(":") && !tokens_.is_operator("]")) stop = expression();
    if (tokens_.skip_operator(":") && !tokens_.is_operator("]")) step = expression();
    tokens_.expect_operator("]");
    return make(Kind::kSlice, line,
                list_of(std::move(object), std::move(start), std::move(stop), std::move(step)));
  }
  if (tokens_.is_operator(","))
    tokens_.fail_here("several subscripts are not supported", ErrorCode::kUnsupported);
  tokens_.expect_operator("]");
  return make(Kind::kItem, line, list_of(std::move(object), std::move(start)));
}

void ExpressionParser::arguments(Expression& call) {
  tokens_.expect_operator("(");
  while (!tokens_.is_operator(")")) {
    if (tokens_.is_operator("*") || tokens_.is_operator("**"))
      tokens_.fail_here("arguments by * and ** are not supported", ErrorCode::kUnsupported);
    const bool keyword = tokens_.is(TokenKind::kName) &&
                         tokens_.ahead().kind == TokenKind::kOperator &&
                         tokens_.ahead().text == "=";
    if (keyword) {
      std::string name = tokens_.next().text;
      tokens_.next();
      for (const auto& [other, value] : call.keywords)
        if (other == name)
          tokens_.fail_here(fmt::format("the argument {} is given twice", quote(name)));
      call.keywords.emplace_back(std::move(name), expression());
    } else {
      if (!call.keywords.empty())
        tokens_.fail_here("an argument without a name follows a named one");
      call.children.push_back(expression());
    }
    if (!tokens_.is_operator(")")) tokens_.expect_operator(",");
  }
  tokens_.expect_operator(")");
}

ExpressionPtr ExpressionParser::one_filter(ExpressionPtr input) {
  const int line = tokens_.line();
  std::string name = tokens_.expect_any_name();
  while (tokens_.skip_operator(".")) name += "." + tokens_.expect_any_name();
  ExpressionPtr made = make(Kind::kFilter, line, list_of(std::move(input)));
  made->name = std::move(name);
  if (tokens_.is_operator("(")) arguments(*made);
  return measured(std::move(made));
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr input) {
  for (;;) {
    if (tokens_.skip_operator("|")) {
      input = one_filter(std::move(input));
    } else if (tokens_.skip_name("is")) {
      input = test(std::move(input));
    } else if (tokens_.is_operator("(")) {
      input = postfixes(std::move(input));  // what a filter gives may be called
    } else {
      return input;
    }
  }
}

ExpressionPtr ExpressionParser::filters_of_block(bool named) {
  ExpressionPtr made = named ? one_filter(nullptr) : nullptr;
  while (tokens_.skip_operator("|")) made = one_filter(std::move(made));
  return made;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
  const int line = tokens_.line();
  const bool negated = tokens_.skip_name("not");
  std::string name = tokens_.expect_any_name();
  while (tokens_.skip_operator(".")) name += "." + tokens_.expect_any_name();
  ExpressionPtr made = make(Kind::kTest, line, list_of(std::move(value)));
  made->name = std::move(name);
  const bool has_argument = tokens_.is(TokenKind::kString) || tokens_.is(TokenKind::kInteger) ||
                            tokens_.is(TokenKind::kFloat) || tokens_.is_operator("[") ||
                            tokens_.is_operator("{") ||
                            (tokens_.is(TokenKind::kName) && !tokens_.is_name("else") &&
                             !tokens_.is_name("or") && !tokens_.is_name("and"));
  if (tokens_.is_operator("(")) {
    arguments(*made);
  } else if (has_argument) {
    if (tokens_.is_name("is")) tokens_.fail_here("tests cannot be chained");
    made->children.push_back(postfixes(primary()));
  }
  made = measured(std::move(made));
  return negated ? make(Kind::kNot, line, list_of(std::move(made))) : std::move(made);
}

Target ExpressionParser::one_target() {
  Target made;
  made.line = tokens_.line();
  if (tokens_.skip_operator("(")) {
    made = target(false);
    tokens_.expect_operator(")");
    return made;
  }
  made.name = tokens_.expect_any_name();
  if (made.name == "true" || made.name == "false" || made.name == "none" || made.name == "True" ||
      made.name == "False" || made.name == "None")
    tokens_.fail_here(fmt::format("{} cannot be assigned to", made.name));
  return made;
}

Target ExpressionParser::target(bool with_attribute) {
  const Nesting nesting(depth_, tokens_);
  const int line = tokens_.line();
  if (with_attribute && tokens_.ahead().kind == TokenKind::kOperator &&
      tokens_.ahead().text == ".") {
    Target made = one_target();
    tokens_.next();
    made.attribute = tokens_.expect_any_name();
    return made;
  }
  std::vector<Target> parts;
  bool unpacks = false;
  for (;;) {
    parts.push_back(one_target());
    if (!tokens_.skip_operator(",")) break;
    unpacks = true;
    if (ends_tuple()) break;
  }
  if (!unpacks) return std::move(parts[0]);
  Target made;
  made.line = line;
  made.parts = std::move(parts);
  made.unpacks = true;
  return made;
}

}  // namespace looseleaf::jinja

// A parsed template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace looseleaf::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : uint8_t {
    kConstant,   // constant
    kName,       // name
    kTuple,      // children
    kList,       // children
    kDict,       // children: key, value, key, value, ...
    kAttribute,  // children: object; name
    kItem,       // children: object, key
    kSlice,      // children: object, start, stop, step (null: left out)
    kCall,       // children: callee, arguments; keywords
    kFilter,     // children: input (null: a block's text), arguments; keywords; name
    kTest,       // children: value, arguments; keywords; name
    kNegate,     // children: operand
    kPlus,       // children: operand
    kNot,        // children: operand
    kAnd,        // children: left, right
    kOr,         // children: left, right
    kBinary,     // children: left, right; name: the operator
    kConcat,     // children
    kCompare,    // children: one more than operators
    kCondition,  // children: condition, then, otherwise (null: left out)
  };
  Kind kind = Kind::kConstant;
  int line = 0;
  int height = 1;  // levels of expressions, this one included
  std::string name;
  Value constant;
  std::vector<ExpressionPtr> children;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
  std::vector<std::string> operators;
};

struct Statement;
using Block = std::vector<Statement>;

// Where `set` and `for` write: a name, "space.attribute", or several targets that a value is
// unpacked into.
struct Target {
  int line = 0;
  std::string name;
  std::string attribute;  // empty: a plain name
  std::vector<Target> parts;
  bool unpacks = false;
};

struct MacroNode {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  bool takes_varargs = false;           // the body names varargs or kwargs
  bool takes_kwargs = false;
  std::shared_ptr<const Block> body;
};

struct Statement {
  enum class Kind : uint8_t {
    kText,         // text
    kPrint,        // value
    kIf,           // branches: the first whose condition holds, else otherwise
    kFor,          // target, value: what is iterated; condition; body; otherwise
    kSet,          // target, value
    kSetBlock,     // target, value: filters or null; body
    kMacro,        // macro
    kScope,        // body, in a scope of its own
    kWith,         // bindings; body
    kFilterBlock,  // value: filters; body
    kBreak,
    kContinue,
  };
  Kind kind = Kind::kText;
  int line = 0;
  Value text;
  ExpressionPtr value;
  ExpressionPtr condition;
  Target target;
  Block body;
  Block otherwise;
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  std::unique_ptr<MacroNode> macro;
  std::vector<std::pair<Target, ExpressionPtr>> bindings;
};

}  // namespace looseleaf::jinja

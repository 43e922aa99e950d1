#include "text/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "text/jinja/expression_parser.h"

namespace looseleaf::jinja {
namespace {

using Kind = Statement::Kind;
using TokenKind = Token::Kind;
using Ends = std::initializer_list<std::string_view>;

// Statements inside each other at most.
constexpr int kMaxDepth = 50;

class Parser {
 public:
  explicit Parser(TokenStream& tokens) : tokens_(tokens), expressions_(tokens) {}

  Block run() { return block({}); }

 private:
  // Statements up to a tag named in `ends`, behind whose name the stream stands then; the name is
  // left in `ended_by_`. No ends: up to the template's end.
  Block block(Ends ends) {
    if (++depth_ > kMaxDepth)
      tokens_.fail_here(fmt::format("statements nest more than {} deep", kMaxDepth));
    const int opened = tokens_.line();
    Block statements;
    for (;;) {
      if (tokens_.is(TokenKind::kEnd)) {
        if (ends.size() > 0)
          throw Fault{ErrorCode::kCorrupt,
                      fmt::format("{} is missing for the block that opens here", *ends.begin()),
                      opened};
        break;
      }
      if (tokens_.is(TokenKind::kData)) {
        Statement text = make(Kind::kText);
        text.text = Value::text(tokens_.next().text, Origin::kTemplate);
        statements.push_back(std::move(text));
      } else if (tokens_.is(TokenKind::kPrintBegin)) {
        tokens_.next();
        Statement print = make(Kind::kPrint);
        print.value = expressions_.tuple();
        tokens_.expect(TokenKind::kPrintEnd, "'}}'");
        statements.push_back(std::move(print));
      } else {
        tokens_.expect(TokenKind::kBlockBegin, "a tag");
        const std::string name = tokens_.expect_any_name();
        if (std::find(ends.begin(), ends.end(), name) != ends.end()) {
          ended_by_ = name;
          break;
        }
        statements.push_back(tag(name));
      }
    }
    --depth_;
    return statements;
  }

  Statement make(Kind kind) const {
    Statement made;
    made.kind = kind;
    made.line = tokens_.line();
    return made;
  }
  void end_tag() { tokens_.expect(TokenKind::kBlockEnd, "'%}'"); }
  // A block in its tags, the end tag read too.
  Block body(Ends ends) {
    end_tag();
    Block statements = block(ends);
    end_tag();
    return statements;
  }

  Statement tag(const std::string& name) {
    if (name == "if") return if_tag();
    if (name == "for") return for_tag();
    if (name == "set") return set_tag();
    if (name == "macro") return macro_tag();
    if (name == "with") return with_tag();
    if (name == "filter") return filter_tag();
    if (name == "generation") {  // what transformers marks as the assistant's own words
      Statement scope = make(Kind::kScope);
      scope.body = body({"endgeneration"});
      return scope;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) tokens_.fail_here(fmt::format("{} stands outside of a loop", name));
      Statement jump = make(name == "break" ? Kind::kBreak : Kind::kContinue);
      end_tag();
      return jump;
    }
    for (const std::string_view known : {"block", "extends", "include", "import", "from", "call",
                                         "autoescape", "do", "trans", "print", "debug"})
      if (name == known)
        tokens_.fail_here(fmt::format("the tag {} is not supported", name),
                          ErrorCode::kUnsupported);
    tokens_.fail_here(fmt::format("{} is no tag, or ends nothing that is open", quote(name)));
  }

  Statement if_tag() {
    Statement made = make(Kind::kIf);
    do {
      ExpressionPtr condition = expressions_.tuple(false);
      end_tag();
      made.branches.emplace_back(std::move(condition), block({"endif", "else", "elif"}));
    } while (ended_by_ == "elif");
    if (ended_by_ == "else") {
      end_tag();
      made.otherwise = block({"endif"});
    }
    end_tag();
    return made;
  }

  Statement for_tag() {
    Statement made = make(Kind::kFor);
    made.target = expressions_.target(false);
    check_loop_name(made.target);
    tokens_.expect_name("in");
    made.value = expressions_.tuple(false);
    if (tokens_.skip_name("if")) made.condition = expressions_.expression();
    if (tokens_.is_name("recursive"))
      tokens_.fail_here("recursive loops are not supported", ErrorCode::kUnsupported);
    end_tag();
    ++loops_;
    made.body = block({"endfor", "else"});
    --loops_;
    if (ended_by_ == "else") {
      end_tag();
      made.otherwise = block({"endfor"});
    }
    end_tag();
    return made;
  }

  void check_loop_name(const Target& target) const {
    if (target.name == "loop") tokens_.fail_here("a loop's own variable cannot be named loop");
    for (const Target& part : target.parts) check_loop_name(part);
  }

  Statement set_tag() {
    Statement made = make(Kind::kSet);
    made.target = expressions_.target(true);
    if (tokens_.skip_operator("=")) {
      made.value = expressions_.tuple();
      end_tag();
      return made;
    }
    if (made.target.unpacks) tokens_.fail_here("a block is one value: it cannot be unpacked");
    made.kind = Kind::kSetBlock;
    made.value = expressions_.filters_of_block();
    made.body = body({"endset"});
    return made;
  }

  Statement macro_tag() {
    Statement made = make(Kind::kMacro);
    made.macro = std::make_unique<MacroNode>();
    MacroNode& macro = *made.macro;
    macro.name = tokens_.expect_any_name();
    tokens_.expect_operator("(");
    while (!tokens_.is_operator(")")) {
      if (!macro.parameters.empty()) tokens_.expect_operator(",");
      std::string parameter = tokens_.expect_any_name();
      if (std::find(macro.parameters.begin(), macro.parameters.end(), parameter) !=
          macro.parameters.end())
        tokens_.fail_here(fmt::format("the parameter {} stands twice", quote(parameter)));
      macro.parameters.push_back(std::move(parameter));
      if (tokens_.skip_operator("="))
        macro.defaults.push_back(expressions_.expression());
      else if (!macro.defaults.empty())
        tokens_.fail_here("a parameter without a default follows one with");
    }
    tokens_.expect_operator(")");
    std::set<std::string> outer;
    outer.swap(expressions_.names());
    const int loops = std::exchange(loops_, 0);
    macro.body = std::make_shared<const Block>(body({"endmacro"}));
    loops_ = loops;
    outer.swap(expressions_.names());
    if (outer.contains("caller"))
      tokens_.fail_here("macros with a caller are not supported", ErrorCode::kUnsupported);
    macro.takes_varargs = outer.contains("varargs");
    macro.takes_kwargs = outer.contains("kwargs");
    expressions_.names().merge(outer);
    return made;
  }

  Statement with_tag() {
    Statement made = make(Kind::kWith);
    while (!tokens_.is(TokenKind::kBlockEnd)) {
      if (!made.bindings.empty()) tokens_.expect_operator(",");
      Target target;
      target.line = tokens_.line();
      target.name = tokens_.expect_any_name();
      tokens_.expect_operator("=");
      made.bindings.emplace_back(std::move(target), expressions_.expression());
    }
    made.body = body({"endwith"});
    return made;
  }

  // `filter a|b`, the first one without its bar.
  Statement filter_tag() {
    Statement made = make(Kind::kFilterBlock);
    made.value = expressions_.filters_of_block(true);
    made.body = body({"endfilter"});
    return made;
  }

  TokenStream& tokens_;
  ExpressionParser expressions_;
  std::string ended_by_;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

Block parse(std::string_view source) {
  TokenStream tokens(tokenize(source));
  return Parser(tokens).run();
}

}  // namespace looseleaf::jinja

// Reading tokens one by one.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "text/jinja/fault.h"
#include "text/jinja/lexer.h"
#include "text/quote.h"

namespace looseleaf::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  int line() const { return current().line; }
  Token next() {
    Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool is(Token::Kind kind) const { return current().kind == kind; }
  bool is_operator(std::string_view text) const { return is(Token::Kind::kOperator, text); }
  bool is_name(std::string_view text) const { return is(Token::Kind::kName, text); }
  bool skip_operator(std::string_view text) { return skip_if(is_operator(text)); }
  bool skip_name(std::string_view text) { return skip_if(is_name(text)); }

  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) fail_here(fmt::format("expected '{}', not {}", text, shown()));
  }
  void expect_name(std::string_view text) {
    if (!skip_name(text)) fail_here(fmt::format("expected '{}', not {}", text, shown()));
  }
  std::string expect_any_name() {
    if (!is(Token::Kind::kName)) fail_here(fmt::format("expected a name, not {}", shown()));
    return next().text;
  }
  void expect(Token::Kind kind, std::string_view what) {
    if (!is(kind)) fail_here(fmt::format("expected {}, not {}", what, shown()));
    next();
  }

  // The current token, for messages.
  std::string shown() const {
    switch (current().kind) {
      case Token::Kind::kEnd:
        return "the template's end";
      case Token::Kind::kBlockEnd:
        return "'%}'";
      case Token::Kind::kPrintEnd:
        return "'}}'";
      case Token::Kind::kData:
        return "text";
      default:
        return quote(current().text);
    }
  }
  [[noreturn]] void fail_here(std::string message, ErrorCode code = ErrorCode::kCorrupt) const {
    throw Fault{code, std::move(message), line()};
  }

 private:
  bool is(Token::Kind kind, std::string_view text) const {
    return current().kind == kind && current().text == text;
  }
  bool skip_if(bool matches) {
    if (matches) next();
    return matches;
  }

  std::vector<Token> tokens_;  // the last is kEnd
  size_t at_ = 0;
};

}  // namespace looseleaf::jinja

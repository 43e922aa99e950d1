// Cuts a template's source into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace looseleaf::jinja {

struct Token {
  enum class Kind : unsigned char {
    kData,  // text between tags, white space control already applied
    kBlockBegin,
    kBlockEnd,
    kPrintBegin,
    kPrintEnd,
    kName,
    kString,  // text: its value, escapes resolved
    kInteger,
    kFloat,
    kOperator,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 0;
};

// White space around tags goes as jinja2 has it with trim_blocks and lstrip_blocks, which is how
// chat templates are written. The last token is kEnd. Faults: kCorrupt, with the line.
std::vector<Token> tokenize(std::string_view source);

}  // namespace looseleaf::jinja

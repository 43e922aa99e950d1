// Asking an engine and printing what it answers.
#pragma once

#include <string>

#include "looseleaf/looseleaf.h"
#include "server/openai_request.h"

namespace looseleaf {

enum class Format {
  kText,    // the answer's text as it is generated, and a newline
  kJson,    // the object of `run --json`, on one line
  kOpenAi,  // OpenAI's response object, on one line
};

// Errors: kUsage.
Expected<Format> parse_format(const std::string& name);

struct AnswerStyle {
  Format format = Format::kText;
  bool timings = false;      // say them even where standard error is no terminal
  bool echo_tokens = false;  // whatever a body says
  std::string model;         // the name to give where a body has none
};

// Asks; with kText the answer is printed while it grows. Errors: the engine's.
Expected<Answer> ask(Engine& engine, const Request& request, const AnswerStyle& style);

// Prints (the rest of) the answer. Errors: standard output's, then nobody reads any more.
Status print_answer(const Answer& answer, const ParsedRequest& parsed, const AnswerStyle& style);

// "4 of 5 documents reused, 38 ms to first token"
std::string timings_line(const Answer& answer);

}  // namespace looseleaf

// An Answer, or an Error, as the JSON that the command line and the API give.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "looseleaf/looseleaf.h"

namespace looseleaf {

// What an answer does not know about its request.
struct ResponseOptions {
  bool chat = true;               // chat.completion, else text_completion
  bool return_token_ids = false;  // the prompt's, and in the OpenAI form the answer's
  bool logprobs = false;          // they were asked for
  std::string model;
  std::string id;       // without its "chatcmpl-" or "cmpl-"
  int64_t created = 0;  // seconds since 1970
  std::vector<std::string> ignored;
};

// The object of `run --json`.
boost::json::object run_object(const Answer& answer, const ResponseOptions& options);

// OpenAI's chat.completion or text_completion, with the `looseleaf` object beside its own members.
// The text of single tokens is not known here: in logprobs they are "token_id:N", as vLLM writes
// them with return_tokens_as_token_ids.
boost::json::object completion_object(const Answer& answer, const ResponseOptions& options);

// {"error": {"message", "type", "param", "code"}}
boost::json::object error_object(const Error& error);

}  // namespace looseleaf

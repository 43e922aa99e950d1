// A body of /v1/chat/completions or /v1/completions, with our own fields, as a Request.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// "The rest of the context": more than any context holds, with room to add a prompt's length.
inline constexpr int kAllTokens = std::numeric_limits<int>::max() / 2;

struct ParsedRequest {
  Request request;
  bool chat = true;  // the body has messages (or question); else it is a completion
  bool stream = false;
  bool stream_usage = false;      // stream_options.include_usage
  bool return_token_ids = false;  // the prompt's too
  std::string model;
  std::vector<std::string> ignored;  // paths of fields without effect
};

// What a body does not say.
struct BodyDefaults {
  Request request;                // method, layout, sampling, ...; nothing that is asked
  std::optional<int> max_tokens;  // unset: the rest of the context in chat, 16 in completions
};

// `messages`, `prompt` or `question` decides which of the two bodies it is.
// Errors: kInvalidArgument and kUnsupported, with the field's path in `param`.
Expected<ParsedRequest> parse_request(std::string_view json, const BodyDefaults& defaults = {});

// Errors: kInvalidArgument (not none, bos or header).
Status check_encoding_prefix(const std::string& name);

}  // namespace looseleaf

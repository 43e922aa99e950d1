// Errors as values: every fallible call of Looseleaf returns Expected<T> or Status.
#ifndef LOOSELEAF_STATUS_H_
#define LOOSELEAF_STATUS_H_

#include <string>
#include <tl/expected.hpp>

namespace looseleaf {

enum class ErrorCode {
  kInvalidArgument,  // a request's field has a wrong type, value or range; `param` names it
  kContextLength,    // prompt and room for one token do not fit the context
  kKvBudget,         // the keys and values can never fit the byte limit
  kNotFound,         // no such file, model, chunk or document
  kCorrupt,          // a file is cut, malformed or contradicts itself
  kUnsupported,      // well-formed, but this build or version cannot do it exactly
  kUsage,            // command line or options are contradictory or unknown
  kUnavailable,      // a resource is missing now; trying again may work
  kInternal,         // a bug or a broken machine
};

// `message` is one line: what was wrong, where (file, offset, field), what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string param;  // path of the offending request field, e.g. "documents[2].text"; may be empty
};

template <typename T>
using Expected = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

}  // namespace looseleaf

#endif  // LOOSELEAF_STATUS_H_

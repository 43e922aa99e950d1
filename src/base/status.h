// Making and passing on errors.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "looseleaf/status.h"

namespace looseleaf {

// error(kCorrupt, "{}: tensor '{}' ends past the file", path, name)
template <typename... Args>
tl::unexpected<Error> error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

// The same, for a request's field.
template <typename... Args>
tl::unexpected<Error> field_error(std::string field, fmt::format_string<Args...> format,
                                  Args&&... args) {
  std::string message = field + ": " + fmt::format(format, std::forward<Args>(args)...);
  return tl::unexpected(Error{ErrorCode::kInvalidArgument, std::move(message), std::move(field)});
}

}  // namespace looseleaf

// Returns from the enclosing function when `expr` holds an error.
#define LL_RETURN_IF_ERROR(expr)                             \
  do {                                                       \
    if (auto ll_status = (expr); !ll_status)                 \
      return ::tl::unexpected(std::move(ll_status).error()); \
  } while (false)

#define LL_CONCAT_(a, b) a##b
#define LL_CONCAT(a, b) LL_CONCAT_(a, b)
// LL_ASSIGN(auto x, f()): x is f's value, or the enclosing function returns f's error.
#define LL_ASSIGN(decl, expr) LL_ASSIGN_(LL_CONCAT(ll_expected_, __LINE__), decl, expr)
#define LL_ASSIGN_(tmp, decl, expr)                          \
  auto tmp = (expr);                                         \
  if (!tmp) return ::tl::unexpected(std::move(tmp).error()); \
  decl = std::move(*tmp)

// Bodies for tests of parse_request.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "server/openai_request.h"

namespace looseleaf {

// A chat of one message with more fields: chat_body("\"seed\": 1").
inline std::string chat_body(const std::string& fields) {
  const std::string comma = fields.empty() ? "" : ", ";
  return R"({"messages": [{"role": "user", "content": "Hi"}])" + comma + fields + "}";
}

inline ParsedRequest parse_ok(const std::string& body) {
  auto parsed = parse_request(body);
  EXPECT_TRUE(parsed.has_value()) << body << "\n" << (parsed ? "" : parsed.error().message);
  return parsed ? *std::move(parsed) : ParsedRequest{};
}

inline Error parse_refused(const std::string& body) {
  const auto parsed = parse_request(body);
  EXPECT_FALSE(parsed.has_value()) << body;
  return parsed ? Error{} : parsed.error();
}

}  // namespace looseleaf

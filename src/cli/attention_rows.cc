#include "cli/attention_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/json_text.h"
#include "cli/flag.h"

namespace looseleaf {
namespace {

constexpr int64_t kMostTokens = 1 << 20;
constexpr int64_t kMostChunks = 1 << 16;
constexpr int64_t kMostBindings = 1 << 18;  // chunks of all requests
constexpr NumberRange kZipf{"zipf", 0, 10};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  if (text.ends_with(at)) parts.emplace_back();
  return parts;
}

Expected<int> number(const std::string& text, int64_t low, int64_t high) {
  LL_ASSIGN(const int64_t value, parse_integer(text, low, high));
  return static_cast<int>(value);
}

Expected<DecodeRow> parse_decode(const std::vector<std::string>& parts) {
  DecodeRow row;
  const std::vector<std::string> first = split(parts[0], 'x');
  if (first.size() != 2 || parts.size() < 3 || parts.size() > 4)
    return error(ErrorCode::kUsage, "has other parts");
  LL_ASSIGN(row.requests, number(first[0], 1, 4096));
  LL_ASSIGN(row.each, number(first[1], 1, kMostChunks));
  LL_ASSIGN(row.pool, number(parts[1], row.each, kMostChunks));
  LL_ASSIGN(const float zipf, parse_number(parts[2], kZipf));
  row.zipf = std::round(zipf * 1e4) / 1e4;  // as it was written
  if (parts.size() == 4) {
    LL_ASSIGN(row.tokens, number(parts[3], 1, kMostTokens));
  }
  if (int64_t{row.each} * row.tokens > kMostTokens)
    return error(ErrorCode::kUsage, "a request has more than {} tokens", kMostTokens);
  if (int64_t{row.requests} * row.each > kMostBindings)
    return error(ErrorCode::kUsage, "all requests together have more than {} chunks",
                 kMostBindings);
  return row;
}

Expected<PrefillRow> parse_prefill(const std::vector<std::string>& parts) {
  PrefillRow row;
  if (parts.size() < 2 || parts.size() > 3) return error(ErrorCode::kUsage, "has other parts");
  LL_ASSIGN(row.rows, number(parts[0], 1, kMostTokens));
  LL_ASSIGN(row.cached, number(parts[1], 0, kMostTokens));
  if (parts.size() == 3) {
    LL_ASSIGN(row.chunk, number(parts[2], 1, kMostTokens));
  }
  return row;
}

}  // namespace

Expected<AttentionRow> parse_attention_row(const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  Expected<AttentionRow> row = error(ErrorCode::kUsage, "is empty");
  if (text.find('x') != std::string::npos) {
    row = parse_decode(parts);
  } else if (!parts.empty()) {
    row = parse_prefill(parts);
  }
  if (row) return row;
  return error(
      ErrorCode::kUsage,
      "--row {}: {}; a row is REQUESTSxCHUNKS/POOL/ZIPF/TOKENS, such as 64x16/1000/1.0/512, or "
      "ROWS/CACHED/CHUNK, such as 2048/16384/512",
      in_quotes(text), row.error().message);
}

std::string attention_row_name(const AttentionRow& row) {
  if (const auto* d = std::get_if<DecodeRow>(&row))
    return fmt::format("{}x{}/{}/{:.1f}/{}", d->requests, d->each, d->pool, d->zipf, d->tokens);
  const auto& p = std::get<PrefillRow>(row);
  return fmt::format("{}/{}/{}", p.rows, p.cached, p.chunk);
}

boost::json::object attention_row_json(const AttentionRow& row) {
  if (const auto* d = std::get_if<DecodeRow>(&row))
    return {{"phase", "decode"}, {"requests", d->requests}, {"chunks", d->each},
            {"pool", d->pool},   {"zipf", d->zipf},         {"chunk_tokens", d->tokens}};
  const auto& p = std::get<PrefillRow>(row);
  return {{"phase", "prefill"}, {"rows", p.rows}, {"cached", p.cached}, {"chunk_tokens", p.chunk}};
}

std::vector<AttentionRow> default_attention_rows(bool cpu) {
  if (cpu)
    return {PrefillRow{64, 4096, 512},     PrefillRow{256, 2048, 512},
            PrefillRow{256, 2048, 100},    DecodeRow{8, 8, 32, 1.0, 512},
            DecodeRow{8, 8, 64, 0.0, 512}, DecodeRow{1, 8, 8, 0.0, 512}};
  return {PrefillRow{64, 16384, 512},        PrefillRow{64, 131072, 512},
          PrefillRow{2048, 16384, 2048},     PrefillRow{2048, 16384, 512},
          PrefillRow{2048, 16384, 100},      PrefillRow{4096, 32768, 512},
          DecodeRow{64, 16, 1000, 1.0, 512}, DecodeRow{128, 10, 2000, 1.2, 512},
          DecodeRow{64, 16, 1000, 0.0, 512}, DecodeRow{64, 32, 500, 0.8, 512},
          DecodeRow{1, 32, 1000, 0.0, 512}};
}

}  // namespace looseleaf

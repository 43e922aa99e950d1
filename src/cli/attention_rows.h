// What the attention bench measures: requests that decode together over chunks of a pool, or rows
// that are prefilled behind cached chunks.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"

namespace looseleaf {

struct AttentionHeads {
  int heads = 32;
  int kv_heads = 8;
  int head_dim = 128;
};

// `requests` with `each` different chunks of a pool, drawn with probability proportional to
// rank^-zipf.
struct DecodeRow {
  int requests = 0;
  int each = 0;
  int pool = 0;
  double zipf = 0;   // 0: uniform
  int tokens = 512;  // of a chunk
};

// `rows` new tokens over `cached` tokens in chunks of `chunk` tokens, and over themselves.
struct PrefillRow {
  int rows = 0;
  int cached = 0;
  int chunk = 512;
};

using AttentionRow = std::variant<DecodeRow, PrefillRow>;

// "64x16/1000/1.0/512": requests x chunks / pool / zipf / tokens of a chunk. "2048/16384/512": rows
// / cached / tokens of a chunk. The last number may be left out: 512. Errors: kUsage.
Expected<AttentionRow> parse_attention_row(const std::string& text);

std::string attention_row_name(const AttentionRow& row);          // as it is parsed
boost::json::object attention_row_json(const AttentionRow& row);  // {"phase": "decode", ...}

// Those of docs/kernels.md; on the CPU smaller ones.
std::vector<AttentionRow> default_attention_rows(bool cpu);

}  // namespace looseleaf

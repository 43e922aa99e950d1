// Python's operations on strings, each part keeping its marks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

// One string for each code point.
std::vector<Value> characters(Runtime& runtime, const MarkedString& text);

// Byte of the first (last) occurrence at or behind byte `from`; npos: none.
size_t find_text(std::string_view text, std::string_view what, size_t from);

struct Slice {
  std::optional<int64_t> start, stop, step;
};
// The indices that a slice of `length` items takes, as first, count and step. Faults for step 0.
struct SliceRange {
  int64_t first = 0, count = 0, step = 1;
};
SliceRange resolve_slice(const Slice& slice, int64_t length);
Value slice_text(Runtime& runtime, const MarkedString& text, const Slice& slice);
// The code point at `index`, from the end when negative; undefined outside.
std::optional<Value> character_at(Runtime& runtime, const MarkedString& text, int64_t index);

// str.strip: what both ends hold of `set`'s characters, or of white space where it is null.
enum class Side : uint8_t { kBoth, kLeft, kRight };
Value strip(Runtime& runtime, const MarkedString& text, const MarkedString* set, Side side);

// str.split, str.rsplit; null: at runs of white space. `most` < 0: all.
std::vector<Value> split(Runtime& runtime, const MarkedString& text, const MarkedString* separator,
                         int64_t most);
std::vector<Value> split_from_right(Runtime& runtime, const MarkedString& text,
                                    const MarkedString* separator, int64_t most);
std::vector<Value> split_lines(Runtime& runtime, const MarkedString& text, bool keep_ends);

// `most` < 0: all.
Value replace(Runtime& runtime, const MarkedString& text, const MarkedString& from,
              const MarkedString& to, int64_t most);
// Items are written as str() writes them.
Value join(Runtime& runtime, const MarkedString& separator, const std::vector<Value>& items,
           bool only_strings);

// Each character by `change(out, character, index among the text's)`.
using Change = std::function<void(std::string& out, int32_t c, size_t index)>;
Value map_characters(Runtime& runtime, const MarkedString& text, const Change& change);
Value upper(Runtime& runtime, const MarkedString& text);
Value lower(Runtime& runtime, const MarkedString& text);
Value capitalize(Runtime& runtime, const MarkedString& text);

// `left` and `right` fills around a text.
Value pad(Runtime& runtime, const MarkedString& text, int64_t left, int64_t right,
          const MarkedString& fill);

}  // namespace looseleaf::jinja

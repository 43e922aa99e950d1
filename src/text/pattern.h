// One of a tokenizer's patterns, compiled.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class Pattern {
 public:
  // `source` as tokenizers write it (text/split_regex.h).
  // Errors: kUnsupported (a pattern that cannot be followed exactly).
  static Expected<Pattern> create(std::string source);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Working memory of one call after another, with limits for texts of `text_size` bytes.
  class Scratch {
   public:
    explicit Scratch(size_t text_size);
    ~Scratch();

   private:
    friend class Pattern;
    struct Memory;
    std::unique_ptr<Memory> memory_;
  };

  // Calls on_match(begin, end) for each match in `text`, empty ones too, in order.
  // REQUIRES: `text` is UTF-8.
  // Errors: kUnsupported (the matcher ran into one of its limits), kUnavailable (memory).
  Status for_each_match(std::string_view text, Scratch& scratch,
                        const std::function<void(size_t begin, size_t end)>& on_match) const;

 private:
  struct Compiled;
  explicit Pattern(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace looseleaf

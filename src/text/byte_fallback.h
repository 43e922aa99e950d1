// Byte tokens, <0xNN>, which spell characters that a vocabulary has no token for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer_spec.h"

namespace looseleaf {

// The byte behind <0xNN>, or nothing.
std::optional<uint8_t> read_byte_token(std::string_view text);

class ByteFallback {
 public:
  explicit ByteFallback(const TokenizerSpec& spec);

  bool spells_everything() const { return missing_ == 0; }
  // Appends a token for each byte of `text`, or nothing where one of them has none: false.
  bool append(std::string_view text, std::vector<int32_t>& ids) const;

 private:
  std::array<int32_t, 256> ids_;  // by byte; -1: none
  int missing_ = 256;
};

}  // namespace looseleaf

// SHA-256 for identities that strangers may try to forge, XXH3 for checksums of our own files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace looseleaf {

using Sha256Digest = std::array<uint8_t, 32>;

// Incremental SHA-256. Fields are length-prefixed, so that ("ab", "c") and ("a", "bc") differ.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& field(std::string_view bytes);
  Sha256& field(std::span<const int32_t> values);
  Sha256& field(uint64_t value);
  Sha256Digest finish();  // REQUIRES: called once, last

 private:
  void update(const void* data, size_t size);
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string to_hex(std::span<const uint8_t> bytes);

uint64_t xxh3(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace looseleaf

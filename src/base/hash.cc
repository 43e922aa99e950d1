#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <cstdlib>

namespace looseleaf {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (context_->evp == nullptr || EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) != 1)
    std::abort();  // OpenSSL without SHA-256 or without memory
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, size_t size) {
  if (EVP_DigestUpdate(context_->evp, data, size) != 1) std::abort();
}

Sha256& Sha256::field(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  update(bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::field(std::string_view bytes) {
  field(static_cast<uint64_t>(bytes.size()));
  update(bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::field(std::span<const int32_t> values) {
  return field(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  if (EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) != 1) std::abort();
  return digest;
}

std::string to_hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

uint64_t xxh3(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace looseleaf

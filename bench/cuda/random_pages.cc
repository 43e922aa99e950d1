#include "random_pages.h"

#include <cmath>
#include <cstring>

#include "compute/cuda/page_layout.h"

namespace looseleaf::bench {
namespace {

void fill(const Heads& heads, int first_page, int tokens, std::vector<std::byte>& pages,
          std::mt19937& random) {
  const int64_t layer = cuda::page_layer_bytes(heads.kv_heads, heads.head_dim);
  for (int token = 0; token < tokens; ++token)
    for (int piece = 0; piece < 2 * heads.kv_heads; ++piece)  // keys, then values
      for (int d = 0; d < heads.head_dim; ++d) {
        const uint16_t bits = random_bf16(random);
        const int64_t page = first_page + token / kPageTokens;
        std::memcpy(pages.data() + page * layer + cuda::key_piece(piece, heads.head_dim) +
                        cuda::element_offset(token % kPageTokens, d, heads.head_dim),
                    &bits, sizeof(bits));
      }
}

std::vector<std::byte> poisoned(const Heads& heads, int pages) {
  return std::vector<std::byte>(
      static_cast<size_t>(pages * cuda::page_layer_bytes(heads.kv_heads, heads.head_dim)),
      std::byte{0xFF});
}

}  // namespace

uint16_t random_bf16(std::mt19937& random) {
  const float value = std::normal_distribution<float>()(random);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

std::vector<std::byte> random_pages(const Heads& heads, const Workload& load,
                                    std::mt19937& random) {
  std::vector<std::byte> pages = poisoned(heads, load.pages());
  for (const PlanChunk& chunk : load.chunks)
    fill(heads, chunk.first_page, chunk.tokens, pages, random);
  return pages;
}

std::vector<std::byte> random_pages(const Heads& heads, const PrefillWork& work,
                                    std::mt19937& random) {
  std::vector<std::byte> pages = poisoned(heads, work.pages);
  for (const PrefillSpan& span : work.spans)
    fill(heads, span.first_page, span.tokens, pages, random);
  return pages;
}

double relative_error(const std::vector<__nv_bfloat16>& got, const std::vector<double>& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = __bfloat162float(got[i]);
    if (!std::isfinite(value)) return INFINITY;
    difference += (value - want[i]) * (value - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace looseleaf::bench

#include "decode_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "compute/cuda/page_layout.h"

namespace looseleaf::bench {

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

std::vector<double> attend_reference(const Heads& heads, const Workload& load,
                                     const std::vector<std::byte>& pages,
                                     const std::vector<uint16_t>& query) {
  const int dim = heads.head_dim, half = dim / 2;
  const auto element = [&](const PlanChunk& chunk, int token, int64_t piece, int d) {
    const int64_t page = chunk.first_page + token / kPageTokens;
    uint16_t bits;
    std::memcpy(&bits,
                pages.data() + page * cuda::page_layer_bytes(heads.kv_heads, dim) + piece +
                    cuda::element_offset(token % kPageTokens, d, dim),
                sizeof(bits));
    return static_cast<double>(from_bf16(bits));
  };
  std::vector<double> out(query.size());
  for (int row = 0; row < load.requests(); ++row)
    for (int head = 0; head < heads.heads; ++head) {
      const int kv_head = head / (heads.heads / heads.kv_heads);
      const int64_t at = (int64_t{row} * heads.heads + head) * dim;
      struct Key {
        const PlanChunk* chunk;
        int token;
        double score;
      };
      std::vector<Key> keys;
      for (int32_t u = load.first_use[row]; u < load.first_use[row + 1]; ++u) {
        const PlanUse& use = load.uses[u];
        std::vector<double> q(dim);
        for (int j = 0; j < half; ++j) {
          const double a = from_bf16(query[at + j]), b = from_bf16(query[at + j + half]);
          const float* turn = use.turn < 0 ? nullptr : load.turns.data() + int64_t{use.turn} * dim;
          const double cos = turn ? turn[j] : 1, sin = turn ? turn[j + half] : 0;
          q[j] = a * cos + b * sin;
          q[j + half] = b * cos - a * sin;
        }
        const PlanChunk& chunk = load.chunks[use.chunk];
        for (int token = 0; token < chunk.tokens; ++token) {
          double score = 0;
          for (int d = 0; d < dim; ++d)
            score += q[d] * element(chunk, token, cuda::key_piece(kv_head, dim), d);
          keys.push_back({&chunk, token, score / std::sqrt(static_cast<double>(dim))});
        }
      }
      double largest = -INFINITY, sum = 0;
      for (const Key& key : keys) largest = std::max(largest, key.score);
      for (Key& key : keys) sum += key.score = std::exp(key.score - largest);
      for (const Key& key : keys)
        for (int d = 0; d < dim; ++d)
          out[at + d] +=
              key.score / sum *
              element(*key.chunk, key.token, cuda::value_piece(kv_head, heads.kv_heads, dim), d);
    }
  return out;
}

}  // namespace looseleaf::bench

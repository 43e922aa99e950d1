// How keys and values lie in a page: the one description that caches, devices and tests share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace looseleaf {

enum class KvType : uint8_t {
  kF32,
  kBF16,
  kF16,   // values beyond +-65504 are held at that
  kQ8_0,  // int8 codes, one f16 scale a token and head for K and one for V: code * scale
  kFP8,   // e4m3 codes (1 sign, 4 exponent, 3 mantissa bits, 448 at most) with scales as q8_0 has
};

std::string_view kv_type_name(KvType type);
std::optional<KvType> parse_kv_type(std::string_view name);
// All names, separated by ", ".
std::string kv_type_names();

// Tokens in a page. 32 rows of 64 f16 are 4 KB a head: long enough to stream, short enough that a
// document's last page wastes little.
inline constexpr int kPageTokens = 32;

// A page holds kPageTokens tokens of all layers:
//   [layers][K, V][kv_heads] of { codes [kPageTokens][head_dim] type, scales [kPageTokens] f16
//   (q8_0, fp8) }
//
// Layers below first_layer have no place: nothing is stored there. A layout of one layer serves
// whichever layer is at hand: scratch that is filled anew for each.
struct KvLayout {
  KvType type = KvType::kF32;
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int first_layer = 0;

  int element_bytes() const;
  // Of one token in a head's K (or V); 0: the type has no scales.
  int scale_bytes() const;
  // Codes and scales of one head's K (or V) in one layer of a page; a multiple of 64.
  int64_t head_bytes() const;
  int64_t layer_bytes() const { return 2 * kv_heads * head_bytes(); }
  int64_t page_bytes() const { return layers * layer_bytes(); }
  // Keys and values of one token in one layer.
  int64_t token_bytes() const { return layer_bytes() / kPageTokens; }
  bool has(int layer) const { return layer >= first_layer; }
  // Offsets into a page.
  int64_t layer_offset(int layer) const {
    return layers == 1 ? 0 : (layer - first_layer) * layer_bytes();
  }
  int64_t key_offset(int layer, int head) const {
    return layer_offset(layer) + head * head_bytes();
  }
  int64_t value_offset(int layer, int head) const {
    return layer_offset(layer) + (kv_heads + head) * head_bytes();
  }
  int64_t scales_offset() const { return int64_t{kPageTokens} * head_dim * element_bytes(); }

  bool operator==(const KvLayout&) const = default;
};

inline int pages_for(int tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace looseleaf

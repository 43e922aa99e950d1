#include "compute/kv_layout.h"

#include <array>

namespace looseleaf {
namespace {

struct Entry {
  KvType type;
  std::string_view name;
  int element_bytes;
};
constexpr std::array kEntries = {
    Entry{KvType::kF32, "f32", 4},
    Entry{KvType::kBF16, "bf16", 2},
    Entry{KvType::kF16, "f16", 2},
    Entry{KvType::kQ8_0, "q8_0", 1},
};

const Entry& entry(KvType type) { return kEntries[static_cast<size_t>(type)]; }

}  // namespace

std::string_view kv_type_name(KvType type) { return entry(type).name; }

std::optional<KvType> parse_kv_type(std::string_view name) {
  for (const Entry& e : kEntries)
    if (e.name == name) return e.type;
  return std::nullopt;
}

int KvLayout::element_bytes() const { return entry(type).element_bytes; }

int64_t KvLayout::head_bytes() const {
  const int64_t scales = type == KvType::kQ8_0 ? 2 * kPageTokens : 0;
  return (scales_offset() + scales + 63) / 64 * 64;
}

}  // namespace looseleaf

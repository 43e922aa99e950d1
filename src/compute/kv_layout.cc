#include "compute/kv_layout.h"

#include <array>

namespace looseleaf {
namespace {

struct Entry {
  KvType type;
  std::string_view name;
  int element_bytes;
  int scale_bytes;
};
// In the order of the enumeration.
constexpr std::array kEntries = {
    Entry{KvType::kF32, "f32", 4, 0}, Entry{KvType::kBF16, "bf16", 2, 0},
    Entry{KvType::kF16, "f16", 2, 0}, Entry{KvType::kQ8_0, "q8_0", 1, 2},
    Entry{KvType::kFP8, "fp8", 1, 2},
};

const Entry& entry(KvType type) { return kEntries[static_cast<size_t>(type)]; }

}  // namespace

std::string_view kv_type_name(KvType type) { return entry(type).name; }

std::optional<KvType> parse_kv_type(std::string_view name) {
  for (const Entry& e : kEntries)
    if (e.name == name) return e.type;
  return std::nullopt;
}

std::string kv_type_names() {
  std::string names;
  for (const Entry& e : kEntries) names += (names.empty() ? "" : ", ") + std::string(e.name);
  return names;
}

int KvLayout::element_bytes() const { return entry(type).element_bytes; }
int KvLayout::scale_bytes() const { return entry(type).scale_bytes; }

int64_t KvLayout::head_bytes() const {
  return (scales_offset() + int64_t{kPageTokens} * scale_bytes() + 63) / 64 * 64;
}

}  // namespace looseleaf

#include "model/weight_type.h"

#include <array>

namespace looseleaf {

// One name and one entry a file in weight_types/.
extern const WeightType kF32, kF16, kBf16, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ2K, kQ3K, kQ4K,
    kQ5K, kQ6K, kIq4Nl;

namespace {

constexpr std::array kTypes = {&kF32,  &kF16, &kBf16, &kQ8_0, &kQ4_0, &kQ4_1, &kQ5_0,
                               &kQ5_1, &kQ2K, &kQ3K,  &kQ4K,  &kQ5K,  &kQ6K,  &kIq4Nl};

}  // namespace

std::span<const WeightType* const> weight_types() { return kTypes; }

const WeightType* find_gguf_weight_type(uint32_t gguf_id) {
  for (const WeightType* type : kTypes)
    if (type->gguf_id >= 0 && static_cast<uint32_t>(type->gguf_id) == gguf_id) return type;
  return nullptr;
}

const WeightType* find_safetensors_weight_type(std::string_view dtype_name) {
  for (const WeightType* type : kTypes)
    if (!type->safetensors_name.empty() && type->safetensors_name == dtype_name) return type;
  return nullptr;
}

}  // namespace looseleaf

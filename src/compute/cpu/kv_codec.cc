#include "compute/cpu/kv_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/cpu/dequantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/kv_codec.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F16Bits = uint16_t;
using BF16Bits = uint16_t;

// Two halves to float and back, a vector at a time; the rest through a padded vector.
template <typename Stored>
HWY_INLINE hn::Vec<hn::ScalableTag<float>> Widen(const Stored* from) {
  const hn::ScalableTag<float> df;
  return hn::PromoteTo(df, hn::LoadU(hn::Rebind<Stored, decltype(df)>(), from));
}

template <typename Stored>
HWY_NOINLINE void LoadHalves(const Stored* from, size_t count, float* to) {
  const hn::ScalableTag<float> df;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Widen(from + i), df, to + i);
  if (i < count) {
    HWY_ALIGN Stored padded_from[HWY_MAX_BYTES / sizeof(float)] = {};
    HWY_ALIGN float padded_to[HWY_MAX_BYTES / sizeof(float)];
    std::memcpy(padded_from, from + i, (count - i) * sizeof(Stored));
    hn::Store(Widen(padded_from), df, padded_to);
    std::memcpy(to + i, padded_to, (count - i) * sizeof(float));
  }
}

void LoadF16(const void* from, size_t count, float* to) {
  LoadHalves(static_cast<const hwy::float16_t*>(from), count, to);
}

void LoadBF16(const void* from, size_t count, float* to) {
  LoadHalves(static_cast<const hwy::bfloat16_t*>(from), count, to);
}

void StoreF16(const float* from, size_t count, void* to_bytes) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  auto* to = static_cast<hwy::float16_t*>(to_bytes);
  const auto limit = hn::Set(df, 65504.0f);
  const size_t lanes = hn::Lanes(df);
  const auto narrow = [&](const float* p) {
    return hn::DemoteTo(dh, hn::Min(hn::Max(hn::LoadU(df, p), hn::Neg(limit)), limit));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(narrow(from + i), dh, to + i);
  if (i < count) {
    HWY_ALIGN float padded_from[HWY_MAX_BYTES / sizeof(float)] = {};
    HWY_ALIGN hwy::float16_t padded_to[HWY_MAX_BYTES / sizeof(float)];
    std::memcpy(padded_from, from + i, (count - i) * sizeof(float));
    hn::Store(narrow(padded_from), dh, padded_to);
    std::memcpy(to + i, padded_to, (count - i) * sizeof(hwy::float16_t));
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(LoadF16);
HWY_EXPORT(LoadBF16);
HWY_EXPORT(StoreF16);

// The scale is rounded up to f16 before the codes are chosen, so that no code is cut off and the
// error stays within half a code of the scale that will be read.
void store_q8(const float* from, int count, int8_t* codes, std::byte* scale_to) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(from[i]));
  constexpr uint16_t kLargestHalf = 0x7BFF;
  const float wanted = largest / 127;
  float scale;
  HWY_DYNAMIC_DISPATCH(StoreF16)(&wanted, 1, scale_to);
  HWY_DYNAMIC_DISPATCH(LoadF16)(scale_to, 1, &scale);
  uint16_t bits;
  std::memcpy(&bits, scale_to, sizeof bits);
  if (scale < wanted && bits < kLargestHalf) {
    ++bits;  // the next half: positive ones are ordered as their bits are
    std::memcpy(scale_to, &bits, sizeof bits);
    HWY_DYNAMIC_DISPATCH(LoadF16)(scale_to, 1, &scale);
  }
  const float inverse = scale > 0 ? 1 / scale : 0;
  for (int i = 0; i < count; ++i) {
    const float code = std::nearbyint(from[i] * inverse);
    codes[i] = static_cast<int8_t>(std::clamp(code, -127.0f, 127.0f));
  }
}

}  // namespace

void load_kv(const KvLayout& layout, const std::byte* head, int first_slot, int count, float* out) {
  const auto dim = static_cast<size_t>(layout.head_dim);
  const size_t values = static_cast<size_t>(count) * dim;
  const std::byte* codes =
      head + static_cast<size_t>(first_slot) * dim * static_cast<size_t>(layout.element_bytes());
  switch (layout.type) {
    case KvType::kF32:
      std::memcpy(out, codes, values * sizeof(float));
      return;
    case KvType::kF16:
      HWY_DYNAMIC_DISPATCH(LoadF16)(codes, values, out);
      return;
    case KvType::kBF16:
      HWY_DYNAMIC_DISPATCH(LoadBF16)(codes, values, out);
      return;
    case KvType::kQ8_0: {
      float scales[kPageTokens];
      HWY_DYNAMIC_DISPATCH(LoadF16)
      (head + layout.scales_offset() + 2 * first_slot, static_cast<size_t>(count), scales);
      const auto* code = reinterpret_cast<const int8_t*>(codes);
      for (int t = 0; t < count; ++t)
        for (size_t i = 0; i < dim; ++i) *out++ = static_cast<float>(*code++) * scales[t];
      return;
    }
  }
}

void store_kv(const KvLayout& layout, std::byte* head, int slot, const float* row) {
  const int dim = layout.head_dim;
  std::byte* codes = head + int64_t{slot} * dim * layout.element_bytes();
  switch (layout.type) {
    case KvType::kF32:
      std::memcpy(codes, row, static_cast<size_t>(dim) * sizeof(float));
      return;
    case KvType::kF16:
      HWY_DYNAMIC_DISPATCH(StoreF16)(row, static_cast<size_t>(dim), codes);
      return;
    case KvType::kBF16:
      cpu_to_bfloat16(row, dim, reinterpret_cast<uint16_t*>(codes));
      return;
    case KvType::kQ8_0:
      store_q8(row, dim, reinterpret_cast<int8_t*>(codes),
               head + layout.scales_offset() + 2 * slot);
      return;
  }
}

}  // namespace looseleaf
#endif  // HWY_ONCE

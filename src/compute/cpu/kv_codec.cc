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

using Floats = hn::ScalableTag<float>;

// Calls convert(from, to) for a vector's lanes at a time; the rest goes through padded ones.
template <typename From, typename To, typename Convert>
HWY_INLINE void ForVectors(const From* from, size_t count, To* to, const Convert& convert) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) convert(from + i, to + i);
  if (i < count) {
    HWY_ALIGN From padded_from[HWY_MAX_BYTES / sizeof(float)] = {};
    HWY_ALIGN To padded_to[HWY_MAX_BYTES / sizeof(float)];
    std::memcpy(padded_from, from + i, (count - i) * sizeof(From));
    convert(padded_from, padded_to);
    std::memcpy(to + i, padded_to, (count - i) * sizeof(To));
  }
}

template <typename Stored>
HWY_NOINLINE void LoadHalves(const Stored* from, size_t count, float* to) {
  const Floats df;
  ForVectors(from, count, to, [&](const Stored* p, float* q) {
    hn::StoreU(hn::PromoteTo(df, hn::LoadU(hn::Rebind<Stored, Floats>(), p)), df, q);
  });
}

void LoadF16(const void* from, size_t count, float* to) {
  LoadHalves(static_cast<const hwy::float16_t*>(from), count, to);
}

void LoadBF16(const void* from, size_t count, float* to) {
  LoadHalves(static_cast<const hwy::bfloat16_t*>(from), count, to);
}

void StoreF16(const float* from, size_t count, void* to_bytes) {
  const Floats df;
  const hn::Rebind<hwy::float16_t, Floats> dh;
  const auto limit = hn::Set(df, 65504.0f);
  ForVectors(from, count, static_cast<hwy::float16_t*>(to_bytes),
             [&](const float* p, hwy::float16_t* q) {
               const auto x = hn::Min(hn::Max(hn::LoadU(df, p), hn::Neg(limit)), limit);
               hn::StoreU(hn::DemoteTo(dh, x), dh, q);
             });
}

// An e4m3 code's magnitude, shifted to where f16 has exponent and mantissa, is the f16 of 2^-8 of
// its value, subnormal ones too; only its NaN (all ones) is a number there.
void LoadFP8(const uint8_t* from, size_t count, float scale, float* to) {
  const Floats df;
  const hn::Rebind<uint8_t, Floats> d8;
  const hn::Rebind<uint16_t, Floats> d16;
  const hn::Rebind<hwy::float16_t, Floats> dh;
  const auto magnitudes = hn::Set(d16, 0x7F), signs = hn::Set(d16, 0x80);
  const auto nan = hn::Set(d16, 0x7FFF);
  const auto factor = hn::Set(df, 256 * scale);
  ForVectors(from, count, to, [&](const uint8_t* p, float* q) {
    const auto code = hn::PromoteTo(d16, hn::LoadU(d8, p));
    const auto magnitude = hn::And(code, magnitudes);
    const auto number = hn::Or(hn::ShiftLeft<7>(magnitude), hn::ShiftLeft<8>(hn::And(code, signs)));
    const auto half = hn::IfThenElse(hn::Eq(magnitude, magnitudes), nan, number);
    hn::StoreU(hn::Mul(hn::PromoteTo(df, hn::BitCast(dh, half)), factor), df, q);
  });
}

// Codes of inverse * from, rounded to nearest, ties to even, held at +-448; a NaN stays one.
void StoreFP8(const float* from, size_t count, float inverse, uint8_t* to) {
  const Floats df;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<uint8_t, Floats> d8;
  const auto factor = hn::Set(df, inverse), limit = hn::Set(df, 448.0f);
  // Codes from 2^-6 on are a float's upper bits with another exponent bias; a carry out of the
  // mantissa goes where it belongs. Those below are multiples of 2^-9, which is the last place of a
  // float in 2^14 .. 2^15.
  const auto least_normal = hn::Set(df, 0x1p-6f), last_place = hn::Set(df, 0x1p14f);
  const auto half_code = hn::Set(di, 0x7FFFF), one = hn::Set(di, 1);
  const auto bias = hn::Set(di, (127 - 7) << 3), sign = hn::Set(di, 0x80);
  const auto nan = hn::Set(di, 0x7F);
  ForVectors(from, count, to, [&](const float* p, uint8_t* q) {
    const auto x = hn::Mul(hn::LoadU(df, p), factor);
    const auto magnitude = hn::Min(hn::Abs(x), limit);
    const auto bits = hn::BitCast(di, magnitude);
    const auto even = hn::And(hn::ShiftRight<20>(bits), one);
    const auto normal = hn::Sub(hn::ShiftRight<20>(hn::Add(bits, hn::Add(half_code, even))), bias);
    const auto small =
        hn::Sub(hn::BitCast(di, hn::Add(magnitude, last_place)), hn::BitCast(di, last_place));
    const auto is_small = hn::RebindMask(di, hn::Lt(magnitude, least_normal));
    auto code = hn::IfThenElse(is_small, small, normal);
    code = hn::IfThenElse(hn::RebindMask(di, hn::IsNaN(x)), nan, code);
    code = hn::Or(code, hn::And(hn::ShiftRight<24>(hn::BitCast(di, x)), sign));
    hn::StoreU(hn::DemoteTo(d8, code), d8, q);
  });
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(LoadF16);
HWY_EXPORT(LoadBF16);
HWY_EXPORT(StoreF16);
HWY_EXPORT(LoadFP8);
HWY_EXPORT(StoreFP8);

// Stores the scale that brings the largest magnitude to `largest_code` and returns its inverse, 0
// for a row of zeros. It is rounded up to f16 before the codes are chosen, so that no code is cut
// off and the error stays within half a code of the scale that will be read.
float store_scale(const float* from, int count, float largest_code, std::byte* scale_to) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(from[i]));
  constexpr uint16_t kLargestHalf = 0x7BFF;
  const float wanted = largest / largest_code;
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
  return scale > 0 ? 1 / scale : 0;
}

void store_q8(const float* from, int count, int8_t* codes, std::byte* scale_to) {
  const float inverse = store_scale(from, count, 127, scale_to);
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
    case KvType::kQ8_0:
    case KvType::kFP8: {
      float scales[kPageTokens];
      HWY_DYNAMIC_DISPATCH(LoadF16)
      (head + layout.scales_offset() + 2 * first_slot, static_cast<size_t>(count), scales);
      if (layout.type == KvType::kFP8) {
        const auto* row = reinterpret_cast<const uint8_t*>(codes);
        for (int t = 0; t < count; ++t, row += dim, out += dim)
          HWY_DYNAMIC_DISPATCH(LoadFP8)(row, dim, scales[t], out);
        return;
      }
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
    case KvType::kFP8: {
      const float inverse = store_scale(row, dim, 448, head + layout.scales_offset() + 2 * slot);
      HWY_DYNAMIC_DISPATCH(StoreFP8)
      (row, static_cast<size_t>(dim), inverse, reinterpret_cast<uint8_t*>(codes));
      return;
    }
  }
}

void copy_kv(const KvLayout& from_layout, const std::byte* from, int from_slot,
             const KvLayout& to_layout, std::byte* to, int to_slot) {
  const auto part = [&](int64_t from_at, int64_t to_at, int64_t bytes) {
    std::memmove(to + to_at + to_slot * bytes, from + from_at + from_slot * bytes,
                 static_cast<size_t>(bytes));
  };
  part(0, 0, int64_t{from_layout.head_dim} * from_layout.element_bytes());
  part(from_layout.scales_offset(), to_layout.scales_offset(), from_layout.scale_bytes());
}

}  // namespace looseleaf
#endif  // HWY_ONCE

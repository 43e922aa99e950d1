#include "compute/cpu/dequantize.h"

#include "model/weight_types/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/dequantize.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kBlock = 32;  // of q8_0, q4_0 and q4_1

HWY_INLINE const uint8_t* Bytes(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }

// scale * code is exact, so that a fused multiply-add rounds as the plain formula does.
void Q8_0(const std::byte* source, float* HWY_RESTRICT target, int64_t blocks) {
  const hn::CappedTag<float, kBlock> d;
  const hn::Rebind<int8_t, decltype(d)> codes;
  for (int64_t b = 0; b < blocks; ++b, source += 2 + kBlock, target += kBlock) {
    const auto scale = hn::Set(d, half_to_float(load_u16(source)));
    const auto* code = reinterpret_cast<const int8_t*>(source + 2);
    for (size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
      const auto wide =
          hn::PromoteTo(hn::RebindToSigned<decltype(d)>(), hn::LoadU(codes, code + i));
      hn::StoreU(hn::Mul(scale, hn::ConvertTo(d, wide)), d, target + i);
    }
  }
}

// The two halves of a 4-bit block: low nibbles are weights 0..15, high ones 16..31.
template <typename Finish>
HWY_INLINE void Nibbles(const uint8_t* pairs, float* HWY_RESTRICT target, Finish finish) {
  const hn::CappedTag<float, kBlock / 2> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  for (size_t i = 0; i < kBlock / 2; i += hn::Lanes(d)) {
    const auto pair = hn::PromoteTo(integers, hn::LoadU(bytes, pairs + i));
    const auto low = hn::And(pair, hn::Set(integers, 15));
    const auto high = hn::ShiftRight<4>(pair);
    hn::StoreU(finish(d, hn::ConvertTo(d, low)), d, target + i);
    hn::StoreU(finish(d, hn::ConvertTo(d, high)), d, target + kBlock / 2 + i);
  }
}

void Q4_0(const std::byte* source, float* HWY_RESTRICT target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += 2 + kBlock / 2, target += kBlock) {
    const float scale = half_to_float(load_u16(source));
    Nibbles(Bytes(source + 2), target, [scale](auto d, auto code) {
      return hn::Mul(hn::Set(d, scale), hn::Sub(code, hn::Set(d, 8.0f)));
    });
  }
}

void Q4_1(const std::byte* source, float* HWY_RESTRICT target, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b, source += 4 + kBlock / 2, target += kBlock) {
    const float scale = half_to_float(load_u16(source));
    const float least = half_to_float(load_u16(source + 2));
    Nibbles(Bytes(source + 4), target, [scale, least](auto d, auto code) {
      return hn::MulAdd(hn::Set(d, scale), code, hn::Set(d, least));
    });
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(Q8_0);
HWY_EXPORT(Q4_0);
HWY_EXPORT(Q4_1);

// A type without a line here is dequantized by its plain formula.
struct Kernel {
  std::string_view type;
  void (*run)(const std::byte* source, float* target, int64_t blocks);
};
constexpr Kernel kKernels[] = {
    {"q8_0",
     [](const std::byte* s, float* t, int64_t n) {
       HWY_DYNAMIC_DISPATCH(Q8_0)
       (s, t, n);
     }},
    {"q4_0",
     [](const std::byte* s, float* t, int64_t n) {
       HWY_DYNAMIC_DISPATCH(Q4_0)
       (s, t, n);
     }},
    {"q4_1",
     [](const std::byte* s, float* t, int64_t n) {
       HWY_DYNAMIC_DISPATCH(Q4_1)
       (s, t, n);
     }},
};

}  // namespace

void cpu_dequantize(const WeightMatrix& w, int64_t first, int64_t count, float* out) {
  const std::byte* source = w.data + first * w.row_bytes();
  const int64_t blocks = count * w.cols / w.type->block;  // rows lie one after the other
  for (const Kernel& kernel : kKernels)
    if (kernel.type == w.type->name) return kernel.run(source, out, blocks);
  w.type->dequantize(source, out, blocks);
}

}  // namespace looseleaf
#endif  // HWY_ONCE

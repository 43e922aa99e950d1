// Blocks of 32 weights as 16-bit integers: a weight is scale * code + least. Included once a
// Highway target; LOOSELEAF_HAVE_CODES is 1 where vectors have room for 16 of them.
//
// Codes(block, low, high) gives codes 0..15 and 16..31; the scale is the block's first number, and
// kLeast the byte where `least` stands, or 0. The formats are described in model/weight_types.
#if defined(LOOSELEAF_WEIGHT_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOSELEAF_WEIGHT_CODES_INL_H_
#undef LOOSELEAF_WEIGHT_CODES_INL_H_
#else
#define LOOSELEAF_WEIGHT_CODES_INL_H_
#endif

#include <hwy/highway.h>

#include "compute/cpu/weight_decode-inl.h"

#undef LOOSELEAF_HAVE_CODES
#define LOOSELEAF_HAVE_CODES (HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32)

#if LOOSELEAF_HAVE_CODES

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {

using Words = hn::CappedTag<int16_t, 16>;
using Sums32 = hn::Repartition<int32_t, Words>;
using Eight = hn::RebindToFloat<Sums32>;
using Bytes16 = hn::Full128<uint8_t>;
using Signed16 = hn::Full128<int8_t>;

// The IEEE half at p in all lanes.
HWY_INLINE hn::Vec<Eight> HalfEverywhere(const std::byte* p) {
  const hn::Rebind<uint16_t, Eight> bits;
  const hn::Rebind<hwy::float16_t, Eight> halves;
  return hn::PromoteTo(Eight(), hn::BitCast(halves, hn::Set(bits, load_u16(p))));
}

// 16 pairs of codes: the low nibbles, then the high ones.
HWY_INLINE void NibbleBytes(const std::byte* pairs, hn::Vec<Bytes16>& low, hn::Vec<Bytes16>& high) {
  const Bytes16 d;
  const hn::Full128<uint16_t> words;
  const auto both = hn::LoadU(d, Bytes(pairs)), nibble = hn::Set(d, uint8_t{15});
  low = hn::And(both, nibble);
  // x86 shifts no bytes: what comes in from the neighbour is masked off.
  high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(words, both))), nibble);
}

HWY_INLINE void Widen(hn::Vec<Bytes16> low_bytes, hn::Vec<Bytes16> high_bytes, hn::Vec<Words>& low,
                      hn::Vec<Words>& high) {
  low = hn::PromoteTo(Words(), low_bytes);
  high = hn::PromoteTo(Words(), high_bytes);
}

struct Q8_0Codes {
  static constexpr int64_t kBytes = Q8_0::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    const auto* codes = reinterpret_cast<const int8_t*>(block + 2);
    low = hn::PromoteTo(Words(), hn::LoadU(Signed16(), codes));
    high = hn::PromoteTo(Words(), hn::LoadU(Signed16(), codes + 16));
  }
};

struct Q4_1Codes {
  static constexpr int64_t kBytes = Q4_1::kBytes, kLeast = 2;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    hn::Vec<Bytes16> low_bytes, high_bytes;
    NibbleBytes(block + 4, low_bytes, high_bytes);
    Widen(low_bytes, high_bytes, low, high);
  }
};

struct Q4_0Codes {
  static constexpr int64_t kBytes = Q4_0::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    hn::Vec<Bytes16> low_bytes, high_bytes;
    NibbleBytes(block + 2, low_bytes, high_bytes);
    Widen(low_bytes, high_bytes, low, high);
    low = hn::Sub(low, hn::Set(Words(), int16_t{8}));
    high = hn::Sub(high, hn::Set(Words(), int16_t{8}));
  }
};

// Four bits from `pairs`, the fifth from `bits`.
HWY_INLINE void FiveBitBytes(const std::byte* bits, const std::byte* pairs, hn::Vec<Bytes16>& low,
                             hn::Vec<Bytes16>& high) {
  const Bytes16 d;
  std::byte fifth[32];
  FifthBits(bits, fifth);
  NibbleBytes(pairs, low, high);
  low = hn::Or(low, hn::LoadU(d, Bytes(fifth)));
  high = hn::Or(high, hn::LoadU(d, Bytes(fifth + 16)));
}

struct Q5_1Codes {
  static constexpr int64_t kBytes = Q5_1::kBytes, kLeast = 2;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    hn::Vec<Bytes16> low_bytes, high_bytes;
    FiveBitBytes(block + 4, block + 8, low_bytes, high_bytes);
    Widen(low_bytes, high_bytes, low, high);
  }
};

struct Q5_0Codes {
  static constexpr int64_t kBytes = Q5_0::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    hn::Vec<Bytes16> low_bytes, high_bytes;
    FiveBitBytes(block + 2, block + 6, low_bytes, high_bytes);
    Widen(low_bytes, high_bytes, low, high);
    low = hn::Sub(low, hn::Set(Words(), int16_t{16}));
    high = hn::Sub(high, hn::Set(Words(), int16_t{16}));
  }
};

struct IQ4_NLCodes {
  static constexpr int64_t kBytes = IQ4_NL::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, hn::Vec<Words>& low, hn::Vec<Words>& high) {
    int8_t levels[32];
    Levels(block + 2, levels);
    low = hn::PromoteTo(Words(), hn::LoadU(Signed16(), levels));
    high = hn::PromoteTo(Words(), hn::LoadU(Signed16(), levels + 16));
  }
};

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // LOOSELEAF_HAVE_CODES
#endif  // LOOSELEAF_WEIGHT_CODES_INL_H_

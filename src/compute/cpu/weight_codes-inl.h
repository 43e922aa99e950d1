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
using CodeVector = hn::Vec<Words>;

HWY_INLINE void SignedBytes(const int8_t* codes, CodeVector& low, CodeVector& high) {
  const hn::Full128<int8_t> d;
  low = hn::PromoteTo(Words(), hn::LoadU(d, codes));
  high = hn::PromoteTo(Words(), hn::LoadU(d, codes + 16));
}

struct Q8_0Codes {
  static constexpr int64_t kBytes = Q8_0::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, CodeVector& low, CodeVector& high) {
    SignedBytes(reinterpret_cast<const int8_t*>(block + 2), low, high);
  }
};

struct IQ4_NLCodes {
  static constexpr int64_t kBytes = IQ4_NL::kBytes, kLeast = 0;
  static HWY_INLINE void Codes(const std::byte* block, CodeVector& low, CodeVector& high) {
    int8_t levels[32];
    Levels(block + 2, levels);
    SignedBytes(levels, low, high);
  }
};

// Four bits at byte kPairs and, unless kFifth is 0, a fifth at kFifth, less kMinus.
template <typename Type, int64_t kLeastAt, int kMinus, int kPairs, int kFifth = 0>
struct NibbleCodes {
  static constexpr int64_t kBytes = Type::kBytes, kLeast = kLeastAt;
  static HWY_INLINE void Codes(const std::byte* block, CodeVector& low, CodeVector& high) {
    const Bytes16 d;
    hn::Vec<Bytes16> low_bytes, high_bytes;
    NibbleBytes(block + kPairs, low_bytes, high_bytes);
    if constexpr (kFifth > 0) {
      std::byte fifth[32];
      FifthBits(block + kFifth, fifth);
      low_bytes = hn::Or(low_bytes, hn::LoadU(d, Bytes(fifth)));
      high_bytes = hn::Or(high_bytes, hn::LoadU(d, Bytes(fifth + 16)));
    }
    low = hn::PromoteTo(Words(), low_bytes);
    high = hn::PromoteTo(Words(), high_bytes);
    if constexpr (kMinus > 0) {
      low = hn::Sub(low, hn::Set(Words(), int16_t{kMinus}));
      high = hn::Sub(high, hn::Set(Words(), int16_t{kMinus}));
    }
  }
};

using Q4_0Codes = NibbleCodes<Q4_0, 0, 8, 2>;
using Q4_1Codes = NibbleCodes<Q4_1, 2, 0, 4>;
using Q5_0Codes = NibbleCodes<Q5_0, 0, 16, 6, 2>;
using Q5_1Codes = NibbleCodes<Q5_1, 2, 0, 8, 4>;

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // LOOSELEAF_HAVE_CODES
#endif  // LOOSELEAF_WEIGHT_CODES_INL_H_

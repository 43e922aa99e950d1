// Weight blocks as vectors of floats, for kernels that read weights as they are stored. Included
// once a Highway target. The formats are described in model/weight_types/NAME.cc, and each value
// has the same bits as there: what is multiplied before the last rounding is exact.
//
// Block types have kBlock weights in kBytes and a Decode(d, block, out) that calls
// out(slot, i, vector) for all of its weights, `i` being the first one's number. Neighbouring
// calls have different slots, which are types, so that sums in registers can take turns.
#include <cstring>
#include <type_traits>

#include "model/weight_types/half.h"
#include "model/weight_types/k_scales.h"

#if defined(LOOSELEAF_WEIGHT_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOSELEAF_WEIGHT_DECODE_INL_H_
#undef LOOSELEAF_WEIGHT_DECODE_INL_H_
#else
#define LOOSELEAF_WEIGHT_DECODE_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes: the smallest group of weights with a scale of its own.
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
using Integers = hn::RebindToSigned<Floats>;
template <size_t kSlot>
using Slot = std::integral_constant<size_t, kSlot>;

HWY_INLINE const uint8_t* Bytes(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }

// The IEEE half at p in all lanes.
template <typename D>
HWY_INLINE hn::Vec<D> Halves(D d, const std::byte* p) {
  const hn::Rebind<uint16_t, D> bits;
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::BitCast(halves, hn::Set(bits, load_u16(p))));
}

HWY_INLINE float Half(const std::byte* p) {
  return hn::GetLane(Halves(hn::CappedTag<float, 1>(), p));
}

// Lanes(d) unsigned bytes as integers.
HWY_INLINE hn::Vec<Integers> Codes(const std::byte* p) {
  return hn::PromoteTo(Integers(), hn::LoadU(hn::Rebind<uint8_t, Floats>(), Bytes(p)));
}

HWY_INLINE Vector ToFloats(hn::Vec<Integers> codes) { return hn::ConvertTo(Floats(), codes); }

// Calls body(Slot<k>, i) for i = 0, Lanes, ... below kCount.
template <size_t kCount, size_t kSlot = 0, size_t kStep = 1, typename Body>
HWY_INLINE void ForVectors(Body body) {
  constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), size_t{16});
  const auto go = [&]<size_t... kIndex>(std::index_sequence<kIndex...>)
      __attribute__((always_inline)) {
    (body(Slot<kSlot + kStep * kIndex>(), kIndex * kLanes), ...);
  };
  go(std::make_index_sequence<kCount / kLanes>());
}

struct Q8_0 {
  static constexpr int kBlock = 32, kBytes = 34;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Floats d;
    const auto scale = hn::Set(d, Half(block));
    const auto* codes = reinterpret_cast<const int8_t*>(block + 2);
    ForVectors<32>([&](auto slot, size_t i) __attribute__((always_inline)) {
      const auto code =
          hn::PromoteTo(Integers(), hn::LoadU(hn::Rebind<int8_t, Floats>(), codes + i));
      out(slot, i, hn::Mul(scale, ToFloats(code)));
    });
  }
};

// The codes in 16 bytes: low nibbles are weights 0..15, high ones 16..31.
template <typename Out>
HWY_INLINE void Nibbles(const std::byte* pairs, Out out) {
  ForVectors<16, 0, 2>([&](auto slot, size_t i) __attribute__((always_inline)) {
    const auto pair = Codes(pairs + i);
    out(slot, i, hn::And(pair, hn::Set(Integers(), 15)));
    out(Slot<decltype(slot)::value + 1>(), i + 16, hn::ShiftRight<4>(pair));
  });
}

struct Q4_0 {
  static constexpr int kBlock = 32, kBytes = 18;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const auto scale = hn::Set(Floats(), Half(block));
    Nibbles(
        block + 2, [&](auto slot, size_t i, auto code) __attribute__((always_inline)) {
          out(slot, i, hn::Mul(scale, ToFloats(hn::Sub(code, hn::Set(Integers(), 8)))));
        });
  }
};

struct Q4_1 {
  static constexpr int kBlock = 32, kBytes = 20;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const auto scale = hn::Set(Floats(), Half(block));
    const auto least = hn::Set(Floats(), Half(block + 2));
    Nibbles(
        block + 4, [&](auto slot, size_t i, auto code) __attribute__((always_inline)) {
          out(slot, i, hn::MulAdd(scale, ToFloats(code), least));
        });
  }
};

// The fifth bits of 32 codes, as 16 or 0 a byte.
HWY_INLINE void FifthBits(const std::byte* bits, std::byte* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 32; ++i)
    to[i] = std::byte((std::to_integer<int>(bits[i / 8]) >> (i % 8) & 1) << 4);
#else
  const hn::Full128<uint8_t> d;
  HWY_ALIGN static constexpr uint8_t kByte[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  HWY_ALIGN static constexpr uint8_t kBit[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                 1, 2, 4, 8, 16, 32, 64, 128};
  HWY_ALIGN uint8_t padded[16] = {};
  std::memcpy(padded, bits, 4);
  const auto all = hn::Load(d, padded), bit = hn::Load(d, kBit), first = hn::Load(d, kByte);
  for (const uint8_t half : {0, 1}) {
    const auto byte = hn::TableLookupBytes(all, hn::Add(first, hn::Set(d, uint8_t(2 * half))));
    const auto set = hn::Eq(hn::And(byte, bit), bit);
    hn::StoreU(hn::IfThenElseZero(set, hn::Set(d, uint8_t{16})), d,
               reinterpret_cast<uint8_t*>(to) + 16 * half);
  }
#endif
}

template <typename Out>
HWY_INLINE void FiveBits(const std::byte* bits, const std::byte* pairs, Out out) {
  std::byte fifth[32];
  FifthBits(bits, fifth);
  Nibbles(
      pairs, [&](auto slot, size_t i, auto code)
                 __attribute__((always_inline)) { out(slot, i, hn::Or(code, Codes(fifth + i))); });
}

struct Q5_0 {
  static constexpr int kBlock = 32, kBytes = 22;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const auto scale = hn::Set(Floats(), Half(block));
    FiveBits(
        block + 2, block + 6, [&](auto slot, size_t i, auto code) __attribute__((always_inline)) {
          out(slot, i, hn::Mul(scale, ToFloats(hn::Sub(code, hn::Set(Integers(), 16)))));
        });
  }
};

struct Q5_1 {
  static constexpr int kBlock = 32, kBytes = 24;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const auto scale = hn::Set(Floats(), Half(block));
    const auto least = hn::Set(Floats(), Half(block + 2));
    FiveBits(
        block + 4, block + 8, [&](auto slot, size_t i, auto code) __attribute__((always_inline)) {
          out(slot, i, hn::MulAdd(scale, ToFloats(code), least));
        });
  }
};

#if HWY_TARGET != HWY_SCALAR
using Bytes16 = hn::Full128<uint8_t>;

// 16 pairs of codes: the low nibbles, then the high ones.
HWY_INLINE void NibbleBytes(const std::byte* pairs, hn::Vec<Bytes16>& low, hn::Vec<Bytes16>& high) {
  const Bytes16 d;
  const hn::Full128<uint16_t> words;
  const auto both = hn::LoadU(d, Bytes(pairs)), nibble = hn::Set(d, uint8_t{15});
  low = hn::And(both, nibble);
  // x86 shifts no bytes: what comes in from the neighbour is masked off.
  high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(words, both))), nibble);
}
#endif

// The levels of 16 pairs of codes: those of the low nibbles, then those of the high ones.
HWY_INLINE void Levels(const std::byte* pairs, int8_t* HWY_RESTRICT to) {
  HWY_ALIGN static constexpr int8_t kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                   1,    13,   25,  38,  53,  69,  89,  113};
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 16; ++i) {
    to[i] = kLevels[std::to_integer<int>(pairs[i] & std::byte{15})];
    to[i + 16] = kLevels[std::to_integer<int>(pairs[i] >> 4)];
  }
#else
  const hn::Full128<int8_t> levels;
  const auto table = hn::BitCast(Bytes16(), hn::Load(levels, kLevels));
  hn::Vec<Bytes16> low, high;
  NibbleBytes(pairs, low, high);
  hn::StoreU(hn::BitCast(levels, hn::TableLookupBytes(table, low)), levels, to);
  hn::StoreU(hn::BitCast(levels, hn::TableLookupBytes(table, high)), levels, to + 16);
#endif
}

struct IQ4_NL {
  static constexpr int kBlock = 32, kBytes = 18;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    int8_t levels[32];
    Levels(block + 2, levels);
    const auto scale = hn::Set(Floats(), Half(block));
    ForVectors<32>([&](auto slot, size_t i) __attribute__((always_inline)) {
      const auto level =
          hn::PromoteTo(Integers(), hn::LoadU(hn::Rebind<int8_t, Floats>(), levels + i));
      out(slot, i, hn::Mul(scale, ToFloats(level)));
    });
  }
};

struct Q4_K {
  static constexpr int kBlock = 256, kBytes = 144;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Floats d;
    const float scale = Half(block), least = Half(block + 2);
    for (int group = 0; group < 8; ++group) {
      const auto [s, m] = k_scale(block + 4, group);
      const auto by = hn::Set(d, scale * static_cast<float>(s));
      const auto minus = hn::Set(d, least * static_cast<float>(m));
      const std::byte* codes = block + 16 + group / 2 * 32;
      const auto first = static_cast<size_t>(group) * 32;
      ForVectors<32>([&](auto slot, size_t i) __attribute__((always_inline)) {
        const auto pair = Codes(codes + i);
        const auto code =
            group % 2 ? hn::ShiftRight<4>(pair) : hn::And(pair, hn::Set(Integers(), 15));
        out(slot, first + i, hn::MulSub(by, ToFloats(code), minus));
      });
    }
  }
};

struct Q5_K {
  static constexpr int kBlock = 256, kBytes = 176;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Floats d;
    const Integers di;
    const float scale = Half(block), least = Half(block + 2);
    for (int group = 0; group < 8; ++group) {
      const auto [s, m] = k_scale(block + 4, group);
      const auto by = hn::Set(d, scale * static_cast<float>(s));
      const auto minus = hn::Set(d, least * static_cast<float>(m));
      const std::byte* codes = block + 48 + group / 2 * 32;
      const auto first = static_cast<size_t>(group) * 32;
      const auto bit = hn::Set(di, 1 << group);
      ForVectors<32>([&](auto slot, size_t i) __attribute__((always_inline)) {
        const auto pair = Codes(codes + i);
        const auto low = group % 2 ? hn::ShiftRight<4>(pair) : hn::And(pair, hn::Set(di, 15));
        const auto fifth = hn::Eq(hn::And(Codes(block + 16 + i), bit), bit);
        const auto code = hn::Or(low, hn::IfThenElseZero(fifth, hn::Set(di, 16)));
        out(slot, first + i, hn::MulSub(by, ToFloats(code), minus));
      });
    }
  }
};

struct Q6_K {
  static constexpr int kBlock = 256, kBytes = 210;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Integers di;
    const float scale = Half(block + 208);
    for (int group = 0; group < 16; ++group) {  // of 16 weights
      const int half = group / 8, quarter = group % 8 / 2, at = group % 2 * 16;
      const auto s = static_cast<int8_t>(std::to_integer<uint8_t>(block[192 + group]));
      const auto by = hn::Set(Floats(), scale * static_cast<float>(s));
      const std::byte* low_at = block + half * 64 + quarter % 2 * 32 + at;
      const std::byte* high_at = block + 128 + half * 32 + at;
      const auto first = static_cast<size_t>(group) * 16;
      ForVectors<16>([&](auto slot, size_t i) __attribute__((always_inline)) {
        const auto low =
            hn::And(hn::ShiftRightSame(Codes(low_at + i), quarter / 2 * 4), hn::Set(di, 15));
        const auto high =
            hn::And(hn::ShiftRightSame(Codes(high_at + i), quarter * 2), hn::Set(di, 3));
        const auto code = hn::Sub(hn::Or(low, hn::ShiftLeft<4>(high)), hn::Set(di, 32));
        out(slot, first + i, hn::Mul(by, ToFloats(code)));
      });
    }
  }
};

struct Q2_K {
  static constexpr int kBlock = 256, kBytes = 84;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Integers di;
    const float scale = Half(block + 80), least = Half(block + 82);
    for (int group = 0; group < 16; ++group) {
      const int byte = std::to_integer<int>(block[group]);
      const auto by = hn::Set(Floats(), scale * static_cast<float>(byte & 15));
      const auto minus = hn::Set(Floats(), least * static_cast<float>(byte >> 4));
      const std::byte* codes = block + 16 + group / 8 * 32 + group % 2 * 16;
      const auto first = static_cast<size_t>(group) * 16;
      ForVectors<16>([&](auto slot, size_t i) __attribute__((always_inline)) {
        const auto code =
            hn::And(hn::ShiftRightSame(Codes(codes + i), group % 8 / 2 * 2), hn::Set(di, 3));
        out(slot, first + i, hn::MulSub(by, ToFloats(code), minus));
      });
    }
  }
};

struct Q3_K {
  static constexpr int kBlock = 256, kBytes = 110;
  template <typename Out>
  static HWY_INLINE void Decode(const std::byte* block, Out out) {
    const Integers di;
    const float scale = Half(block + 108);
    for (int group = 0; group < 16; ++group) {
      const auto by = hn::Set(Floats(), scale * static_cast<float>(q3_k_scale(block + 96, group)));
      const int at = group % 2 * 16;
      const std::byte* codes = block + 32 + group / 8 * 32 + at;
      const auto bit = hn::Set(di, 1 << (group / 2));
      const auto first = static_cast<size_t>(group) * 16;
      ForVectors<16>([&](auto slot, size_t i) __attribute__((always_inline)) {
        const auto low =
            hn::And(hn::ShiftRightSame(Codes(codes + i), group % 8 / 2 * 2), hn::Set(di, 3));
        const auto third = hn::Eq(hn::And(Codes(block + at + i), bit), bit);
        const auto code =
            hn::Sub(hn::Or(low, hn::IfThenElseZero(third, hn::Set(di, 4))), hn::Set(di, 4));
        out(slot, first + i, hn::Mul(by, ToFloats(code)));
      });
    }
  }
};

// Plain numbers have blocks of one; Load gives Lanes(d) of them.
struct F32 {
  using Stored = float;
  static HWY_INLINE Vector Load(const Stored* p) { return hn::LoadU(Floats(), p); }
  static HWY_INLINE float One(const std::byte* p) {
    float value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
};

template <typename T>
HWY_INLINE Vector LoadHalves(const T* p) {
  return hn::PromoteTo(Floats(), hn::LoadU(hn::Rebind<T, Floats>(), p));
}
struct F16 {
  using Stored = hwy::float16_t;
  static HWY_INLINE Vector Load(const Stored* p) { return LoadHalves(p); }
  static HWY_INLINE float One(const std::byte* p) { return half_to_float(load_u16(p)); }
};
struct BF16 {
  using Stored = hwy::bfloat16_t;
  static HWY_INLINE Vector Load(const Stored* p) { return LoadHalves(p); }
  static HWY_INLINE float One(const std::byte* p) { return bfloat16_to_float(load_u16(p)); }
};

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // LOOSELEAF_WEIGHT_DECODE_INL_H_

#include "cli/attention_check.h"

#include <cmath>
#include <limits>

#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

const AttentionRow kRows[] = {
    DecodeRow{1, 1, 1, 0, 1},     DecodeRow{5, 3, 7, 0.5, 100}, DecodeRow{37, 2, 2, 0, 33},
    DecodeRow{3, 2, 3, 1.0, 257}, DecodeRow{2, 1, 1, 0, 6000},  PrefillRow{1, 70, 31},
    PrefillRow{40, 0, 32},        PrefillRow{130, 300, 100},    PrefillRow{70, 617, 512},
};
constexpr AttentionHeads kHeads[] = {{8, 2, 128}, {9, 3, 64}, {2, 2, 128}, {4, 1, 96}};

// How much storing a key or value in the type changes it at most, of the largest in its row.
double rounding(KvType type) {
  switch (type) {
    case KvType::kF32:
      return std::exp2(-24);
    case KvType::kF16:
      return std::exp2(-11);
    case KvType::kBF16:
      return std::exp2(-9);
    case KvType::kQ8_0:
      return std::exp2(-6);
    default:
      return std::exp2(-4);  // codes of 8 bits with three for the mantissa
  }
}

// Products in float32 add up some 1e-6. Tensor cores, which a GPU may take for bf16 and for codes,
// round queries and weights to bf16 and give results in it, and keys that are turned are stored
// again: each a rounding, which enters a result through scores and as it is.
double bound_of(const Device& device, KvType type, const BenchWay& way) {
  const bool stored_again = way.pages != BenchWay::Pages::kShared;
  const bool bf16_products = device.name() != "cpu" && type != KvType::kF32 && type != KvType::kF16;
  return 2e-5 + (stored_again ? 4 * rounding(type) : 0) +
         (bf16_products ? 4 * rounding(KvType::kBF16) : 0);
}

double relative_error(const std::vector<float>& got, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace

Status check_attention(Device& device, KvType kv_type, uint32_t seed, int64_t page_limit,
                       const std::function<Status(const AttentionChecked&)>& tell) {
  const std::unique_ptr<Device> host = make_cpu_device({.threads = 1});
  for (const AttentionHeads& heads : kHeads)
    for (const AttentionRow& row : kRows) {
      const SceneOptions options{.heads = heads,
                                 .kv_type = kv_type,
                                 .layers = 2,
                                 .seed = seed++,
                                 .poison = true,
                                 .page_limit = page_limit};
      LL_ASSIGN(const auto scene, AttentionScene::create(device, row, options));
      LL_ASSIGN(const auto definition, AttentionScene::create(*host, row, options));
      for (const BenchWay& way : kBenchWays) {
        if (!(std::holds_alternative<DecodeRow>(row) ? way.decode : way.prefill)) continue;
        LL_RETURN_IF_ERROR(scene->prepare(way));
        // Of copies the definition is the chunk at the copy's positions.
        const BenchWay& defined = way.pages == BenchWay::Pages::kShared ? way : kBenchWays[0];
        LL_RETURN_IF_ERROR(definition->prepare(defined));
        AttendArgs args = definition->args(defined);
        args.layer = options.layers - 1;  // whose results a pass leaves
        const auto row_heads = static_cast<size_t>(args.active) * static_cast<size_t>(args.heads);
        std::vector<double> expected(row_heads * static_cast<size_t>(args.head_dim));
        std::vector<double> lse(row_heads);
        attend_reference(args, expected.data(), lse.data());

        scene->poison_results();
        scene->launch(way, 0);
        LL_ASSIGN(const std::vector<float> got, scene->results());
        LL_RETURN_IF_ERROR(tell(
            {row, heads, way.name, relative_error(got, expected), bound_of(device, kv_type, way)}));
      }
    }
  return {};
}

}  // namespace looseleaf

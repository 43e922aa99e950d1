#include "engine/self_test.h"

#include <algorithm>
#include <cmath>

#include "engine/chunk_prefill.h"
#include "engine/sampler.h"
#include "engine/sequence.h"

namespace looseleaf {
namespace {

constexpr int kChunkTokens = 6, kTextTokens = 3;
constexpr int kFar = 4099;  // a prime: no pair is back where it was
constexpr int kCompared = 8;

// Nats by which log-probabilities may differ. Turning keys costs float32 little; the text's own
// keys are rounded to their type at other angles in each place. A wrong turn costs more than any of
// these, but perhaps than fp8's.
double rounding(KvType private_type) {
  switch (private_type) {
    case KvType::kF32:
      return 0.01;
    case KvType::kF16:
      return 0.1;
    case KvType::kBF16:
    case KvType::kQ8_0:
      return 0.5;
    case KvType::kFP8:
      return 2;
  }
  return 0.01;
}

double bound(KvType private_type, bool f32) {
  // Else activations are rounded to 16 bits before each product, too.
  return f32 ? rounding(private_type) : std::max(rounding(private_type), 0.5);
}

std::vector<int32_t> some_tokens(int count, int first, int vocab) {
  std::vector<int32_t> tokens;
  for (int i = first; i < first + count; ++i)
    tokens.push_back(static_cast<int32_t>((11 + int64_t{i} * 37) % vocab));
  return tokens;
}

// The logits after a chunk at `position` and some text behind it.
Expected<std::vector<float>> logits_at(EngineCore& core, std::shared_ptr<const RopeRegime> rope,
                                       int position) {
  const int vocab = core.model->config.vocab;
  LL_ASSIGN(const AcquiredChunk acquired,
            acquire_chunk(core, some_tokens(kChunkTokens, 0, vocab), {}, "", "", *rope));
  Sequence sequence;
  sequence.rope = rope;
  sequence.parts.emplace_back(Binding{.chunk = acquired.chunk,
                                      .position = position,
                                      .copy = {},
                                      .turn = Forward::turn(*rope, position)});
  TextRun text{.position = position + kChunkTokens,
               .tokens = some_tokens(kTextTokens, kChunkTokens, vocab),
               .kv = KvRun(core.private_layout),
               .computed = 0,
               .shared = false};
  LL_RETURN_IF_ERROR(text.kv.extend(core.pool, kTextTokens));
  sequence.parts.emplace_back(std::move(text));
  std::vector<float> logits(static_cast<size_t>(vocab));
  LL_RETURN_IF_ERROR(compute_text(core, sequence, logits));
  return logits;
}

Status test_regime(EngineCore& core, const std::shared_ptr<const RopeRegime>& rope) {
  LL_ASSIGN(const std::vector<float> near, logits_at(core, rope, 0));
  for (const float logit : near)
    if (!std::isfinite(logit))
      return error(ErrorCode::kCorrupt,
                   "{}: self-test: a logit is {}: the weights hold what are no numbers, get the "
                   "model again",
                   core.model->path, logit);
  LL_ASSIGN(const std::vector<float> far, logits_at(core, rope, kFar));
  const int compared = std::min(kCompared, core.model->config.vocab);
  const double allowed = bound(core.options.private_kv_type, core.device->facts().f32);
  for (const auto& [token, expected] : log_probability(near, 0, compared).top) {
    const double got = log_probability(far, token, 0).logprob;
    if (std::abs(got - expected) <= allowed) continue;
    return error(ErrorCode::kCorrupt,
                 "{}: self-test: a chunk at position {} gives token {} log-probability {:.4f}, and "
                 "{:.4f} at position 0: its rotary dimensions ({} of {}) or scaling ({}) are not "
                 "what its metadata say",
                 core.model->path, kFar, token, got, expected, core.model->config.rope.dims,
                 core.model->config.head_dim, rope_scaling_name(core.model->config.rope.scaling));
  }
  return {};
}

}  // namespace

Status self_test(EngineCore& core) {
  const RopeConfig& rope = core.model->config.rope;
  if (!can_reuse_chunks(rope)) return {};
  std::vector<int> lengths = {1};
  if (rope.scaling == RopeScaling::kLongRope) lengths.push_back(INT32_MAX);
  for (const int length : lengths) {
    const Status status = test_regime(core, core.rope_for(length));
    core.chunks.clear();
    // Too small a cache is told where something is asked of it.
    if (!status && status.error().code != ErrorCode::kUnavailable) return status;
  }
  return {};
}

}  // namespace looseleaf

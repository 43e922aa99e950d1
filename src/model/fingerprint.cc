#include "model/fingerprint.h"

#include <bit>

#include "base/hash.h"
#include "model/random_weights.h"
#include "model/tensor_hashes.h"

namespace looseleaf {
namespace {

// A number that changes when the meaning of the fields below does.
constexpr std::string_view kVersion = "looseleaf model 2";

void add(Sha256& out, double value) { out.field(std::bit_cast<uint64_t>(value)); }
void add_count(Sha256& out, int64_t value) { out.field(static_cast<uint64_t>(value)); }

template <typename T>
void add(Sha256& out, const std::vector<T>& values) {
  out.field(
      std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

void add(Sha256& out, const ModelConfig& config) {
  out.field(config.architecture);
  for (const int value : {config.vocab, config.hidden, config.layers, config.heads, config.kv_heads,
                          config.head_dim, config.ffn, config.sliding_window})
    add_count(out, value);
  add(out, config.norm_eps);
  const RopeConfig& rope = config.rope;
  add(out, rope.base);
  add_count(out, rope.dims);
  add_count(out, static_cast<int64_t>(rope.pairs));
  add_count(out, static_cast<int64_t>(rope.scaling));
  for (const double value : {rope.factor, rope.original_context, rope.low_frequency_factor,
                             rope.high_frequency_factor, rope.beta_fast, rope.beta_slow})
    add(out, value);
  add_count(out, rope.truncate);
  add(out, rope.divisors);
  add(out, rope.long_divisors);
  add(out, rope.attention_factor);
  add(out, config.alibi_slopes);
}

void add(Sha256& out, const TokenizerSpec& spec) {
  out.field(spec.model);
  add_count(out, static_cast<int64_t>(spec.normalize.size()));
  for (const NormalizeStep& step : spec.normalize) {
    add_count(out, static_cast<int64_t>(step.kind));
    out.field(step.from).field(step.to);
  }
  add_count(out, static_cast<int64_t>(spec.split_patterns.size()));
  for (const SplitRule& rule : spec.split_patterns) {
    out.field(rule.pattern);
    add_count(out, static_cast<int64_t>(rule.behavior));
    add_count(out, rule.invert);
  }
  add_count(out, static_cast<int64_t>(spec.tokens.size()));
  for (const auto& token : spec.tokens) out.field(token);
  out.field(std::string_view(reinterpret_cast<const char*>(spec.kinds.data()), spec.kinds.size()));
  add(out, spec.strips);
  add(out, spec.scores);
  add_count(out, static_cast<int64_t>(spec.merges.size()));
  for (const auto& [left, right] : spec.merges) out.field(left).field(right);
  add_count(out, spec.ignore_merges);
  add_count(out, spec.unk);
  add_count(out, spec.fuse_unk);
  add(out, spec.unk_score);
  add_count(out, spec.bos);
  add_count(out, spec.eos);
  add_count(out, spec.add_bos);
}

void add(Sha256& out, TensorHashes& hashes, const WeightMatrix& matrix) {
  out.field(matrix.type->name);
  add_count(out, matrix.rows);
  add_count(out, matrix.cols);
  out.field(hashes.hash({matrix.data, static_cast<size_t>(matrix.bytes())}));
}

void add(Sha256& out, TensorHashes& hashes, const LayerWeights& layer) {
  for (const WeightMatrix* matrix : {&layer.query, &layer.key, &layer.value,
                                     &layer.attention_output, &layer.gate, &layer.up, &layer.down})
    add(out, hashes, *matrix);
  for (const auto* values :
       {&layer.attention_norm, &layer.query_norm, &layer.key_norm, &layer.query_bias,
        &layer.key_bias, &layer.value_bias, &layer.attention_output_bias, &layer.ffn_norm,
        &layer.gate_bias, &layer.up_bias, &layer.down_bias})
    add(out, *values);
}

void add_tensors(Sha256& out, const Model& model) {
  TensorHashes hashes(model.files);
  add(out, hashes, model.embedding);
  for (const LayerWeights& layer : model.layers) add(out, hashes, layer);
  add(out, model.output_norm);
  add(out, hashes, model.output);
  hashes.save();
}

}  // namespace

std::string fingerprint(const Model& model) {
  Sha256 out;
  out.field(kVersion);
  add(out, model.config);
  add_count(out, model.tokenizer.has_value());
  if (model.tokenizer) add(out, *model.tokenizer);
  if (model.generated != nullptr) {
    out.field(kRandomWeights).field(model.config.name);
  } else {
    add_tensors(out, model);
  }
  return to_hex(out.finish());
}

}  // namespace looseleaf

// The calls over an AttentionScene, and what they must read and compute at least.
#include <algorithm>
#include <cmath>

#include "cli/attention_scene.h"

namespace looseleaf {

AttentionScene::Call AttentionScene::make_call(const BenchWay& way) const {
  Call call;
  const bool copies = way.pages != BenchWay::Pages::kShared;
  for (size_t b = 0; b < bindings_.size(); ++b) {
    const Binding& bound = bindings_[b];
    const Stored& stored = copies ? copies_[b] : chunks_[static_cast<size_t>(bound.chunk)];
    Segment segment;
    segment.layout = &layout_;
    segment.pages = stored.pages;
    segment.count = stored.count;
    segment.position = bound.position;
    if (way.turned) segment.turn = bound.turn;
    call.segments.push_back(segment);
  }
  const size_t groups = first_binding_.size() - 1;
  call.uses.resize(groups);
  for (size_t g = 0; g < groups; ++g)
    for (size_t b = first_binding_[g]; b < first_binding_[g + 1]; ++b)
      call.uses[g].push_back({static_cast<int32_t>(b)});
  if (own_tokens_ > 0) {
    Segment segment;
    segment.layout = &layout_;
    segment.pages = own_.pages;
    segment.count = own_.count;
    segment.position = positions_.front();
    call.uses.front().push_back({static_cast<int32_t>(call.segments.size())});
    call.segments.push_back(segment);
  }
  // Decode: a request a row; prefill: all rows are one sequence's.
  const size_t rows_each = positions_.size() / groups;
  for (size_t g = 0; g < groups; ++g)
    call.groups.push_back(
        {std::span(row_numbers_).subspan(g * rows_each, rows_each), call.uses[g]});
  return call;
}

Status AttentionScene::prepare(const BenchWay& way) {
  if (way.pages != BenchWay::Pages::kShared && copies_.empty()) LL_RETURN_IF_ERROR(make_copies());
  Call& call = calls_[static_cast<size_t>(&way - kBenchWays.data())];
  if (call.groups.empty()) call = make_call(way);
  return {};
}

AttendArgs AttentionScene::args(const BenchWay& way) const {
  const Call& call = calls_[static_cast<size_t>(&way - kBenchWays.data())];
  AttendArgs args;
  args.way = way.way;
  args.heads = options_.heads.heads;
  args.kv_heads = options_.heads.kv_heads;
  args.head_dim = options_.heads.head_dim;
  args.scale = 1 / std::sqrt(static_cast<float>(args.head_dim));
  args.rotary_dims = args.head_dim;
  args.segments = call.segments;
  args.groups = call.groups;
  args.positions = positions_;
  args.active = rows();
  args.query = reinterpret_cast<const float*>(query_.get());
  args.out = reinterpret_cast<float*>(out_.get());
  return args;
}

void AttentionScene::launch(const BenchWay& way, uint64_t pass) {
  if (way.pages == BenchWay::Pages::kCopied)
    for (size_t b = 0; b < bindings_.size(); ++b) gather(b);
  AttendArgs call = args(way);
  call.pass = pass;
  for (call.layer = 0; call.layer < options_.layers; ++call.layer) device_.attend(call);
}

Expected<std::vector<float>> AttentionScene::results() {
  std::vector<float> values(row_values());
  device_.download(values.data(), out_.get(), values.size() * sizeof(float));
  LL_RETURN_IF_ERROR(device_.wait());
  return values;
}

void AttentionScene::poison_results() { poison(out_.get(), row_values() * sizeof(float)); }

double AttentionScene::floor_bytes() const {
  const AttentionHeads& h = options_.heads;
  double tokens = own_tokens_;
  for (const int count : chunk_tokens_) tokens += count;
  const double kv = tokens * static_cast<double>(layout_.token_bytes());
  // Prefill needs none: a tile of rows goes through all of its keys.
  const bool partials = own_tokens_ == 0 && bindings_.size() > positions_.size();
  const double partial_bytes = 4.0 * (h.head_dim + 2);  // values, largest score, sum of weights
  const double rows = static_cast<double>(positions_.size()) * h.heads;
  return kv + 2 * 4.0 * rows * h.head_dim +
         (partials ? 2 * static_cast<double>(bindings_.size()) * h.heads * partial_bytes : 0);
}

double AttentionScene::flops() const {
  double pairs = 0.5 * own_tokens_ * (own_tokens_ + 1.0);
  for (size_t g = 0; g + 1 < first_binding_.size(); ++g) {
    const double group_rows =
        static_cast<double>(positions_.size()) / static_cast<double>(first_binding_.size() - 1);
    for (size_t b = first_binding_[g]; b < first_binding_[g + 1]; ++b)
      pairs += group_rows * chunk_tokens_[static_cast<size_t>(bindings_[b].chunk)];
  }
  return 4.0 * options_.heads.head_dim * options_.heads.heads * pairs;
}

double AttentionScene::layer_bytes(const AttentionRow& row, const SceneOptions& options) {
  const KvLayout layout{options.kv_type, 1, options.heads.kv_heads, options.heads.head_dim};
  const auto token = static_cast<double>(layout.token_bytes());
  if (const auto* d = std::get_if<DecodeRow>(&row))
    return token * d->tokens *
           std::min<double>(d->pool, static_cast<double>(d->requests) * d->each);
  const auto& p = std::get<PrefillRow>(row);
  return token * (p.cached + p.rows);
}

}  // namespace looseleaf

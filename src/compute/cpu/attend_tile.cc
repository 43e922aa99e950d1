#include "compute/cpu/attend_tile.h"

#include <algorithm>
#include <limits>

#include "compute/cpu/kv_codec.h"
#include "compute/cpu/turn.h"

namespace looseleaf {

void SoftmaxSums::clear(size_t vectors, size_t head_dim) {
  largest_.assign(vectors, -std::numeric_limits<float>::infinity());
  sum_.assign(vectors, 0.0f);
  values_.assign(vectors * padded_dim(head_dim), 0.0f);
}

void AttendTile::set_queries(const AttendArgs& args, int kv_head,
                             std::span<const AttendEntry> entries) {
  args_ = &args;
  entries_ = entries;
  kv_head_ = kv_head;
  share_ = static_cast<size_t>(args.heads / args.kv_heads);
  dim_ = static_cast<size_t>(args.head_dim);
  padded_ = padded_dim(dim_);
  vectors_ = entries.size() * share_;
  queries_.resize(vectors_ * dim_);
  weights_.resize(vectors_ * kPageTokens);
  visible_.resize(entries.size());
  positions_.resize(entries.size());
  rows_.resize(kPageTokens * dim_);
  transposed_.resize(dim_ * kPageTokens);
  page_values_.resize(kPageTokens * padded_);
  float* to = queries_.data();
  for (size_t e = 0; e < entries.size(); ++e) {
    const AttendEntry& entry = entries[e];
    positions_[e] = entry.position;
    const auto head = static_cast<size_t>(entry.row) * static_cast<size_t>(args.heads) +
                      static_cast<size_t>(kv_head) * share_;
    const float* from = args.query + head * dim_;
    for (size_t i = 0; i < share_ * dim_; ++i) to[i] = from[i] * args.scale;
    if (!entry.segment->turn.empty() && args.way != AttendWay::kRotateKeys)
      turn_heads(Turn::kBack, to, static_cast<int>(share_), args.head_dim,
                 entry.segment->turn.data(), args.rotary_dims, args.pairs);
    to += share_ * dim_;
  }
}

SoftmaxState AttendTile::attend(PageRange pages) {
  sums_.clear(vectors_, dim_);
  const AttendArgs& args = *args_;
  // Of the segments that end at different tokens of the same memory, the longest.
  const auto tokens_of = [&](const AttendEntry& e) { return e.segment->tokens(args.layer); };
  const AttendEntry& longest = *std::max_element(
      entries_.begin(), entries_.end(),
      [&](const AttendEntry& a, const AttendEntry& b) { return tokens_of(a) < tokens_of(b); });
  const PageRange seen = visible_pages(entries_, args.layer, args.window, pages);
  for (int page = seen.first; page < seen.end; ++page) {
    if (page + 1 < seen.end) prefetch_page(*longest.segment, page + 1);
    const uint32_t any = visible_masks(entries_, args.layer, args.window, page, visible_);
    if (any != 0) attend_page(*longest.segment, page, tokens_of(longest), any);
  }
  return sums_.state();
}

// Pages lie anywhere, so the processor does not foresee the next one.
void AttendTile::prefetch_page(const Segment& memory, int page) const {
  constexpr int64_t kLine = 64;
  const KvLayout& layout = *memory.layout;
  const std::byte* data = memory.pages[static_cast<size_t>(page)];
  const int64_t bytes = layout.head_bytes();
  for (const int64_t offset :
       {layout.key_offset(args_->layer, kv_head_), layout.value_offset(args_->layer, kv_head_)})
    for (int64_t at = 0; at < bytes; at += kLine)
      __builtin_prefetch(data + offset + at, 0, 2);  // to read, into L2
}

void AttendTile::attend_page(const Segment& memory, int page, int tokens, uint32_t any) {
  const AttendArgs& args = *args_;
  const KvLayout& layout = *memory.layout;
  const int first = page * kPageTokens;
  const int count = std::min(kPageTokens, tokens - first);
  const std::byte* data = memory.pages[static_cast<size_t>(page)];
  const std::byte* keys = data + layout.key_offset(args.layer, kv_head_);
  const bool turned = args.way == AttendWay::kRotateKeys && !memory.turn.empty();
  if (layout.type == KvType::kF32 && !turned) {
    transpose_keys(reinterpret_cast<const float*>(keys), dim_, transposed_.data());
  } else {
    load_kv(layout, keys, 0, count, rows_.data());
    if (turned)
      turn_heads(Turn::kForward, rows_.data(), count, args.head_dim, memory.turn.data(),
                 args.rotary_dims, args.pairs);
    transpose_keys(rows_.data(), dim_, transposed_.data());
  }
  AttendPage p;
  p.vectors = vectors_;
  p.share = share_;
  p.head_dim = dim_;
  p.queries = queries_.data();
  p.keys = transposed_.data();
  p.values = values(layout, data, count, any);
  p.visible = visible_.data();
  p.weights = weights_.data();
  p.state = sums_.state();
  int32_t key_positions[kPageTokens] = {};
  if (!args.alibi.empty()) {
    for (int j = 0; j < count; ++j) key_positions[j] = memory.position_of(first + j);
    p.slopes = args.alibi.data() + static_cast<size_t>(kv_head_) * share_;
    p.key_positions = key_positions;
    p.row_positions = positions_.data();
  }
  looseleaf::attend_page(p);
}

const float* AttendTile::values(const KvLayout& layout, const std::byte* page, int count,
                                uint32_t any) {
  const std::byte* stored = page + layout.value_offset(args_->layer, kv_head_);
  if (layout.type == KvType::kF32 && padded_ == dim_ && any == ~uint32_t{0})
    return reinterpret_cast<const float*>(stored);
  if (padded_ == dim_) {
    load_kv(layout, stored, 0, count, page_values_.data());
  } else {
    load_kv(layout, stored, 0, count, rows_.data());
    for (size_t j = 0; j < static_cast<size_t>(count); ++j)
      std::copy_n(rows_.data() + j * dim_, dim_, page_values_.data() + j * padded_);
  }
  // What nobody sees may be anything: a weight of 0 does not silence a NaN.
  for (size_t j = 0; j < kPageTokens; ++j)
    if (!(any >> j & 1)) std::fill_n(page_values_.data() + j * padded_, padded_, 0.0f);
  return page_values_.data();
}

}  // namespace looseleaf

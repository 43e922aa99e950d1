#include "compute/cuda/key_spans.h"

#include <algorithm>
#include <cmath>

namespace looseleaf::cuda {
namespace {

// Bytes of copies that a layer may have, which must fit beside the cache: 256K tokens of 8 heads of
// 128.
constexpr int64_t kMostWidened = int64_t{1} << 30;

}  // namespace

bool KeySpans::fits(const AttendArgs& args, const Segment& s) {
  if (s.layout->head_dim != args.head_dim) return false;
  return is_swizzled(*s.layout) || is_widened(*s.layout);
}

bool KeySpans::fits(const AttendArgs& args) {
  if (args.head_dim != 64 && args.head_dim != 128) return false;
  if (!args.alibi.empty()) return false;
  if (args.pairs != RopePairs::kHalves || args.rotary_dims != args.head_dim) return false;
  int64_t widened = 0;
  for (const Segment& s : args.segments)
    if (is_widened(*s.layout))
      widened += pages_for(s.tokens(args.layer)) * page_layer_bytes(args.kv_heads, args.head_dim);
  return widened <= kMostWidened;
}

bool KeySpans::differ_by_layer(const AttendArgs& args) {
  return std::ranges::any_of(args.segments, [](const Segment& s) {
    return !s.count_by_layer.empty() || !s.stale.empty() || s.layout->layers == 1;
  });
}

void KeySpans::begin(Gpu& gpu, const AttendArgs& args) {
  pool_ = gpu.pages();
  rows_.clear();
  pages_.clear();
  key_positions_.clear();
  turns_.clear();
  stale_.clear();
  widened_.begin(gpu, args);
}

PrefillSpan KeySpans::add(const AttendArgs& args, const Segment& s) {
  PrefillSpan span;
  span.first_page = static_cast<int32_t>(pages_.size());
  span.tokens = s.tokens(args.layer);
  span.position = s.position;
  for (std::byte* page : s.pages.first(static_cast<size_t>(pages_for(span.tokens))))
    pages_.push_back(is_widened(*s.layout) ? widened_.number(page)
                                           : page_number(*s.layout, args.layer, page, pool_));
  if (!s.turn.empty()) {
    span.turn = static_cast<int32_t>(turns_.size()) / args.head_dim;
    turns_.insert(turns_.end(), s.turn.begin(), s.turn.end());
  }
  if (!s.positions.empty()) {
    span.key_positions = static_cast<int32_t>(key_positions_.size());
    key_positions_.insert(key_positions_.end(), s.positions.begin(),
                          s.positions.begin() + span.tokens);
    // The last step reads them all, in twos.
    key_positions_.resize((key_positions_.size() + kPrefillKeys + 1) / 2 * 2);
  }
  if (!s.stale.empty()) {
    span.stale = static_cast<int32_t>(stale_.size());
    const auto words = static_cast<size_t>(Segment::stale_words(s.count));
    for (const uint64_t word : s.stale.subspan(static_cast<size_t>(args.layer) * words, words)) {
      stale_.push_back(static_cast<uint32_t>(word));
      stale_.push_back(static_cast<uint32_t>(word >> 32));
    }
    stale_.resize(stale_.size() + kPrefillKeys / 32);
  }
  return span;
}

int32_t KeySpans::add_rows(const AttendArgs& args, const RowGroup& group) {
  const auto first = static_cast<int64_t>(rows_.size());
  for (const int32_t row : group.rows)
    if (row < args.active) rows_.push_back(row);
  std::stable_sort(rows_.begin() + first, rows_.end(), [&](int32_t a, int32_t b) {
    return args.positions[static_cast<size_t>(a)] < args.positions[static_cast<size_t>(b)];
  });
  return static_cast<int32_t>(static_cast<int64_t>(rows_.size()) - first);
}

void KeySpans::describe(const AttendArgs& args, Packed& packed) {
  at_.rows = packed.append(rows_);
  at_.positions = packed.append(std::vector<int32_t>(args.positions.begin(), args.positions.end()));
  at_.turns = packed.append(turns_);
  at_.pages = packed.append(pages_);
  at_.key_positions = packed.append(key_positions_);
  at_.stale = packed.append(stale_);
  widened_.describe(packed);
}

void KeySpans::point(const Gpu& gpu, const AttendArgs& args, const std::byte* base,
                     SpanArgs& to) const {
  to.query = args.query;
  to.rows = reinterpret_cast<const int32_t*>(base + at_.rows);
  to.positions = reinterpret_cast<const int32_t*>(base + at_.positions);
  to.turns = reinterpret_cast<const float*>(base + at_.turns);
  to.layer = gpu.pages() + args.layer * page_layer_bytes(args.kv_heads, args.head_dim);
  to.page_bytes = kPageUnit;
  to.pages = reinterpret_cast<const int32_t*>(base + at_.pages);
  to.key_positions = reinterpret_cast<const int32_t*>(base + at_.key_positions);
  to.stale = reinterpret_cast<const uint32_t*>(base + at_.stale);
  to.heads = args.heads;
  to.kv_heads = args.kv_heads;
  to.window = args.window;
  to.scale_log2 = args.scale * static_cast<float>(M_LOG2E);
}

}  // namespace looseleaf::cuda

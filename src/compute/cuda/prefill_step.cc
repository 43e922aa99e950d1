#include "compute/cuda/prefill_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compute/cuda/attend_decode.h"
#include "compute/cuda/attend_prefill.h"

namespace looseleaf::cuda {
namespace {

// Bytes of copies that a layer may have, which must fit beside the cache: 256K tokens of 8 heads of
// 128.
constexpr int64_t kMostWidened = int64_t{1} << 30;

bool fits(const AttendArgs& args, const Segment& s) {
  if (s.layout->head_dim != args.head_dim) return false;
  return is_swizzled(*s.layout) || is_widened(*s.layout);
}

// What the spans of a pass point to, in the layer at hand.
struct Sources {
  Sources(const std::byte* pool, const WidenedPages& widened) : pool_(pool), widened_(widened) {}

  std::vector<int32_t> pages;  // page_number()
  std::vector<float> turns;
  std::vector<int32_t> key_positions;
  std::vector<uint32_t> stale;

  PrefillSpan add(const AttendArgs& args, std::span<const SegmentUse> run,
                  ShortChunks& short_chunks, int32_t position) {
    PrefillSpan span;
    span.first_page = static_cast<int32_t>(pages.size());
    span.position = position;
    span.tokens = short_chunks.add(args, run, pages);
    return span;
  }
  PrefillSpan add(const AttendArgs& args, const Segment& s) {
    PrefillSpan span;
    span.first_page = static_cast<int32_t>(pages.size());
    span.tokens = s.tokens(args.layer);
    span.position = s.position;
    for (std::byte* page : s.pages.first(static_cast<size_t>(pages_for(span.tokens))))
      pages.push_back(is_widened(*s.layout) ? widened_.number(page)
                                            : page_number(*s.layout, args.layer, page, pool_));
    if (!s.turn.empty()) {
      span.turn = static_cast<int32_t>(turns.size()) / args.head_dim;
      turns.insert(turns.end(), s.turn.begin(), s.turn.end());
    }
    if (!s.positions.empty()) {
      span.key_positions = static_cast<int32_t>(key_positions.size());
      key_positions.insert(key_positions.end(), s.positions.begin(),
                           s.positions.begin() + span.tokens);
      // The last step reads them all, in twos.
      key_positions.resize((key_positions.size() + kPrefillKeys + 1) / 2 * 2);
    }
    if (!s.stale.empty()) {
      span.stale = static_cast<int32_t>(stale.size());
      const auto words = static_cast<size_t>(Segment::stale_words(s.count));
      for (const uint64_t word : s.stale.subspan(static_cast<size_t>(args.layer) * words, words)) {
        stale.push_back(static_cast<uint32_t>(word));
        stale.push_back(static_cast<uint32_t>(word >> 32));
      }
      stale.resize(stale.size() + kPrefillKeys / 32);
    }
    return span;
  }

 private:
  const std::byte* pool_;
  const WidenedPages& widened_;
};

bool differs_by_layer(const AttendArgs& args) {
  return std::ranges::any_of(args.segments, [](const Segment& s) {
    return !s.count_by_layer.empty() || !s.stale.empty() || s.layout->layers == 1;
  });
}

void launch_prefill(const PrefillArgs& args, int head_dim, int blocks, cudaStream_t stream) {
  check(attend_prefill(args, head_dim, blocks, stream), "attending");
}

}  // namespace

bool is_prefill_step(const AttendArgs& args) {
  if (args.head_dim != 64 && args.head_dim != 128) return false;
  if (!args.alibi.empty() || args.lse != nullptr) return false;
  if (args.pairs != RopePairs::kHalves || args.rotary_dims != args.head_dim) return false;
  for (const RowGroup& group : args.groups)
    for (const SegmentUse& use : group.uses)
      if (!fits(args, args.segments[static_cast<size_t>(use.segment)])) return false;
  int64_t widened = 0;
  for (const Segment& s : args.segments)
    if (is_widened(*s.layout))
      widened += pages_for(s.tokens(args.layer)) * page_layer_bytes(args.kv_heads, args.head_dim);
  return widened <= kMostWidened;
}

void PrefillStep::plan(Gpu& gpu, const AttendArgs& args) {
  short_chunks_.begin(gpu, args);
  widened_.begin(gpu, args);
  if (gpu.failed()) return;
  Sources sources(gpu.pages(), widened_);
  std::vector<PrefillSpan> of_segment;
  for (const Segment& s : args.segments)
    of_segment.push_back(fits(args, s) ? sources.add(args, s) : PrefillSpan{});
  std::vector<int32_t> rows;
  std::vector<std::vector<PrefillSpan>> spans;
  std::vector<PrefillGroup> groups;
  for (const RowGroup& group : args.groups) {
    const auto first = rows.size();
    for (const int32_t row : group.rows)
      if (row < args.active) rows.push_back(row);
    std::stable_sort(
        rows.begin() + static_cast<int64_t>(first), rows.end(), [&](int32_t a, int32_t b) {
          return args.positions[static_cast<size_t>(a)] < args.positions[static_cast<size_t>(b)];
        });
    spans.emplace_back();
    for (auto uses = group.uses; !uses.empty();) {
      const size_t run = short_chunks_.run_length(args, group, uses);
      PrefillSpan span = of_segment[static_cast<size_t>(uses[0].segment)];
      if (run > 0) span = sources.add(args, uses.first(run), short_chunks_, span.position);
      span.limit = uses[0].limit;
      spans.back().push_back(span);
      uses = uses.subspan(std::max<size_t>(run, 1));
    }
    groups.push_back({static_cast<int32_t>(first), static_cast<int32_t>(rows.size() - first), {}});
  }
  for (size_t g = 0; g < groups.size(); ++g) groups[g].spans = spans[g];
  const int blocks = gpu.properties().multiProcessorCount;
  const PrefillPlan& plan =
      planner_.plan({args.heads, args.kv_heads, blocks, args.window}, groups, rows, args.positions);

  packed_.bytes.clear();
  at_.items = packed_.append(plan.items);
  at_.first_item = packed_.append(plan.first_item);
  at_.spans = packed_.append(plan.spans);
  at_.merged = packed_.append(plan.merged);
  at_.first_partial = packed_.append(plan.first_partial);
  at_.rows = packed_.append(rows);
  at_.positions =
      packed_.append(std::vector<int32_t>(args.positions.begin(), args.positions.end()));
  at_.turns = packed_.append(sources.turns);
  at_.pages = packed_.append(sources.pages);
  at_.key_positions = packed_.append(sources.key_positions);
  at_.stale = packed_.append(sources.stale);
  short_chunks_.describe(packed_);
  widened_.describe(packed_);
  partials_ = roomy(static_cast<size_t>(plan.first_partial.back()));
  merged_ = static_cast<int>(plan.merged.size());
  described_.set(gpu, packed_.bytes);
}

void PrefillStep::run(Gpu& gpu, const AttendArgs& args) {
  const bool same_rows = std::exchange(active_, args.active) == args.active;
  const bool holds = prepared_.renew(differs_by_layer(args) ? 0 : args.pass);
  if (!holds || !same_rows || !short_chunks_.holds(gpu) || !widened_.holds(gpu)) plan(gpu, args);
  if (gpu.failed()) return;
  const std::byte* base = described_.get();
  const auto dim = static_cast<size_t>(args.head_dim);
  auto* partial_values = gpu.scratch<float>(Gpu::kPartials, partials_ * (dim + 2));
  if (gpu.failed()) return;
  PrefillArgs prefill;
  std::memset(&prefill, 0, sizeof prefill);  // padding too: launches are compared as bytes
  prefill.query = args.query;
  prefill.rows = reinterpret_cast<const int32_t*>(base + at_.rows);
  prefill.positions = reinterpret_cast<const int32_t*>(base + at_.positions);
  prefill.turns = reinterpret_cast<const float*>(base + at_.turns);
  prefill.layer = gpu.pages() + args.layer * page_layer_bytes(args.kv_heads, args.head_dim);
  prefill.page_bytes = kPageUnit;
  prefill.pages = reinterpret_cast<const int32_t*>(base + at_.pages);
  prefill.key_positions = reinterpret_cast<const int32_t*>(base + at_.key_positions);
  prefill.stale = reinterpret_cast<const uint32_t*>(base + at_.stale);
  prefill.heads = args.heads;
  prefill.kv_heads = args.kv_heads;
  prefill.window = args.window;
  prefill.scale_log2 = args.scale * static_cast<float>(M_LOG2E);
  prefill.items = reinterpret_cast<const PrefillItem*>(base + at_.items);
  prefill.first_item = reinterpret_cast<const int32_t*>(base + at_.first_item);
  prefill.spans = reinterpret_cast<const PrefillSpan*>(base + at_.spans);
  prefill.partial_values = partial_values;
  prefill.partial_softmax = reinterpret_cast<float2*>(partial_values + partials_ * dim);
  prefill.out = args.out;
  prefill.rotate_keys = args.way == AttendWay::kRotateKeys;
  short_chunks_.launch(gpu, args, base);
  widened_.launch(gpu, args, base);
  gpu.launch(&launch_prefill, prefill, args.head_dim, gpu.properties().multiProcessorCount);
  MergeArgs merge;
  std::memset(&merge, 0, sizeof merge);
  merge.partial_values = prefill.partial_values;
  merge.partial_softmax = prefill.partial_softmax;
  merge.first_partial = reinterpret_cast<const int32_t*>(base + at_.first_partial);
  merge.merged = reinterpret_cast<const int32_t*>(base + at_.merged);
  merge.out = args.out;
  merge.queries = merged_;
  gpu.launch(&launch_merge, merge, args.head_dim);
}

}  // namespace looseleaf::cuda

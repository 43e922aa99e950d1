#include "compute/cuda/prefill_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "compute/cuda/attend_decode.h"
#include "compute/cuda/attend_prefill.h"
#include "compute/cuda/kernels.h"
#include "compute/cuda/kv_kernels.h"
#include "compute/cuda/packed.h"

namespace looseleaf::cuda {
namespace {

// Bytes of copies that a layer may have, which must fit beside the cache: 256K tokens of 8 heads of
// 128.
constexpr int64_t kMostWidened = int64_t{1} << 30;

bool fits(const AttendArgs& args, const Segment& s) {
  if (s.layout->head_dim != args.head_dim) return false;
  if (!is_widened(*s.layout) &&
      (!is_swizzled(*s.layout) ||
       s.layout->layer_offset(args.layer) != args.layer * s.layout->layer_bytes()))
    return false;
  const auto count = static_cast<size_t>(s.tokens(args.layer));
  return s.positions.empty() ||
         std::is_sorted(s.positions.begin(), s.positions.begin() + static_cast<int64_t>(count));
}

// What the spans of a pass point to, in the layer at hand.
struct Sources {
  std::vector<int32_t> pages;      // of spans: places in `stored`, or ~place in `widened`
  std::vector<std::byte*> stored;  // pages that are multiplied as they lie
  std::vector<GpuPage> widened;    // pages that are copied to bf16, each once
  std::vector<PageView> views;     // of widened ones
  std::vector<float> turns;
  std::vector<int32_t> key_positions;
  std::vector<uint32_t> stale;

  PrefillSpan add(const AttendArgs& args, const Segment& s) {
    PrefillSpan span;
    span.first_page = static_cast<int32_t>(pages.size());
    span.tokens = s.tokens(args.layer);
    span.position = s.position;
    add_pages(*s.layout, s.pages.first(static_cast<size_t>(pages_for(span.tokens))));
    if (!s.turn.empty()) {
      span.turn = static_cast<int32_t>(turns.size()) / args.head_dim;
      turns.insert(turns.end(), s.turn.begin(), s.turn.end());
    }
    if (!s.positions.empty()) {
      span.key_positions = static_cast<int32_t>(key_positions.size());
      key_positions.insert(key_positions.end(), s.positions.begin(),
                           s.positions.begin() + span.tokens);
      key_positions.resize(key_positions.size() + kPrefillKeys);  // the last step reads them all
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

  // Numbers of pages as the kernel takes them. first: those of `stored`
  std::vector<int32_t> numbers(const PageNumbers& first, int64_t layer_bytes) const {
    const auto apart = static_cast<int32_t>(layer_bytes / kPageUnit);
    std::vector<int32_t> result;
    for (const int32_t page : pages)
      result.push_back(page < 0 ? ~(~page * apart) : first.numbers[static_cast<size_t>(page)]);
    return result;
  }

 private:
  void add_pages(const KvLayout& layout, std::span<std::byte* const> own) {
    if (!is_widened(layout)) {
      for (std::byte* page : own) {
        pages.push_back(static_cast<int32_t>(stored.size()));
        stored.push_back(page);
      }
      return;
    }
    const auto [view, is_new] =
        view_of_.try_emplace({layout.type, layout.first_layer, layout.layers}, views.size());
    if (is_new) views.push_back(page_view(layout));
    for (std::byte* page : own) {
      const auto [place, added] = place_of_.try_emplace(page, static_cast<int32_t>(widened.size()));
      if (added) widened.push_back({page, static_cast<int64_t>(view->second)});
      pages.push_back(~place->second);
    }
  }

  std::map<std::tuple<KvType, int, int>, size_t> view_of_;
  std::unordered_map<std::byte*, int32_t> place_of_;  // in `widened`
};

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

void PrefillStep::run(Gpu& gpu, const AttendArgs& args) {
  Sources sources;
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
    for (const SegmentUse& use : group.uses) {
      spans.back().push_back(of_segment[static_cast<size_t>(use.segment)]);
      spans.back().back().limit = use.limit;
    }
    groups.push_back({static_cast<int32_t>(first), static_cast<int32_t>(rows.size() - first), {}});
  }
  for (size_t g = 0; g < groups.size(); ++g) groups[g].spans = spans[g];
  const int blocks = gpu.properties().multiProcessorCount;
  const PrefillPlan& plan =
      planner_.plan({args.heads, args.kv_heads, blocks, args.window}, groups, rows, args.positions);

  Packed packed;
  const PageNumbers numbered(sources.stored);
  const int64_t layer_bytes = page_layer_bytes(args.kv_heads, args.head_dim);
  const size_t items = packed.append(plan.items), first_item = packed.append(plan.first_item);
  const size_t span_list = packed.append(plan.spans), merged = packed.append(plan.merged);
  const size_t first_partial = packed.append(plan.first_partial), row_list = packed.append(rows);
  const size_t positions =
      packed.append(std::vector<int32_t>(args.positions.begin(), args.positions.end()));
  const size_t turns = packed.append(sources.turns),
               pages = packed.append(sources.numbers(numbered, layer_bytes));
  const size_t key_positions = packed.append(sources.key_positions);
  const size_t stale = packed.append(sources.stale);
  const size_t views = packed.append(sources.views), widened = packed.append(sources.widened);
  const std::byte* base = staged_.get(gpu, packed.bytes);

  const auto dim = static_cast<size_t>(args.head_dim);
  const auto partials = static_cast<size_t>(plan.first_partial.back());
  const size_t values = static_cast<size_t>(args.active) * static_cast<size_t>(args.heads) * dim;
  auto* partial_values = gpu.scratch<float>(Gpu::kPartials, partials * (dim + 2));
  auto* query = gpu.scratch<__nv_bfloat16>(Gpu::kInput, values);
  auto* out = gpu.scratch<__nv_bfloat16>(Gpu::kOutput, values);
  auto* copies = gpu.scratch<std::byte>(Gpu::kWidened,
                                        sources.widened.size() * static_cast<size_t>(layer_bytes));
  if (gpu.failed()) return;
  narrow(args.query, static_cast<int64_t>(values), Number::kBF16, query, gpu.stream());
  widen_pages(reinterpret_cast<const PageView*>(base + views),
              reinterpret_cast<const GpuPage*>(base + widened),
              static_cast<int>(sources.widened.size()), args.kv_heads, args.layer, copies,
              gpu.stream());
  PrefillArgs prefill{};
  prefill.query = query;
  prefill.rows = reinterpret_cast<const int32_t*>(base + row_list);
  prefill.positions = reinterpret_cast<const int32_t*>(base + positions);
  prefill.turns = reinterpret_cast<const float*>(base + turns);
  prefill.layer = numbered.lowest + args.layer * layer_bytes;
  prefill.widened = copies;
  prefill.page_bytes = kPageUnit;
  prefill.pages = reinterpret_cast<const int32_t*>(base + pages);
  prefill.key_positions = reinterpret_cast<const int32_t*>(base + key_positions);
  prefill.stale = reinterpret_cast<const uint32_t*>(base + stale);
  prefill.heads = args.heads;
  prefill.kv_heads = args.kv_heads;
  prefill.window = args.window;
  prefill.scale_log2 = args.scale * static_cast<float>(M_LOG2E);
  prefill.items = reinterpret_cast<const PrefillItem*>(base + items);
  prefill.first_item = reinterpret_cast<const int32_t*>(base + first_item);
  prefill.spans = reinterpret_cast<const PrefillSpan*>(base + span_list);
  prefill.partial_values = partial_values;
  prefill.partial_softmax = reinterpret_cast<float2*>(partial_values + partials * dim);
  prefill.out = out;
  check(attend_prefill(prefill, args.head_dim, blocks, gpu.stream()), "attending");
  MergeArgs merge{};
  merge.partial_values = prefill.partial_values;
  merge.partial_softmax = prefill.partial_softmax;
  merge.first_partial = reinterpret_cast<const int32_t*>(base + first_partial);
  merge.merged = reinterpret_cast<const int32_t*>(base + merged);
  merge.out = out;
  merge.queries = static_cast<int>(plan.merged.size());
  check(merge_partials(merge, args.head_dim, gpu.stream()), "merging attention");
  widen_bf16(out, static_cast<int64_t>(values), args.out, gpu.stream());
}

}  // namespace looseleaf::cuda

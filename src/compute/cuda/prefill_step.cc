#include "compute/cuda/prefill_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/cuda/attend_decode.h"
#include "compute/cuda/attend_prefill.h"

namespace looseleaf::cuda {
namespace {

void launch_prefill(const PrefillArgs& args, int head_dim, int blocks, cudaStream_t stream) {
  check(attend_prefill(args, head_dim, blocks, stream), "attending");
}

}  // namespace

bool is_prefill_step(const AttendArgs& args) {
  for (const RowGroup& group : args.groups)
    for (const SegmentUse& use : group.uses)
      if (!KeySpans::fits(args, args.segments[static_cast<size_t>(use.segment)])) return false;
  return KeySpans::fits(args);
}

// A run of short chunks that is gathered at `position`.
PrefillSpan PrefillStep::short_span(const AttendArgs& args, std::span<const SegmentUse> run,
                                    int32_t position) {
  PrefillSpan span;
  span.first_page = static_cast<int32_t>(spans_.pages().size());
  span.position = position;
  span.tokens = short_chunks_.add(args, run, spans_.pages());
  return span;
}

void PrefillStep::plan(Gpu& gpu, const AttendArgs& args) {
  short_chunks_.begin(gpu, args);
  spans_.begin(gpu, args);
  if (gpu.failed()) return;
  std::vector<PrefillSpan> of_segment;
  for (const Segment& s : args.segments)
    of_segment.push_back(KeySpans::fits(args, s) ? spans_.add(args, s) : PrefillSpan{});
  std::vector<std::vector<PrefillSpan>> spans;
  std::vector<PrefillGroup> groups;
  for (const RowGroup& group : args.groups) {
    spans.emplace_back();
    for (auto uses = group.uses; !uses.empty();) {
      const size_t run = short_chunks_.run_length(args, group, uses);
      PrefillSpan span = of_segment[static_cast<size_t>(uses[0].segment)];
      if (run > 0) span = short_span(args, uses.first(run), span.position);
      span.limit = uses[0].limit;
      spans.back().push_back(span);
      uses = uses.subspan(std::max<size_t>(run, 1));
    }
    const auto first = static_cast<int32_t>(spans_.rows().size());
    groups.push_back({first, spans_.add_rows(args, group), {}});
  }
  for (size_t g = 0; g < groups.size(); ++g) groups[g].spans = spans[g];
  const int blocks = gpu.properties().multiProcessorCount;
  const PrefillPlan& plan = planner_.plan({args.heads, args.kv_heads, blocks, args.window}, groups,
                                          spans_.rows(), args.positions);

  packed_.bytes.clear();
  at_.items = packed_.append(plan.items);
  at_.first_item = packed_.append(plan.first_item);
  at_.spans = packed_.append(plan.spans);
  at_.merged = packed_.append(plan.merged);
  at_.first_partial = packed_.append(plan.first_partial);
  spans_.describe(args, packed_);
  short_chunks_.describe(packed_);
  partials_ = roomy(static_cast<size_t>(plan.first_partial.back()));
  merged_ = static_cast<int>(plan.merged.size());
  described_.set(gpu, packed_.bytes);
}

void PrefillStep::run(Gpu& gpu, const AttendArgs& args) {
  const bool same_rows = std::exchange(active_, args.active) == args.active;
  const bool holds = prepared_.renew(KeySpans::differ_by_layer(args) ? 0 : args.pass);
  if (!holds || !same_rows || !short_chunks_.holds(gpu) || !spans_.holds(gpu)) plan(gpu, args);
  if (gpu.failed()) return;
  const std::byte* base = described_.get();
  const auto dim = static_cast<size_t>(args.head_dim);
  auto* partial_values = gpu.scratch<float>(Gpu::kPartials, partials_ * (dim + 2));
  if (gpu.failed()) return;
  PrefillArgs prefill;
  std::memset(&prefill, 0, sizeof prefill);  // padding too: launches are compared as bytes
  spans_.point(gpu, args, base, prefill);
  prefill.items = reinterpret_cast<const PrefillItem*>(base + at_.items);
  prefill.first_item = reinterpret_cast<const int32_t*>(base + at_.first_item);
  prefill.spans = reinterpret_cast<const PrefillSpan*>(base + at_.spans);
  prefill.partial_values = partial_values;
  prefill.partial_softmax = reinterpret_cast<float2*>(partial_values + partials_ * dim);
  prefill.out = args.out;
  prefill.lse = args.lse;
  prefill.rotate_keys = args.way == AttendWay::kRotateKeys;
  short_chunks_.launch(gpu, args, base);
  spans_.launch(gpu, args, base);
  gpu.launch(&launch_prefill, prefill, args.head_dim, gpu.properties().multiProcessorCount);
  MergeArgs merge;
  std::memset(&merge, 0, sizeof merge);
  merge.partial_values = prefill.partial_values;
  merge.partial_softmax = prefill.partial_softmax;
  merge.first_partial = reinterpret_cast<const int32_t*>(base + at_.first_partial);
  merge.merged = reinterpret_cast<const int32_t*>(base + at_.merged);
  merge.out = args.out;
  merge.lse = args.lse;
  merge.queries = merged_;
  gpu.launch(&launch_merge, merge, args.head_dim);
}

}  // namespace looseleaf::cuda

#include "compute/cuda/decode_step.h"

#include <cmath>
#include <map>
#include <tuple>

#include "compute/cuda/kernels.h"
#include "compute/cuda/packed.h"

namespace looseleaf::cuda {
namespace {

bool fits(const AttendArgs& args, const Segment& s, int32_t position) {
  if (!s.stale.empty() || !s.positions.empty() || !s.count_by_layer.empty()) return false;
  if (s.layout->layer_offset(args.layer) != args.layer * s.layout->layer_bytes()) return false;
  return decode_type(*s.layout) >= 0 && int64_t{s.position} + s.count - 1 <= position &&
         s.layout->head_dim == args.head_dim;
}

}  // namespace

bool is_decode_step(const AttendArgs& args) {
  if (args.head_dim != 64 && args.head_dim != 128) return false;
  if (args.window > 0 || !args.alibi.empty() || args.lse != nullptr) return false;
  if (args.pairs != RopePairs::kHalves || args.rotary_dims != args.head_dim) return false;
  if (args.heads / args.kv_heads > kItemVectors) return false;
  for (const RowGroup& group : args.groups) {
    if (group.rows.empty() || group.rows[0] >= args.active) continue;
    if (group.rows.size() > 1 && group.rows[1] < args.active) return false;
    const int32_t position = args.positions[static_cast<size_t>(group.rows[0])];
    for (const SegmentUse& use : group.uses)
      if (use.limit != kNoLimit ||
          !fits(args, args.segments[static_cast<size_t>(use.segment)], position))
        return false;
  }
  return true;
}

void DecodeStep::run(Gpu& gpu, const AttendArgs& args) {
  // The same pages bound at several places are one chunk. All are compared: texts may share their
  // first ones only.
  std::vector<PlanChunk> chunks;
  std::vector<int> types;  // of chunks
  std::vector<std::byte*> pages;
  std::vector<float> turns;
  std::vector<PlanUse> of_segment(args.segments.size());
  std::map<std::tuple<int, int32_t, std::vector<std::byte*>>, int32_t> known;
  for (size_t i = 0; i < args.segments.size(); ++i) {
    const Segment& s = args.segments[i];
    std::vector<std::byte*> own(s.pages.begin(), s.pages.begin() + pages_for(s.count));
    const auto first_page = static_cast<int32_t>(pages.size());
    const int type = decode_type(*s.layout);
    const auto [found, added] =
        known.try_emplace({type, s.count, std::move(own)}, static_cast<int32_t>(chunks.size()));
    if (added) {
      chunks.push_back({first_page, s.count});
      types.push_back(type);
      const auto& listed = std::get<2>(found->first);
      pages.insert(pages.end(), listed.begin(), listed.end());
    }
    of_segment[i].chunk = found->second;
    if (s.turn.empty()) continue;
    of_segment[i].turn = static_cast<int32_t>(turns.size()) / args.head_dim;
    turns.insert(turns.end(), s.turn.begin(), s.turn.end());
  }
  // The plan knows requests by number; rows of the pass that do not attend have no uses.
  std::vector<std::vector<PlanUse>> of_row(static_cast<size_t>(args.active));
  for (const RowGroup& group : args.groups) {
    if (group.rows.empty() || group.rows[0] >= args.active) continue;
    for (const SegmentUse& use : group.uses)
      of_row[static_cast<size_t>(group.rows[0])].push_back(
          of_segment[static_cast<size_t>(use.segment)]);
  }
  std::vector<PlanUse> uses;
  std::vector<int32_t> first_use = {0};
  for (const auto& row : of_row) {
    uses.insert(uses.end(), row.begin(), row.end());
    first_use.push_back(static_cast<int32_t>(uses.size()));
  }
  const int blocks = kDecodeBlocksPerSm * gpu.properties().multiProcessorCount;
  const AttendPlansByType plan =
      planner_.plan({args.heads, args.kv_heads, blocks}, chunks, types, uses, first_use);

  Packed packed;
  struct Work {
    size_t items, first_item, vectors;  // where they are packed
  };
  std::array<Work, kDecodeTypes.size()> work{};
  for (size_t t = 0; t < work.size(); ++t)
    if (const AttendPlan* own = plan.of_type[t])
      work[t] = {packed.append(own->items), packed.append(own->first_item),
                 packed.append(own->vectors)};
  const size_t first_partial =
      packed.append(std::vector<int32_t>(plan.first_partial.begin(), plan.first_partial.end()));
  const PageNumbers numbered(pages);
  const size_t page_list = packed.append(numbered.numbers), turn_list = packed.append(turns);
  const std::byte* base = staged_.get(gpu, packed.bytes);

  const auto dim = static_cast<size_t>(args.head_dim);
  const auto partials = static_cast<size_t>(plan.first_partial.back());
  const size_t queries = static_cast<size_t>(args.active) * static_cast<size_t>(args.heads);
  auto* values = gpu.scratch<float>(Gpu::kPartials, partials * (dim + 2));
  auto* query = gpu.scratch<__nv_bfloat16>(Gpu::kInput, queries * dim);
  auto* out = gpu.scratch<__nv_bfloat16>(Gpu::kOutput, queries * dim);
  if (gpu.failed()) return;
  const auto count = static_cast<int64_t>(queries * dim);
  narrow(args.query, count, Number::kBF16, query, gpu.stream());
  DecodeArgs decode{};
  decode.query = query;
  decode.turns = reinterpret_cast<const float*>(base + turn_list);
  decode.page_bytes = kPageUnit;
  decode.pages = reinterpret_cast<const int32_t*>(base + page_list);
  decode.kv_heads = args.kv_heads;
  decode.scale_log2 = args.scale * static_cast<float>(M_LOG2E);
  decode.partial_values = values;
  decode.partial_softmax = reinterpret_cast<float2*>(values + partials * dim);
  bool overlapping = false;
  for (size_t t = 0; t < work.size(); ++t) {
    if (plan.of_type[t] == nullptr) continue;
    const KvLayout layout{kDecodeTypes[t].type, 1, args.kv_heads, args.head_dim};
    decode.layer = numbered.lowest + args.layer * layout.layer_bytes();
    decode.items = reinterpret_cast<const WorkItem*>(base + work[t].items);
    decode.first_item = reinterpret_cast<const int32_t*>(base + work[t].first_item);
    decode.vectors = reinterpret_cast<const QueryVector*>(base + work[t].vectors);
    check(kDecodeTypes[t].attend(decode, args.head_dim, blocks, overlapping, gpu.stream()),
          "attending");
    overlapping = true;
  }
  MergeArgs merge{};
  merge.partial_values = decode.partial_values;
  merge.partial_softmax = decode.partial_softmax;
  merge.first_partial = reinterpret_cast<const int32_t*>(base + first_partial);
  merge.out = out;
  merge.queries = static_cast<int>(queries);
  check(merge_partials(merge, args.head_dim, gpu.stream()), "merging attention");
  widen_bf16(out, count, args.out, gpu.stream());
}

}  // namespace looseleaf::cuda

#include "compute/cuda/decode_step.h"

#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "compute/cuda/kernels.h"

namespace looseleaf::cuda {
namespace {

bool fits(const AttendArgs& args, const Segment& s, int32_t position) {
  if (!s.stale.empty() || !s.positions.empty() || !s.count_by_layer.empty()) return false;
  // One plan is for all layers, and pages have numbers.
  if (s.layout->layers == 1 || s.layout->first_layer > 0) return false;
  return decode_type(*s.layout) >= 0 && int64_t{s.position} + s.count - 1 <= position &&
         s.layout->head_dim == args.head_dim;
}

int blocks_of(const Gpu& gpu) { return kDecodeBlocksPerSm * gpu.properties().multiProcessorCount; }

void launch_decode(decltype(DecodeType::attend) attend, const DecodeArgs& args, int head_dim,
                   int blocks, bool overlapping, cudaStream_t stream) {
  check(attend(args, head_dim, blocks, overlapping, stream), "attending");
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

void DecodeStep::plan(Gpu& gpu, const AttendArgs& args) {
  // The same pages bound at several places are one chunk. All are compared: texts may share their
  // first ones only.
  std::vector<PlanChunk> chunks;
  std::vector<int> types;      // of chunks
  std::vector<int32_t> pages;  // page_number()
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
      for (const std::byte* page : std::get<2>(found->first))
        pages.push_back(page_number(*s.layout, args.layer, page, gpu.pages()));
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
  const AttendPlansByType plan =
      planner_.plan({args.heads, args.kv_heads, blocks_of(gpu), args.way == AttendWay::kDeferred},
                    chunks, types, uses, first_use);

  packed_.bytes.clear();
  for (size_t t = 0; t < work_.size(); ++t) {
    const AttendPlan* own = plan.of_type[t];
    work_[t].any = own != nullptr;
    if (own != nullptr)
      work_[t] = {true, packed_.append(own->items), packed_.append(own->first_item),
                  packed_.append(own->vectors)};
  }
  first_partial_at_ =
      packed_.append(std::vector<int32_t>(plan.first_partial.begin(), plan.first_partial.end()));
  pages_at_ = packed_.append(pages);
  turns_at_ = packed_.append(turns);
  partials_ = roomy(static_cast<size_t>(plan.first_partial.back()));
  described_.set(gpu, packed_.bytes);
}

void DecodeStep::run(Gpu& gpu, const AttendArgs& args, Rounded rounded) {
  if (!prepared_.renew(args.pass)) plan(gpu, args);
  const std::byte* base = described_.get();
  const auto dim = static_cast<size_t>(args.head_dim);
  auto* values = gpu.scratch<float>(Gpu::kPartials, partials_ * (dim + 2));
  if (gpu.failed()) return;
  DecodeArgs decode;
  std::memset(&decode, 0, sizeof decode);  // padding too: launches are compared as bytes
  decode.query = args.query;
  decode.turns = reinterpret_cast<const float*>(base + turns_at_);
  decode.page_bytes = kPageUnit;
  decode.pages = reinterpret_cast<const int32_t*>(base + pages_at_);
  decode.kv_heads = args.kv_heads;
  decode.scale_log2 = args.scale * static_cast<float>(M_LOG2E);
  decode.partial_values = values;
  decode.partial_softmax = reinterpret_cast<float2*>(values + partials_ * dim);
  decode.rotate_keys = args.way == AttendWay::kRotateKeys;
  bool overlapping = false;
  for (size_t t = 0; t < work_.size(); ++t) {
    if (!work_[t].any) continue;
    const KvLayout layout{kDecodeTypes[t].type, 1, args.kv_heads, args.head_dim};
    decode.layer = gpu.pages() + args.layer * layout.layer_bytes();
    decode.items = reinterpret_cast<const WorkItem*>(base + work_[t].items);
    decode.first_item = reinterpret_cast<const int32_t*>(base + work_[t].first_item);
    decode.vectors = reinterpret_cast<const QueryVector*>(base + work_[t].vectors);
    gpu.launch(&launch_decode, kDecodeTypes[t].attend, decode, args.head_dim, blocks_of(gpu),
               overlapping);
    overlapping = true;
  }
  MergeArgs merge;
  std::memset(&merge, 0, sizeof merge);
  merge.partial_values = decode.partial_values;
  merge.partial_softmax = decode.partial_softmax;
  merge.first_partial = reinterpret_cast<const int32_t*>(base + first_partial_at_);
  merge.out = args.out;
  merge.rounded = rounded.to;
  merge.rounded_type = rounded.type;
  merge.queries = args.active * args.heads;
  gpu.launch(&launch_merge, merge, args.head_dim);
}

}  // namespace looseleaf::cuda

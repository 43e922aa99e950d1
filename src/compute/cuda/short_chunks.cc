#include "compute/cuda/short_chunks.h"

namespace looseleaf::cuda {
namespace {

// Measured on one H200 (docs/kernels.md): chunks of 100 tokens cost twice what their tokens do,
// chunks of 512 3 % more; gathering costs what some 200 rows save.
constexpr int32_t kShort = 192;  // tokens
constexpr size_t kManyVectors = 1024;

const Segment& segment_of(const AttendArgs& args, const SegmentUse& use) {
  return args.segments[static_cast<size_t>(use.segment)];
}

bool is_short(const Segment& s) {
  return s.count <= kShort && s.positions.empty() && s.stale.empty() && s.count_by_layer.empty() &&
         s.layout->layers > 1 && is_swizzled(*s.layout);
}

// As run_length().
size_t short_run(const AttendArgs& args, const RowGroup& group, std::span<const SegmentUse> uses) {
  const auto share = static_cast<size_t>(args.heads / args.kv_heads);
  if (group.rows.size() * share < kManyVectors || args.way != AttendWay::kDeferred) return 0;
  size_t length = 0;
  for (int32_t end = 0; length < uses.size(); ++length) {
    const Segment& s = segment_of(args, uses[length]);
    if (!is_short(s)) break;
    if (length > 0 && (s.position != end || uses[length].limit != uses[0].limit ||
                       *s.layout != *segment_of(args, uses[0]).layout))
      break;
    end = s.position + s.count;
  }
  return length < 2 ? 0 : length;
}

}  // namespace

void ShortChunks::begin(Gpu& gpu, const AttendArgs& args) {
  layout_ = nullptr;
  scratch_.clear();
  pages_ = 0;
  moves_.clear();
  turns_.clear();
  int64_t pages = 0;
  for (const RowGroup& group : args.groups)
    for (size_t u = 0; u < group.uses.size();) {
      const size_t length = short_run(args, group, group.uses.subspan(u));
      int32_t tokens = 0;
      for (const SegmentUse& use : group.uses.subspan(u, length)) {
        tokens += segment_of(args, use).count;
        layout_ = segment_of(args, use).layout;
      }
      pages += pages_for(tokens);
      u += std::max<size_t>(length, 1);
    }
  if (layout_ == nullptr) return;
  if (!scratch_.take(gpu, pages, layout_->layer_bytes(), layout_->first_layer + layout_->layers))
    layout_ = nullptr;
}

size_t ShortChunks::run_length(const AttendArgs& args, const RowGroup& group,
                               std::span<const SegmentUse> uses) const {
  return layout_ == nullptr ? 0 : short_run(args, group, uses);
}

int32_t ShortChunks::add(const AttendArgs& args, std::span<const SegmentUse> run,
                         std::vector<int32_t>& pages) {
  int32_t tokens = 0;
  for (const SegmentUse& use : run) {
    const Segment& s = segment_of(args, use);
    int32_t turn = -1;
    if (!s.turn.empty()) {
      turn = static_cast<int32_t>(turns_.size()) / args.rotary_dims;
      turns_.insert(turns_.end(), s.turn.begin(), s.turn.end());
    }
    for (int32_t i = 0; i < s.count; ++i, ++tokens)
      moves_.push_back({s.pages[static_cast<size_t>(i / kPageTokens)],
                        scratch_.page(pages_ + tokens / kPageTokens), i % kPageTokens,
                        tokens % kPageTokens, 0, 1, turn});
  }
  for (const int32_t end = pages_ + pages_for(tokens); pages_ < end; ++pages_)
    pages.push_back(scratch_.number(pages_));
  return tokens;
}

void ShortChunks::describe(Packed& packed) {
  if (layout_ == nullptr) return;
  PageView view = page_view(*layout_);
  view.layer_stride = layout_->layer_bytes();
  view.first_layer = 0;
  moves_at_ = packed.append(moves_);
  turns_at_ = packed.append(turns_);
  views_at_ = packed.append(std::vector<PageView>{page_view(*layout_), view});
}

void ShortChunks::launch(Gpu& gpu, const AttendArgs& args, const std::byte* base) const {
  if (layout_ == nullptr || moves_.empty()) return;
  gpu.launch(&gather, reinterpret_cast<const PageView*>(base + views_at_),
             reinterpret_cast<const GpuMove*>(base + moves_at_), static_cast<int>(moves_.size()),
             layout_->kv_heads, args.layer, reinterpret_cast<const float*>(base + turns_at_),
             args.rotary_dims, args.pairs);
}

}  // namespace looseleaf::cuda

#include "compute/cuda/mass_step.h"

#include <cstring>
#include <utility>

#include "compute/cuda/attend_mass_hopper.h"

namespace looseleaf::cuda {
namespace {

const Segment& segment_of(const AttendArgs& args, const SegmentUse& use) {
  return args.segments[static_cast<size_t>(use.segment)];
}

int blocks_of(const Gpu& gpu) { return kMassBlocksPerSm * gpu.properties().multiProcessorCount; }

void launch_mass(const MassArgs& args, int head_dim, int blocks, cudaStream_t stream) {
  check(attend_mass_hopper(args, head_dim, blocks, stream), "scoring");
}

void launch_sums(const AddMassArgs& args, cudaStream_t stream) {
  check(add_mass(args, stream), "adding scores");
}

}  // namespace

bool is_mass_step(const AttendArgs& args) {
  for (const Segment& s : args.segments)
    if (!KeySpans::fits(args, s)) return false;
  return KeySpans::fits(args);
}

void MassStep::plan(Gpu& gpu, const AttendArgs& args) {
  spans_.begin(gpu, args);
  if (gpu.failed()) return;
  std::vector<PrefillSpan> spans;
  std::vector<std::vector<MassUse>> uses;
  std::vector<MassGroup> groups;
  for (const RowGroup& group : args.groups) {
    uses.emplace_back();
    for (const SegmentUse& use : group.uses) {
      if (use.mass < 0) continue;
      PrefillSpan span = spans_.add(args, segment_of(args, use));
      span.limit = use.limit;
      uses.back().push_back({static_cast<int32_t>(spans.size()), span.tokens, use.mass});
      spans.push_back(span);
    }
    const auto first = static_cast<int32_t>(spans_.rows().size());
    groups.push_back({first, spans_.add_rows(args, group), {}});
  }
  for (size_t g = 0; g < groups.size(); ++g) groups[g].uses = uses[g];
  MassPieces cut = cut_mass_pieces(args.heads, args.kv_heads, blocks_of(gpu), groups);

  packed_.bytes.clear();
  pieces_at_ = packed_.append(cut.pieces);
  spans_at_ = packed_.append(spans);
  spans_.describe(args, packed_);
  first_ = std::move(cut.first);
  keys_ = roomy(static_cast<size_t>(cut.keys));
  described_.set(gpu, packed_.bytes);
}

void MassStep::run(Gpu& gpu, const AttendArgs& args) {
  const bool same_rows = std::exchange(active_, args.active) == args.active;
  const bool holds = prepared_.renew(KeySpans::differ_by_layer(args) ? 0 : args.pass);
  if (!holds || !same_rows || !spans_.holds(gpu)) plan(gpu, args);
  if (gpu.failed() || first_.back() == 0) return;
  const std::byte* base = described_.get();
  auto* partials = gpu.scratch<float>(Gpu::kPartials, keys_ * static_cast<size_t>(args.kv_heads));
  if (gpu.failed()) return;
  MassArgs mass;
  std::memset(&mass, 0, sizeof mass);  // padding too: launches are compared as bytes
  spans_.point(gpu, args, base, mass);
  mass.spans = reinterpret_cast<const PrefillSpan*>(base + spans_at_);
  mass.pieces = reinterpret_cast<const MassPiece*>(base + pieces_at_);
  mass.piece_count = first_.back();
  mass.lse = args.lse;
  mass.partials = partials;
  mass.partial_stride = static_cast<int64_t>(keys_);
  spans_.launch(gpu, args, base);
  gpu.launch(&launch_mass, mass, args.head_dim, blocks_of(gpu));
  AddMassArgs sums;
  std::memset(&sums, 0, sizeof sums);
  sums.kv_heads = args.kv_heads;
  sums.partials = partials;
  sums.partial_stride = mass.partial_stride;
  sums.mass = args.mass;
  for (size_t g = 0; g + 1 < first_.size(); ++g) {
    sums.pieces = mass.pieces + first_[g];
    sums.piece_count = first_[g + 1] - first_[g];
    gpu.launch(&launch_sums, sums);
  }
}

}  // namespace looseleaf::cuda

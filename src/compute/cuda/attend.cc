#include "compute/cuda/attend.h"

#include <cstring>

#include "compute/cuda/attend_rows.h"
#include "compute/cuda/describe_pass.h"

namespace looseleaf::cuda {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

void Attention::attend(const AttendArgs& args) {
  if (gpu_.failed() || args.active == 0) return;
  if (gpu_.is_hopper() && !deterministic_ && is_decode_step(args))
    decode_step_.run(gpu_, args);
  else
    attend_general(args);
}

void Attention::attend_general(const AttendArgs& args) {
  const PassDescription pass = describe_pass(args);
  const TilePlan plan = plan_tiles(args, gpu_.properties().multiProcessorCount);
  const std::byte* description = description_.get(gpu_, pass.bytes);
  const std::byte* tiles = tiles_.get(gpu_, bytes_of(plan.tiles));
  const auto partials = static_cast<size_t>(plan.partials);
  AttendLaunch launch{};
  launch.partial_values = gpu_.scratch<float>(
      Gpu::kPartials, partials * (static_cast<size_t>(args.head_dim) + sizeof(float2) / 4));
  const std::byte* merges =
      plan.merges.empty() ? nullptr : merges_.get(gpu_, bytes_of(plan.merges));
  if (gpu_.failed()) return;
  launch.partial_softmax = reinterpret_cast<float2*>(launch.partial_values +
                                                     partials * static_cast<size_t>(args.head_dim));
  pass.point(description, launch);
  launch.tiles = reinterpret_cast<const AttendTile*>(tiles);
  launch.tile_count = static_cast<int32_t>(plan.tiles.size());
  launch.most_vectors = plan.most_vectors;
  launch.layer = args.layer;
  launch.heads = args.heads;
  launch.kv_heads = args.kv_heads;
  launch.head_dim = args.head_dim;
  launch.rotary_dims = args.rotary_dims;
  launch.window = args.window;
  launch.pairs = args.pairs;
  launch.scale = args.scale;
  launch.query = args.query;
  launch.out = args.out;
  launch.lse = args.lse;
  attend_rows(launch, gpu_.stream());
  merge_rows(launch, reinterpret_cast<const MergeRow*>(merges),
             static_cast<int>(plan.merges.size()), gpu_.stream());
}

}  // namespace looseleaf::cuda

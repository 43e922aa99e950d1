#include "compute/cuda/attend.h"

#include <cstring>

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

bool Attention::attend(const AttendArgs& args, Rounded rounded) {
  if (gpu_.failed() || args.active == 0) return false;
  const bool tensor_cores = gpu_.is_hopper() && !deterministic_;
  if (tensor_cores && is_decode_step(args)) {
    decode_step_.run(gpu_, args, rounded);
    return rounded.to != nullptr && !gpu_.failed();
  }
  if (tensor_cores && is_prefill_step(args))
    prefill_step_.run(gpu_, args);
  else
    attend_general(args);
  return false;
}

AttendLaunch Attention::describe(const AttendArgs& args) {
  AttendLaunch launch{};
  if (!described_.renew(args.pass)) pass_ = describe_pass(args);
  const std::byte* description = description_.get(gpu_, pass_.bytes);
  if (gpu_.failed()) return launch;
  pass_.point(description, launch);
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
  launch.mass = args.mass;
  return launch;
}

void Attention::attend_general(const AttendArgs& args) {
  AttendLaunch launch = describe(args);
  const TilePlan plan = plan_tiles(args, gpu_.properties().multiProcessorCount);
  const std::byte* tiles = tiles_.get(gpu_, bytes_of(plan.tiles));
  const auto partials = static_cast<size_t>(plan.partials);
  const auto dim = static_cast<size_t>(args.head_dim);
  const std::byte* merges = nullptr;
  if (partials > 0) {
    const size_t values = (partials * dim + 1) / 2 * 2;  // a pair behind them is aligned
    launch.partial_values = gpu_.scratch<float>(Gpu::kPartials, values + 2 * partials);
    launch.partial_softmax = reinterpret_cast<float2*>(launch.partial_values + values);
    merges = merges_.get(gpu_, bytes_of(plan.merges));
  }
  if (gpu_.failed()) return;
  launch.tiles = reinterpret_cast<const AttendTile*>(tiles);
  launch.tile_count = static_cast<int32_t>(plan.tiles.size());
  launch.most_vectors = plan.most_vectors;
  gpu_.launch(&attend_rows, launch);
  gpu_.launch(&merge_rows, launch, reinterpret_cast<const MergeRow*>(merges),
              static_cast<int>(plan.merges.size()));
}

void Attention::attend_mass(const AttendArgs& args) {
  if (gpu_.failed() || args.active == 0) return;
  if (gpu_.is_hopper() && !deterministic_ && is_mass_step(args)) return mass_step_.run(gpu_, args);
  const AttendLaunch launch = describe(args);
  const MassPlan plan = plan_mass(args);
  if (plan.tasks.empty()) return;
  const auto* tasks =
      reinterpret_cast<const MassTask*>(mass_tasks_.get(gpu_, bytes_of(plan.tasks)));
  if (gpu_.failed()) return;
  for (size_t g = 0; g + 1 < plan.first.size(); ++g)
    gpu_.launch(&cuda::attend_mass, launch, tasks + plan.first[g],
                static_cast<int>(plan.first[g + 1] - plan.first[g]));
}

}  // namespace looseleaf::cuda

#include "compute/mass_pieces.h"

#include <algorithm>

namespace looseleaf {
namespace {

int64_t steps_for(int32_t tokens) { return (int64_t{tokens} + kMassKeys - 1) / kMassKeys; }

// Steps of a piece: many, as long as every block has two pieces to take. One step is never worth
// the turning of the queries.
int64_t most_steps(int kv_heads, int blocks, std::span<const MassGroup> groups) {
  int64_t steps = 0;
  for (const MassGroup& group : groups)
    for (const MassUse& use : group.uses)
      if (group.rows > 0) steps += steps_for(use.tokens);
  const int64_t wanted = int64_t{2} * blocks;
  return std::clamp<int64_t>((steps * kv_heads + wanted - 1) / wanted, 2, kMassSteps);
}

}  // namespace

MassPieces cut_mass_pieces(int heads, int kv_heads, int blocks, std::span<const MassGroup> groups) {
  const int64_t most = most_steps(kv_heads, blocks, groups);
  MassPieces cut;
  cut.first.push_back(0);
  for (const MassGroup& group : groups) {
    for (const MassUse& use : group.uses) {
      if (group.rows == 0) continue;
      // Cut evenly.
      const int64_t steps = steps_for(use.tokens), parts = (steps + most - 1) / most;
      for (int64_t p = 0; p < parts; ++p) {
        const auto first = static_cast<int32_t>(steps * p / parts * kMassKeys);
        const auto end = static_cast<int32_t>(
            std::min<int64_t>(steps * (p + 1) / parts * kMassKeys, use.tokens));
        cut.pieces.push_back({use.span, first, end - first, group.first_row,
                              group.rows * (heads / kv_heads), use.mass + first, cut.keys});
        cut.keys += end - first;
      }
    }
    cut.first.push_back(static_cast<int32_t>(cut.pieces.size()));
  }
  return cut;
}

}  // namespace looseleaf

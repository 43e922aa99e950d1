// The least loaded of a few hundred blocks, by a tournament tree: a change replays one path of
// minima, without a branch that could be guessed wrongly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace looseleaf {

class LeastLoaded {
 public:
  // All loads 0.
  void reset(int blocks) {
    leaves_ = std::bit_ceil(static_cast<size_t>(blocks));
    tree_.assign(2 * leaves_, ~uint64_t{0});
    for (size_t b = 0; b < static_cast<size_t>(blocks); ++b) tree_[leaves_ + b] = b;
    for (size_t node = leaves_ - 1; node > 0; --node)
      tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
  }

  // Of equally loaded blocks the first.
  int block() const { return static_cast<int>(tree_[1] & kBlockMask); }
  int64_t load() const { return static_cast<int64_t>(tree_[1] >> kBlockBits); }

  // Adds to the least loaded block.
  void add(int64_t cost) {
    size_t node = leaves_ + static_cast<size_t>(block());
    uint64_t least = tree_[node] += static_cast<uint64_t>(cost) << kBlockBits;
    for (; node > 1; node /= 2) {
      least = std::min(least, tree_[node ^ 1]);
      tree_[node / 2] = least;
    }
  }

 private:
  static constexpr int kBlockBits = 16;
  static constexpr uint64_t kBlockMask = (uint64_t{1} << kBlockBits) - 1;

  size_t leaves_ = 0;
  std::vector<uint64_t>
      tree_;  // [2 * leaves] load and block; node n is the lesser of 2n and 2n + 1
};

}  // namespace looseleaf

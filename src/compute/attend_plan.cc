#include "compute/attend_plan.h"

#include <algorithm>

#include "compute/kv_layout.h"

namespace looseleaf {

const AttendPlan& AttendPlanner::plan(const PlanShape& shape, std::span<const PlanChunk> chunks,
                                      std::span<const PlanUse> uses,
                                      std::span<const int32_t> first_use) {
  group_uses(shape, chunks, uses, first_use);
  deal(shape, chunks);
  number_partials(shape, first_use);
  write(shape);
  return plan_;
}

// A counting sort by chunk. Request-major, each use is a group.
void AttendPlanner::group_uses(const PlanShape& shape, std::span<const PlanChunk> chunks,
                               std::span<const PlanUse> uses, std::span<const int32_t> first_use) {
  groups_.clear();
  group_of_.assign(chunks.size(), -1);
  users_.resize(uses.size());
  for (const PlanUse& use : uses) {
    int32_t& group = group_of_[static_cast<size_t>(use.chunk)];
    if (group < 0 || !shape.chunk_major) {
      group = static_cast<int32_t>(groups_.size());
      groups_.push_back({use.chunk, 0, 0});
    }
    ++groups_[static_cast<size_t>(group)].users;
  }
  int32_t users = 0;
  for (Group& group : groups_) {
    group.first_user = users;
    users += group.users;
    group.users = 0;
  }
  for (size_t row = 0; row + 1 < first_use.size(); ++row)
    for (int32_t u = first_use[row]; u < first_use[row + 1]; ++u) {
      const PlanUse& use = uses[static_cast<size_t>(u)];
      Group& group = groups_[static_cast<size_t>(
          shape.chunk_major ? group_of_[static_cast<size_t>(use.chunk)] : u)];
      users_[static_cast<size_t>(group.first_user + group.users++)] = {static_cast<int32_t>(row), u,
                                                                       use.turn};
    }
}

// Each item goes to the block that would be free first. The heads of a chunk follow each other, so
// blocks that run at the same time read one chunk, whose pages lie together.
void AttendPlanner::deal(const PlanShape& shape, std::span<const PlanChunk> chunks) {
  const int32_t group_size = shape.heads / shape.kv_heads, tile_users = kItemVectors / group_size;
  const auto for_each_tile = [&](const Group& group, auto&& visit) {
    for (int32_t u = 0; u < group.users; u += tile_users)
      visit(group.first_user + u, std::min(tile_users, group.users - u));
  };
  int64_t total = 0;
  for (const Group& group : groups_) {
    const int32_t tokens = chunks[static_cast<size_t>(group.chunk)].tokens;
    if (tokens > 0)
      for_each_tile(group, [&](int32_t, int32_t users) {
        total += shape.kv_heads * item_cost(tokens, users * group_size, shape.token_rate);
      });
  }
  share_ = total / shape.blocks;
  vectors_ = 0;
  blocks_.reset(shape.blocks);
  pieces_.clear();
  parts_.resize(users_.size() * static_cast<size_t>(shape.kv_heads));
  for (const Group& group : groups_)
    for (int32_t head = 0; head < shape.kv_heads; ++head)
      for_each_tile(group, [&](int32_t first, int32_t users) {
        const int parts =
            cut(shape, chunks[static_cast<size_t>(group.chunk)], {first, users, head, 0, 0, 0, 0});
        for (int32_t u = first; u < first + users; ++u)
          parts_[static_cast<size_t>(users_[static_cast<size_t>(u)].use * shape.kv_heads + head)] =
              parts;
      });
}

// Deals one tile of one head: whole, until the blocks are nearly full; then in parts, so that they
// end together. A full block has its share of all items and one more beginning, since about as many
// items are cut as there are blocks. Returns the parts.
int AttendPlanner::cut(const PlanShape& shape, const PlanChunk& chunk, Piece piece) {
  const int32_t vectors = piece.users * (shape.heads / shape.kv_heads);
  for (int32_t at = 0; at < chunk.tokens; at += piece.tokens, ++piece.number) {
    const int64_t left = chunk.tokens - at, room = share_ - blocks_.load();
    const int64_t fits = std::max<int64_t>(1, (room + kCutTokens - 1) / kCutTokens) * kCutTokens;
    // A rest that is worth less than another beginning is taken along.
    piece.tokens =
        static_cast<int32_t>(left - fits > item_cost(0, vectors, shape.token_rate) ? fits : left);
    piece.first_page = chunk.first_page + at / kPageTokens;
    piece.block = blocks_.block();
    blocks_.add(item_cost(piece.tokens, vectors, shape.token_rate));
    vectors_ += vectors;
    pieces_.push_back(piece);
  }
  return piece.number;
}

// A query's partials are neighbours, in prompt order: the merge adds them in that order, however
// they were made.
void AttendPlanner::number_partials(const PlanShape& shape, std::span<const int32_t> first_use) {
  const size_t heads = static_cast<size_t>(shape.heads),
               kv_heads = static_cast<size_t>(shape.kv_heads);
  const size_t rows = first_use.empty() ? 0 : first_use.size() - 1;
  plan_.first_partial.resize(rows * heads + 1);
  int32_t partials = 0;
  int32_t* first = plan_.first_partial.data();
  for (size_t row = 0; row < rows; ++row) {
    in_row_.assign(kv_heads, 0);
    for (int32_t u = first_use[row]; u < first_use[row + 1]; ++u) {
      int32_t* parts = parts_.data() + static_cast<size_t>(u) * kv_heads;
      for (size_t head = 0; head < kv_heads; ++head) {
        const int32_t earlier = in_row_[head];
        in_row_[head] += parts[head];
        parts[head] = earlier;
      }
    }
    for (size_t head = 0; head < kv_heads; ++head)
      for (size_t j = 0; j < heads / kv_heads; ++j, partials += in_row_[head]) *first++ = partials;
  }
  *first = partials;
}

void AttendPlanner::write(const PlanShape& shape) {
  const int32_t group_size = shape.heads / shape.kv_heads;
  plan_.first_item.assign(static_cast<size_t>(shape.blocks) + 1, 0);
  for (const Piece& piece : pieces_) ++plan_.first_item[static_cast<size_t>(piece.block) + 1];
  for (size_t b = 1; b < plan_.first_item.size(); ++b)
    plan_.first_item[b] += plan_.first_item[b - 1];
  next_item_.assign(plan_.first_item.begin(), plan_.first_item.end() - 1);
  plan_.items.resize(pieces_.size());
  plan_.vectors.resize(static_cast<size_t>(vectors_));
  QueryVector* vector = plan_.vectors.data();
  for (const Piece& piece : pieces_) {
    const int32_t at = next_item_[static_cast<size_t>(piece.block)]++;
    plan_.items[static_cast<size_t>(at)] = {piece.first_page, piece.tokens, piece.kv_head,
                                            static_cast<int32_t>(vector - plan_.vectors.data()),
                                            piece.users * group_size};
    const User* user = users_.data() + piece.first_user;
    for (const User* end = user + piece.users; user != end; ++user) {
      const int32_t query = user->row * shape.heads + piece.kv_head * group_size;
      const int32_t* first = plan_.first_partial.data() + query;
      const int32_t of_query = first[1] - first[0];  // the same for all heads of a KV head
      int32_t partial = first[0] +
                        parts_[static_cast<size_t>(user->use * shape.kv_heads + piece.kv_head)] +
                        piece.number;
      for (int32_t j = 0; j < group_size; ++j, partial += of_query)
        *vector++ = {query + j, user->turn, piece.tokens, partial};
    }
  }
}

}  // namespace looseleaf

#include "text/bpe_merges.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "text/byte_alphabet.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

Expected<BpeMerges> BpeMerges::create(const TokenizerSpec& spec) {
  // Normal tokens only: text must never merge into a control token.
  boost::unordered_flat_map<std::string_view, int32_t> ids;
  ids.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] == TokenKind::kNormal)
      ids.emplace(spec.tokens[id], static_cast<int32_t>(id));
  }
  const auto find = [&](std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? -1 : found->second;
  };

  BpeMerges result;
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t id = find(spell_byte(static_cast<uint8_t>(byte)));
    result.byte_ids_[static_cast<size_t>(byte)] = id;
    if (id < 0 && (byte == '\n' || (byte >= 0x20 && byte < 0x7F)))
      return error(
          ErrorCode::kCorrupt,
          "tokenizer: the vocabulary has no token for the byte 0x{:02X} (spelled {}); it is "
          "cut or not a byte-level one",
          byte, quote(spell_byte(static_cast<uint8_t>(byte))));
  }

  if (spec.merges.size() >= kNone)
    return error(ErrorCode::kCorrupt, "tokenizer: {} merges", spec.merges.size());
  result.merges_.reserve(spec.merges.size());
  result.rank_of_.reserve(spec.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto& [left, right] = spec.merges[rank];
    joined.assign(left).append(right);
    const Merge merge = {find(left), find(right), find(joined)};
    if (merge.left < 0 || merge.right < 0 || merge.result < 0) {
      const std::string& missing = merge.left < 0 ? left : merge.right < 0 ? right : joined;
      return error(ErrorCode::kCorrupt,
                   "tokenizer: merge {} ({} and {}): {} is not a normal token of the vocabulary; "
                   "convert the model again",
                   rank, quote(left), quote(right), quote(missing));
    }
    const auto [first, is_new] =
        result.rank_of_.emplace(pair_key(merge.left, merge.right), static_cast<uint32_t>(rank));
    if (!is_new)
      return error(ErrorCode::kCorrupt,
                   "tokenizer: merge {} ({} and {}) repeats merge {}; convert the model again",
                   rank, quote(left), quote(right), first->second);
    result.merges_.push_back(merge);
  }
  return result;
}

std::optional<size_t> BpeMerges::find_unknown_byte(std::string_view text) const {
  const auto found = std::find_if(text.begin(), text.end(), [&](char byte) {
    return byte_ids_[static_cast<uint8_t>(byte)] < 0;
  });
  if (found == text.end()) return std::nullopt;
  return static_cast<size_t>(found - text.begin());
}

void BpeMerges::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  const auto size = static_cast<uint32_t>(piece.size());
  auto& symbols = scratch.symbols;
  auto& queue = scratch.queue;
  symbols.resize(size);
  queue.clear();
  for (uint32_t i = 0; i < size; ++i) {
    symbols[i] = {byte_ids_[static_cast<uint8_t>(piece[i])], i == 0 ? kNone : i - 1,
                  i + 1 == size ? kNone : i + 1};
  }

  // What the symbol at `position` and the one after it would merge by; a pair without a merge
  // queues nothing.
  const auto candidate = [&](uint32_t position) -> std::optional<uint64_t> {
    const uint32_t next = symbols[position].next;
    if (next == kNone) return std::nullopt;
    const auto found = rank_of_.find(pair_key(symbols[position].id, symbols[next].id));
    if (found == rank_of_.end()) return std::nullopt;
    return static_cast<uint64_t>(found->second) << 32 | position;
  };
  for (uint32_t i = 0; i + 1 < size; ++i) {
    if (const auto entry = candidate(i)) queue.push_back(*entry);
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());

  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const uint64_t entry = queue.back();
    queue.pop_back();
    const auto position = static_cast<uint32_t>(entry);
    const Merge& merge = merges_[entry >> 32];
    auto& left = symbols[position];
    // An earlier merge may have taken either side; entries are not removed then, but skipped here.
    if (left.id != merge.left || left.next == kNone || symbols[left.next].id != merge.right)
      continue;
    auto& right = symbols[left.next];
    left.id = merge.result;
    left.next = right.next;
    right.id = -1;
    if (left.next != kNone) symbols[left.next].previous = position;
    for (const uint32_t at : {left.previous, position}) {
      if (at == kNone) continue;
      if (const auto found = candidate(at)) {
        queue.push_back(*found);
        std::push_heap(queue.begin(), queue.end(), std::greater<>());
      }
    }
  }

  if (size == 0) return;
  for (uint32_t i = 0; i != kNone; i = symbols[i].next) ids.push_back(symbols[i].id);
}

}  // namespace looseleaf

#include "text/unigram.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Real ones stay below 200 bytes. Each place of a text looks this far ahead.
constexpr size_t kMaxTokenBytes = 1024;

// Stands in a lattice for one unknown character.
constexpr int32_t kUnknown = -2;

}  // namespace

Expected<Unigram> Unigram::create(const TokenizerSpec& spec) {
  Unigram result(spec);
  if (spec.unk < 0 && !result.bytes_.spells_everything())
    return error(ErrorCode::kCorrupt,
                 "tokenizer: neither 256 byte tokens nor an unknown token for characters outside "
                 "the vocabulary; convert the model again");
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    // Added tokens are cut out of the text before.
    if (spec.kinds[id] != TokenKind::kNormal || spec.tokens[id].empty()) continue;
    if (spec.tokens[id].size() > kMaxTokenBytes)
      return error(ErrorCode::kUnsupported,
                   "tokenizer: token {} has {} bytes, more than the {} that are supported", id,
                   spec.tokens[id].size(), kMaxTokenBytes);
    if (find_invalid_utf8(spec.tokens[id]))
      return error(ErrorCode::kCorrupt,
                   "tokenizer: token {} is not UTF-8: {}; convert the model again", id,
                   quote(spec.tokens[id]));
    result.trie_.insert(spec.tokens[id], static_cast<int32_t>(id));
  }
  result.scores_ = spec.scores;
  return result;
}

void Unigram::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  auto& nodes = scratch.nodes;
  nodes.assign(piece.size() + 1, {0, 0, -1});
  const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
    const double sum = nodes[begin].score + score;
    auto& node = nodes[end];
    if (node.id == -1 || sum > node.score) node = {sum, static_cast<uint32_t>(begin), id};
  };
  for (size_t at = 0; at < piece.size();) {
    const auto character = static_cast<size_t>(utf8_length(piece.substr(at)));
    bool character_is_token = false;
    uint32_t node = ByteTrie::kRoot;
    for (size_t end = at; end < piece.size();) {
      node = trie_.child(node, piece[end++]);
      if (node == ByteTrie::kRoot) break;
      const int32_t id = trie_.value(node);
      if (id < 0) continue;
      offer(at, end, id, scores_[static_cast<size_t>(id)]);
      character_is_token |= end == at + character;
    }
    if (!character_is_token) offer(at, at + character, kUnknown, unk_score_);
    at += character;
  }

  // Backwards: a run of unknown characters is one, whose bytes are spelled together.
  const auto begin = static_cast<std::ptrdiff_t>(ids.size());
  std::vector<int32_t> spelled;
  for (size_t end = piece.size(); end > 0;) {
    const auto& node = nodes[end];
    size_t start = node.begin;
    if (node.id != kUnknown) {
      ids.push_back(node.id);
      end = start;
      continue;
    }
    while (fuse_unk_ && start > 0 && nodes[start].id == kUnknown) start = nodes[start].begin;
    spelled.clear();
    if (!bytes_.append(piece.substr(start, end - start), spelled)) spelled.push_back(unk_);
    ids.insert(ids.end(), spelled.rbegin(), spelled.rend());
    end = start;
  }
  std::reverse(ids.begin() + begin, ids.end());
}

}  // namespace looseleaf

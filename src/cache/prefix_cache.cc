#include "cache/prefix_cache.h"

#include <algorithm>

namespace looseleaf {

class PrefixCache::Node {
 public:
  Node* parent = nullptr;  // null: a root
  std::string label;       // the edge that leads here: bytes of token ids, or of a chunk's name
  KvPageRef page;          // null: a root or a chunk's edge
  std::map<std::string, Place> children;  // by label
  int depth = 0;
  int64_t uses = 0;
  double priority = 0;

  bool held() const { return !children.empty() || (page && page.use_count() > 1); }
};

namespace {

// A text edge is 't' and the bytes of its tokens: maps order them so that edges which share a
// beginning stand together.
std::string text_label(std::span<const int32_t> tokens) {
  std::string label = "t";
  label.append(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
  return label;
}

std::string chunk_label(const ChunkKey& key, const std::string& how) {
  return "c" + std::string(key.begin(), key.end()) + how;
}

int common_tokens(const std::string& label, const std::string& wanted) {
  const size_t limit = std::min(label.size(), wanted.size());
  size_t i = 0;
  while (i < limit && label[i] == wanted[i]) ++i;
  return i == 0 ? 0 : static_cast<int>((i - 1) / sizeof(int32_t));
}

}  // namespace

PrefixCache::PrefixCache(KvPool& pool) : pool_(pool) { pool.add_evictable(this); }

// By a list of its own: a path is as long as the longest prompt, and each node's destructor calling
// the next would take as much stack.
PrefixCache::~PrefixCache() {
  std::vector<Place> doomed;
  for (auto& [domain, root] : roots_) doomed.push_back(std::move(root));
  while (!doomed.empty()) {
    const Place node = std::move(doomed.back());
    doomed.pop_back();
    for (auto& [label, child] : node->children) doomed.push_back(std::move(child));
    node->children.clear();
  }
}

PrefixCache::Place PrefixCache::root(const std::string& domain) {
  const auto found = roots_.find(domain);
  if (found != roots_.end()) return found->second;
  drop_empty_roots();  // a domain that is never used again leaves nothing behind
  return roots_[domain] = std::make_shared<Node>();
}

void PrefixCache::drop_empty_roots() {
  std::erase_if(roots_, [](const auto& entry) {
    return entry.second.use_count() == 1 && entry.second->children.empty();
  });
}

PrefixCache::Order::value_type PrefixCache::order_of(Node& node) {
  return {node.priority, -node.depth, &node};
}

void PrefixCache::touch(Node& node) {
  order_.erase(order_of(node));
  node.priority = pool_.priority(++node.uses);
  order_.insert(order_of(node));
}

PrefixCache::Match PrefixCache::find(const Place& place, std::span<const int32_t> tokens,
                                     bool appendable) {
  Match match;
  match.place = place;
  while (!tokens.empty()) {
    const auto take = std::min<size_t>(tokens.size(), kPageTokens);
    const std::string wanted = text_label(tokens.first(take));
    auto& children = match.place->children;
    const auto exact = children.find(wanted);
    if (exact != children.end() && (take == kPageTokens || !appendable)) {
      touch(*exact->second);
      match.pages.push_back(exact->second->page);
      match.tokens += static_cast<int>(take);
      match.place = exact->second;
      tokens = tokens.subspan(take);
      continue;
    }
    // In order, the longest common beginning is with one of the two neighbours.
    auto next = children.lower_bound(wanted);
    const auto consider = [&](const Node& node) {
      const int common = common_tokens(node.label, wanted);
      if (node.page && common > match.partial_tokens) {
        match.partial = node.page;
        match.partial_tokens = common;
      }
    };
    if (next != children.end()) consider(*next->second);
    if (next != children.begin()) consider(*std::prev(next)->second);
    break;
  }
  return match;
}

PrefixCache::Place PrefixCache::child(const Place& parent, std::string label) {
  Place& node = parent->children[label];
  if (!node) {
    node = std::make_shared<Node>();
    node->parent = parent.get();
    node->depth = parent->depth + 1;
    node->label = std::move(label);
  }
  touch(*node);
  return node;
}

PrefixCache::Place PrefixCache::insert(const Place& place, std::span<const int32_t> tokens,
                                       KvPageRef page) {
  Place node = child(place, text_label(tokens));
  if (!node->page) {
    bytes_ += page->bytes();
    node->page = std::move(page);
  }
  return node;
}

PrefixCache::Place PrefixCache::find_chunk(const Place& place, const ChunkKey& key,
                                           const std::string& how) {
  const auto found = place->children.find(chunk_label(key, how));
  if (found == place->children.end()) return nullptr;
  touch(*found->second);
  return found->second;
}

PrefixCache::Place PrefixCache::insert_chunk(const Place& place, const ChunkKey& key,
                                             const std::string& how) {
  return child(place, chunk_label(key, how));
}

PrefixCache::Order::const_iterator PrefixCache::next_victim() const {
  auto it = order_.begin();
  for (; it != order_.end(); ++it) {
    const Node& node = *std::get<Node*>(*it);
    // A node that only its parent's map owns is held by nobody.
    if (!node.held() && node.parent->children.at(node.label).use_count() == 1) break;
  }
  return it;
}

void PrefixCache::erase(Order::const_iterator victim) {
  Node* node = std::get<Node*>(*victim);
  if (node->page) bytes_ -= node->page->bytes();
  order_.erase(victim);
  const std::string label = node->label;  // outlives the node
  node->parent->children.erase(label);
}

std::optional<double> PrefixCache::lowest_priority() const {
  const auto victim = next_victim();
  if (victim == order_.end()) return std::nullopt;
  return std::get<double>(*victim);
}

void PrefixCache::evict_lowest() { erase(next_victim()); }

void PrefixCache::clear() {
  for (auto it = next_victim(); it != order_.end(); it = next_victim()) erase(it);
  drop_empty_roots();
}

int64_t PrefixCache::pinned_bytes() const {
  int64_t bytes = 0;
  for (const auto& [priority, depth, node] : order_)
    if (node->page && node->page.use_count() > 1) bytes += node->page->bytes();
  return bytes;
}

}  // namespace looseleaf

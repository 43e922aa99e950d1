#include "cli/attention_scene.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/machine.h"

namespace looseleaf {
namespace {

constexpr int kDrawn = 2048;  // tokens whose keys and values are drawn; pages repeat them
constexpr double kRopeBase = 500000;
constexpr int kJitter = 64;  // positions by which prompts with the same chunks differ

std::vector<float> random_floats(size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = normal(random);
  return values;
}

Expected<DeviceMemory> random_memory(Device& device, size_t floats, std::mt19937& random) {
  LL_ASSIGN(DeviceMemory memory, device.allocate(floats * sizeof(float)));
  const std::vector<float> values = random_floats(floats, random);
  device.upload(memory.get(), values.data(), floats * sizeof(float));
  return memory;
}

const float* floats_at(const DeviceMemory& memory, size_t index) {
  return reinterpret_cast<const float*>(memory.get()) + index;
}

// Chunks of a pool by rank, each request's different ones.
std::vector<int> draw_chunks(const DecodeRow& row, std::mt19937& random) {
  std::vector<double> weight_to(static_cast<size_t>(row.pool));
  double weight = 0;
  for (size_t c = 0; c < weight_to.size(); ++c)
    weight_to[c] = weight += std::pow(static_cast<double>(c) + 1, -row.zipf);
  std::uniform_real_distribution<double> pick(0, weight);
  const auto draw = [&] {
    return static_cast<size_t>(
        std::lower_bound(weight_to.begin(), weight_to.end() - 1, pick(random)) - weight_to.begin());
  };
  constexpr int kTries = 64;
  std::vector<int> drawn;
  for (int r = 0; r < row.requests; ++r) {
    std::vector<bool> taken(weight_to.size());
    for (int n = 0; n < row.each; ++n) {
      size_t chunk = draw();
      for (int tries = 0; taken[chunk] && tries < kTries; ++tries) chunk = draw();
      // Where almost all weight is taken, drawing again would hardly end: the next free one.
      while (taken[chunk]) chunk = (chunk + 1) % taken.size();
      taken[chunk] = true;
      drawn.push_back(static_cast<int>(chunk));
    }
  }
  return drawn;
}

}  // namespace

AttentionScene::AttentionScene(Device& device, const SceneOptions& options)
    : device_(device),
      options_(options),
      layout_{options.kv_type, options.layers, options.heads.kv_heads, options.heads.head_dim},
      random_(options.seed) {
  const int half = options.heads.head_dim / 2;
  for (int j = 0; j < half; ++j)
    frequencies_.push_back(std::pow(kRopeBase, -static_cast<double>(j) / half));
}

Expected<std::unique_ptr<AttentionScene>> AttentionScene::create(Device& device,
                                                                 const AttentionRow& row,
                                                                 const SceneOptions& options) {
  std::unique_ptr<AttentionScene> scene(new AttentionScene(device, options));
  std::visit([&](const auto& of) { scene->draw(of); }, row);
  LL_RETURN_IF_ERROR(scene->allocate());
  return scene;
}

void AttentionScene::bind(int chunk, int position) {
  Binding binding{chunk, position, std::vector<float>(frequencies_.size() * 2)};
  rotary_angles(frequencies_, position, 1.0, binding.turn.data());
  bindings_.push_back(std::move(binding));
}

void AttentionScene::draw(const DecodeRow& row) {
  const std::vector<int> drawn = draw_chunks(row, random_);
  std::unordered_map<int, int> number;  // of a chunk of the pool among those in use
  std::uniform_int_distribution<int> jitter(0, kJitter - 1);
  for (int r = 0; r < row.requests; ++r) {
    first_binding_.push_back(bindings_.size());
    for (int n = 0; n < row.each; ++n) {
      const auto [found, added] =
          number.try_emplace(drawn[bindings_.size()], static_cast<int>(chunk_tokens_.size()));
      if (added) chunk_tokens_.push_back(row.tokens);
      bind(found->second, n * row.tokens + jitter(random_));
    }
    positions_.push_back(row.each * row.tokens + kJitter);
  }
  first_binding_.push_back(bindings_.size());
}

void AttentionScene::draw(const PrefillRow& row) {
  first_binding_.push_back(0);
  for (int at = 0; at < row.cached; at += row.chunk) {
    chunk_tokens_.push_back(std::min(row.chunk, row.cached - at));
    bind(static_cast<int>(chunk_tokens_.size()) - 1, at);
  }
  first_binding_.push_back(bindings_.size());
  own_tokens_ = row.rows;
  for (int r = 0; r < row.rows; ++r) positions_.push_back(row.cached + r);
}

size_t AttentionScene::row_values() const {
  return positions_.size() * static_cast<size_t>(options_.heads.heads) *
         static_cast<size_t>(options_.heads.head_dim);
}

void AttentionScene::poison(std::byte* memory, size_t bytes) {
  const std::vector<std::byte> nan(bytes, std::byte{0xFF});
  device_.upload(memory, nan.data(), bytes);
}

Expected<AttentionScene::Stored> AttentionScene::take_pages(int count) {
  Stored stored;
  stored.count = count;
  for (int p = 0; p < pages_for(count); ++p) {
    page_bytes_ += layout_.page_bytes();
    if (page_bytes_ > options_.page_limit)
      return error(ErrorCode::kUnavailable, "keys and values take more than the {} bytes for them",
                   options_.page_limit);
    LL_ASSIGN(DeviceMemory page, device_.allocate_page(static_cast<size_t>(layout_.page_bytes())));
    stored.pages.push_back(page.get());
    stored.memory.push_back(std::move(page));
    if (options_.poison) poison(stored.pages.back(), static_cast<size_t>(layout_.page_bytes()));
  }
  return stored;
}

KvSlot AttentionScene::slot(const Stored& in, int token) const {
  return {&layout_, in.pages[static_cast<size_t>(token / kPageTokens)], token % kPageTokens};
}

// Other tokens of those that were drawn in each layer.
void AttentionScene::fill(const Stored& to) {
  const auto width = static_cast<size_t>(layout_.kv_heads * layout_.head_dim);
  for (int first = 0; first < to.count; first += kDrawn / 2) {
    const int count = std::min(kDrawn / 2, to.count - first);
    std::vector<KvSlot> slots;
    for (int t = 0; t < count; ++t) slots.push_back(slot(to, first + t));
    for (int layer = 0; layer < options_.layers; ++layer) {
      const size_t from = random_() % static_cast<size_t>(kDrawn - count + 1) * width;
      device_.store(layer, floats_at(keys_, from), floats_at(values_, from), slots);
    }
  }
}

Status AttentionScene::allocate() {
  const auto width = static_cast<size_t>(layout_.kv_heads * layout_.head_dim);
  const size_t values = row_values();
  const auto scratch = static_cast<int64_t>(3 * values * sizeof(float));  // drawn, and both there
  if (scratch > usable_memory() / 2)
    return error(ErrorCode::kUnavailable,
                 "queries and results of {} rows take {} bytes, more than half of the memory",
                 positions_.size(), scratch);
  LL_ASSIGN(keys_, random_memory(device_, kDrawn * width, random_));
  LL_ASSIGN(values_, random_memory(device_, kDrawn * width, random_));
  LL_ASSIGN(query_, random_memory(device_, values, random_));
  LL_ASSIGN(out_, device_.allocate(values * sizeof(float)));
  row_numbers_.resize(positions_.size());
  std::iota(row_numbers_.begin(), row_numbers_.end(), 0);
  for (const int tokens : chunk_tokens_) {
    LL_ASSIGN(Stored chunk, take_pages(tokens));
    chunks_.push_back(std::move(chunk));
    fill(chunks_.back());
    LL_RETURN_IF_ERROR(device_.wait());  // the ring of a device holds so many descriptions only
  }
  LL_ASSIGN(own_, take_pages(own_tokens_));
  fill(own_);
  return device_.wait();
}

void AttentionScene::gather(size_t binding) {
  const Binding& bound = bindings_[binding];
  const Stored& chunk = chunks_[static_cast<size_t>(bound.chunk)];
  Segment source;
  source.layout = &layout_;
  source.pages = chunk.pages;
  source.count = chunk.count;
  source.turn = bound.turn;
  std::vector<int32_t> tokens(static_cast<size_t>(chunk.count));
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<KvSlot> slots;
  for (const int32_t token : tokens) slots.push_back(slot(copies_[binding], token));
  for (int layer = 0; layer < options_.layers; ++layer)
    device_.gather({layer, options_.heads.head_dim, RopePairs::kHalves, &source, tokens, slots});
}

Status AttentionScene::make_copies() {
  const int64_t before = page_bytes_;
  const auto make = [&]() -> Status {
    for (size_t b = 0; b < bindings_.size(); ++b) {
      LL_ASSIGN(Stored copy, take_pages(chunk_tokens_[static_cast<size_t>(bindings_[b].chunk)]));
      copies_.push_back(std::move(copy));
      gather(b);
      LL_RETURN_IF_ERROR(device_.wait());
    }
    return {};
  };
  Status made = make();
  if (made) return made;
  copies_.clear();
  page_bytes_ = before;
  return made;
}

}  // namespace looseleaf

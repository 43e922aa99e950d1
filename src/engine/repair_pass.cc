#include "engine/repair_pass.h"

#include <algorithm>
#include <numeric>

#include "engine/core.h"

namespace looseleaf {
namespace {

// Whether the text stands behind a document: what it computed without the repair is outdated.
bool behind_documents(const Sequence& sequence, size_t part) {
  const auto bindings = binding_parts(sequence);
  return !bindings.empty() && bindings.front() < part;
}

}  // namespace

RepairPass::RepairPass(const Sequence& sequence, const PromptShape& shape, const RepairPlan& plan,
                       int first_layer)
    : sequence_(sequence),
      shape_(shape),
      plan_(plan),
      parts_(sequence.parts.size() - 1),
      gathered_layout_(std::get<TextRun>(sequence.parts.back()).kv.layout()) {
  pass_.segments = sequence.segments();
  pass_.first_layer = first_layer;
  if (plan.context != RepairContext::kCausal) add_gather();
  add_groups();
  add_rows(first_layer);
}

// Group 0: text, and targets of a causal context. Then one a binding, or one for all.
void RepairPass::add_groups() {
  std::vector<SegmentUse> all;
  for (size_t part = 0; part < parts_; ++part) all.push_back({static_cast<int32_t>(part)});
  all.push_back({static_cast<int32_t>(sequence_.parts.size())});
  pass_.groups.push_back({std::move(all), sequence_.rope.get()});
  if (plan_.context == RepairContext::kCausal) return;
  for (const size_t part : binding_parts(sequence_)) {
    pass_.groups.push_back({uses_of_target(part), sequence_.rope.get()});
    if (plan_.context == RepairContext::kUnion) return;
  }
}

// What a target in binding `part` sees besides group 0's rows. Gathered tokens are those of U that
// a layer's overlay does not hold; the limit leaves out the own document, which is read whole.
std::vector<SegmentUse> RepairPass::uses_of_target(size_t part) const {
  const bool own = plan_.context == RepairContext::kOwnUnion;
  std::vector<SegmentUse> uses;
  if (plan_.text)
    for (size_t p = 0; p < parts_; ++p)
      if (std::holds_alternative<TextRun>(sequence_.parts[p]))
        uses.push_back({static_cast<int32_t>(p)});
  const auto gathered = static_cast<int32_t>(pass_.segments.size()) - 1;
  const int32_t start = std::get<Binding>(sequence_.parts[part]).position;
  uses.push_back({gathered, own ? start : kNoLimit});
  if (own) uses.push_back({static_cast<int32_t>(part)});
  uses.push_back({static_cast<int32_t>(sequence_.parts.size())});
  return uses;
}

void RepairPass::add_rows(int first_layer) {
  const Overlay& overlay = *sequence_.overlay;
  const auto ids = document_token_ids(sequence_);
  // In layers below, rows have their keys and values already.
  const int last_there = first_layer == 0 ? 0 : 1;
  pass_.first_kv_layer = last_there + 1;
  for (int32_t e = 0; e < overlay.count(); ++e) {
    const int32_t depth = overlay.depths()[static_cast<size_t>(e)];
    if (depth <= last_there) continue;
    const auto token = static_cast<size_t>(overlay.tokens()[static_cast<size_t>(e)]);
    int32_t group = 0;
    if (plan_.context == RepairContext::kUnion) group = 1;
    if (plan_.context == RepairContext::kOwnUnion) group = 1 + shape_.chunks[token];
    pass_.rows.push_back({ids[token], shape_.positions[token], depth, overlay.slot(e), group,
                          PassRow::kOwnPosition});
  }
  for (size_t part = 0; part < parts_; ++part) {
    const auto* run = std::get_if<TextRun>(&sequence_.parts[part]);
    if (run == nullptr || !behind_documents(sequence_, part)) continue;
    if (shape_.layers - 1 <= last_there && first_layer > 0) continue;
    if (first_layer == 0) pass_.first_kv_layer = 0;
    for (size_t i = 0; i < run->tokens.size(); ++i)
      pass_.rows.push_back({run->tokens[i], run->position + static_cast<int32_t>(i),
                            shape_.layers - 1, run->kv.slot(static_cast<int>(i)), 0,
                            PassRow::kOwnPosition});
  }
  std::sort(pass_.rows.begin(), pass_.rows.end(),
            [](const PassRow& a, const PassRow& b) { return a.position < b.position; });
  if (!plan_.released) return;
  // A lower triangle whose last column is the prompt's end: row j of m sees so far.
  const auto question = static_cast<int32_t>(sequence_.prompt_tokens -
                                             std::get<TextRun>(sequence_.parts.back()).position);
  const auto m = static_cast<int32_t>(pass_.rows.size()) + question;
  for (int32_t j = 0; j < static_cast<int32_t>(pass_.rows.size()); ++j)
    pass_.rows[static_cast<size_t>(j)].sees = sequence_.prompt_tokens - m + j;
}

// U, shallowest first: in layer l those that the overlay does not hold are the first ones.
void RepairPass::add_gather() {
  std::vector<int32_t> tokens;
  for (int32_t token = 0; token < shape_.tokens(); ++token)
    if (plan_.depths[static_cast<size_t>(token)] != RepairPlan::kOutside) tokens.push_back(token);
  const auto depth = [&](int32_t token) { return plan_.depths[static_cast<size_t>(token)]; };
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](int32_t a, int32_t b) { return depth(a) < depth(b); });
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const auto end = std::partition_point(tokens.begin(), tokens.end(), [&](int32_t token) {
      return layer == 0 || depth(token) < layer;
    });
    gathered_counts_.push_back(static_cast<int32_t>(end - tokens.begin()));
  }
  PassGather gather;
  gather.target = static_cast<int32_t>(pass_.segments.size());
  const auto parts = binding_parts(sequence_);
  gather.sources.resize(parts.size());
  for (size_t b = 0; b < parts.size(); ++b)
    gather.sources[b].segment = static_cast<int32_t>(parts[b]);
  for (int32_t place = 0; place < static_cast<int32_t>(tokens.size()); ++place) {
    const auto token = static_cast<size_t>(tokens[static_cast<size_t>(place)]);
    auto& source = gather.sources[static_cast<size_t>(shape_.chunks[token])];
    source.tokens.push_back(shape_.places[token]);
    source.places.push_back(place);
    gathered_positions_.push_back(shape_.positions[token]);
  }
  pass_.gathers.push_back(std::move(gather));

  gathered_layout_.layers = 1;
  gathered_pages_.assign(static_cast<size_t>(pages_for(static_cast<int>(tokens.size()))), nullptr);
  Segment segment;
  segment.layout = &gathered_layout_;
  segment.pages = gathered_pages_;
  segment.count = static_cast<int32_t>(tokens.size());
  segment.count_by_layer = gathered_counts_;
  segment.positions = gathered_positions_;
  pass_.segments.push_back(segment);
}

Status RepairPass::allocate(Device& device) {
  if (pass_.gathers.empty()) return {};
  const auto page_bytes = static_cast<size_t>(gathered_layout_.page_bytes());
  LL_ASSIGN(gathered_memory_, device.allocate(gathered_pages_.size() * page_bytes));
  for (size_t page = 0; page < gathered_pages_.size(); ++page)
    gathered_pages_[page] = gathered_memory_.get() + page * page_bytes;
  for (PassGather::Source& source : pass_.gathers.front().sources)
    for (const int32_t place : source.places)
      source.slots.push_back({&gathered_layout_,
                              gathered_pages_[static_cast<size_t>(place / kPageTokens)],
                              place % kPageTokens});
  return {};
}

size_t RepairPass::piece_rows() const {
  return plan_.released ? std::max<size_t>(1, pass_.rows.size()) : 0;
}

}  // namespace looseleaf

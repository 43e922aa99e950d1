#include "engine/score.h"

#include <algorithm>

#include "engine/document_tokens.h"
#include "engine/run_pieces.h"

namespace looseleaf {

Expected<std::vector<float>> score_documents(EngineCore& core, Sequence& sequence,
                                             bool of_documents, size_t rows,
                                             std::span<float> logits) {
  const ModelConfig& config = core.model->config;
  Pass pass = pending_text(sequence, sequence.parts.size(), config.layers);
  if (logits.empty()) {
    pass.rows.back().depth = config.layers - 1;
    pass.outputs = 0;
  }
  const size_t scoring = std::min(rows, pass.rows.size());
  if (scoring < pass.rows.size()) {  // the others see the same, and nobody asks where they look
    pass.groups.push_back(pass.groups.back());
    for (PassRow& row : std::span(pass.rows).last(scoring)) ++row.group;
  }
  int32_t place = 0;
  for (const size_t part : binding_parts(sequence)) {
    pass.groups.back().uses[part].mass = place;
    place += pass.segments[part].count;
  }
  pass.mass_places = place;
  pass.mass_of_documents = of_documents;
  std::vector<float> mass(static_cast<size_t>(config.layers) * static_cast<size_t>(place));
  const size_t bytes = mass.size() * sizeof(float);
  LL_ASSIGN(const DeviceMemory memory, core.device->allocate(bytes));
  core.device->upload(memory.get(), mass.data(), bytes);
  LL_RETURN_IF_ERROR(
      run_in_pieces(core, pass, logits, {.mass = reinterpret_cast<float*>(memory.get())}));
  core.device->download(mass.data(), memory.get(), bytes);
  LL_RETURN_IF_ERROR(core.device->wait());
  const auto vectors = static_cast<float>(scoring) * static_cast<float>(config.heads);
  for (float& m : mass) m /= vectors;
  return mass;
}

Expected<FirstLayers> run_first_layers(EngineCore& core, Sequence& sequence,
                                       const PromptShape& shape) {
  const ModelConfig& config = core.model->config;
  FirstLayers out(core.private_layout);
  LL_RETURN_IF_ERROR(out.kv.extend(core.pool, shape.tokens()));
  out.start = shape.positions.front();
  Pass pass;
  pass.segments = sequence.segments();
  pass.end_layer = 2;
  pass.first_kv_layer = 1;
  std::vector<SegmentUse> all;
  const auto ids = document_token_ids(sequence);
  int32_t token = 0;
  for (size_t part = 0; part + 1 < sequence.parts.size(); ++part) {
    all.push_back({static_cast<int32_t>(part)});
    if (const auto* binding = std::get_if<Binding>(&sequence.parts[part])) {
      for (int i = 0; i < binding->chunk->tokens(); ++i, ++token)
        pass.rows.push_back({ids[static_cast<size_t>(token)], binding->position + i, 1,
                             out.kv.slot(token), 0, PassRow::kOwnPosition});
      continue;
    }
    const auto& run = std::get<TextRun>(sequence.parts[part]);
    if (run.position < out.start) continue;
    pass.first_kv_layer = 0;
    for (int i = 0; i < static_cast<int>(run.tokens.size()); ++i)
      pass.rows.push_back({run.tokens[static_cast<size_t>(i)], run.position + i, 1, run.kv.slot(i),
                           0, PassRow::kOwnPosition});
  }
  pass.groups.push_back({std::move(all), sequence.rope.get()});
  LL_ASSIGN(out.hidden, core.device->allocate(pass.rows.size() *
                                              static_cast<size_t>(config.hidden) * sizeof(float)));
  LL_RETURN_IF_ERROR(
      run_in_pieces(core, pass, {}, {.hidden_out = reinterpret_cast<float*>(out.hidden.get())}));

  out.deviation.resize(static_cast<size_t>(shape.tokens()));
  const size_t bytes = out.deviation.size() * sizeof(float);
  LL_ASSIGN(const DeviceMemory memory, core.device->allocate(bytes));
  auto* deviation = reinterpret_cast<float*>(memory.get());
  const Segment fresh = out.kv.segment(0);
  int32_t first = 0;
  for (const size_t part : binding_parts(sequence)) {
    const Segment& stored = pass.segments[part];
    core.device->value_deviation({1, &fresh, &stored, first, deviation + first});
    first += stored.count;
  }
  core.device->download(out.deviation.data(), deviation, bytes);
  LL_RETURN_IF_ERROR(core.device->wait());
  return out;
}

}  // namespace looseleaf

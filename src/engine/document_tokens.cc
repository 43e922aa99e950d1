#include "engine/document_tokens.h"

namespace looseleaf {

PromptShape shape_of(const Sequence& sequence, int layers) {
  PromptShape shape;
  shape.layers = layers;
  shape.prompt_tokens = sequence.prompt_tokens;
  int32_t bindings = 0;
  for (const auto& part : sequence.parts) {
    const auto* binding = std::get_if<Binding>(&part);
    if (binding == nullptr) continue;
    for (int32_t i = 0; i < binding->chunk->tokens(); ++i) {
      shape.positions.push_back(binding->position + i);
      shape.chunks.push_back(bindings);
      shape.places.push_back(i);
    }
    ++bindings;
  }
  return shape;
}

std::vector<size_t> binding_parts(const Sequence& sequence) {
  std::vector<size_t> parts;
  for (size_t part = 0; part < sequence.parts.size(); ++part)
    if (std::holds_alternative<Binding>(sequence.parts[part])) parts.push_back(part);
  return parts;
}

std::vector<int32_t> chunk_tokens(const Sequence& sequence) {
  std::vector<int32_t> tokens;
  for (const size_t part : binding_parts(sequence))
    tokens.push_back(std::get<Binding>(sequence.parts[part]).chunk->tokens());
  return tokens;
}

std::vector<int32_t> document_token_ids(const Sequence& sequence) {
  std::vector<int32_t> ids;
  for (const size_t part : binding_parts(sequence)) {
    const auto& tokens = std::get<Binding>(sequence.parts[part]).chunk->identity.tokens;
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  }
  return ids;
}

}  // namespace looseleaf

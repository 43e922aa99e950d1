// What a repair chooses from: passes over the unrepaired cache.
#pragma once

#include <memory>
#include <vector>

#include "engine/sequence.h"
#include "repair/plan.h"

namespace looseleaf {

// Attention of the last text's tokens, of its `rows` last ones where it has more, to each document
// token, mean over heads and rows: [layers, tokens]. With `of_documents` as shares of the attention
// to documents, else of all. With `logits` ([vocab], else empty) all rows leave their keys and
// values and logits as compute_text would, for the case that nothing is repaired.
// REQUIRES: the text before the last is computed. Errors: kUnavailable.
Expected<std::vector<float>> score_documents(EngineCore& core, Sequence& sequence,
                                             bool of_documents, size_t rows,
                                             std::span<float> logits);

// The beginning of a repair that goes through everything once (CacheBlend): layer 0 of all tokens
// behind the header, and their keys and values of layer 1.
struct FirstLayers {
  explicit FirstLayers(const KvLayout& private_layout)
      : layout(std::make_unique<KvLayout>(private_layout)), kv(*layout) {
    layout->layers = 1;
    layout->first_layer = 1;
  }

  std::vector<float> deviation;      // [tokens] see RepairInput
  DeviceMemory hidden;               // [prompt tokens from start to the question, hidden] floats
                                     // entering layer 1
  int32_t start = 0;                 // prompt position of the first document
  std::unique_ptr<KvLayout> layout;  // of kv
  KvRun kv;                          // [tokens] layer 1 alone, keys at prompt positions
};

// REQUIRES: the header is computed; the model has two layers. Errors: kUnavailable.
Expected<FirstLayers> run_first_layers(EngineCore& core, Sequence& sequence,
                                       const PromptShape& shape);

}  // namespace looseleaf

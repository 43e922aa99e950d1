// One page of keys and values taken into the softmax of many query vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/kv_layout.h"

namespace looseleaf {

static_assert(kPageTokens == 32, "a page's visible keys are one 32-bit mask");

// Width of an accumulated value: head_dim padded to whole vectors of any processor.
constexpr size_t padded_dim(size_t head_dim) { return (head_dim + 31) / 32 * 32; }

// Softmax sums of query vectors, with exp(score - largest) as weights (1805.02867).
struct SoftmaxState {
  float* largest;  // [vectors] -infinity: nothing seen yet
  float* sum;      // [vectors] of the weights
  float* values;   // [vectors, padded_dim(head_dim)] sum of weight * value
};

struct AttendPage {
  size_t vectors = 0;
  size_t share = 1;  // vectors a row
  size_t head_dim = 0;
  const float* queries = nullptr;     // [vectors, head_dim] times the scale of scores
  const float* keys = nullptr;        // [head_dim, kPageTokens]
  const float* values = nullptr;      // [kPageTokens, padded_dim(head_dim)] 0 where nobody sees
  const uint32_t* visible = nullptr;  // [vectors / share] a bit a key
  // ALiBi, or null: score += slope * (key position - row position).
  const float* slopes = nullptr;           // [share]
  const int32_t* key_positions = nullptr;  // [kPageTokens]
  const int32_t* row_positions = nullptr;  // [vectors / share]
  float* weights = nullptr;                // [vectors, kPageTokens] scratch
  SoftmaxState state;
};

// A vector's result has the same bits whatever vectors stand beside it.
void attend_page(const AttendPage& page);

// keys: [kPageTokens, head_dim] to [head_dim, kPageTokens].
void transpose_keys(const float* keys, size_t head_dim, float* transposed);

// Adds the sums of a later part of the keys to one vector's.
void merge_softmax(const SoftmaxState& part, size_t part_vector, const SoftmaxState& into,
                   size_t vector, size_t head_dim);

}  // namespace looseleaf

// The identity of a model: equal fingerprints mean equal keys and values for equal tokens.
#pragma once

#include <string>

#include "model/model.h"

namespace looseleaf {

// SHA-256 in hex over the configuration, the tokenizer and the XXH3 of every tensor with its role,
// type and shape; for random weights, how and by which name they are drawn stands for the tensors.
// The chat template and the end-of-generation tokens stay out: they decide what is asked, never
// what a token's keys and values are. Keeps the tensors' hashes beside `model.files`.
std::string fingerprint(const Model& model);

}  // namespace looseleaf

// From tensors by name to weights by role, every shape checked.
#pragma once

#include "model/architectures.h"
#include "model/model.h"

namespace looseleaf {

// Fills the weights, `tied`, `weight_bytes`, config.vocab where it is 0, and config.rope.divisors.
// A tensor that has no role is an error: leaving it out would change what the model computes.
// `path` starts the messages. Errors: kCorrupt, kUnsupported.
Status assign_weights(const TensorTable& tensors, const TensorNames& names,
                      const DeclaredWeights& declared, std::string_view path, Model& model);

}  // namespace looseleaf

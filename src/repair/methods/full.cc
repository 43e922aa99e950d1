#include "repair/method.h"

namespace looseleaf {

extern const MethodInfo kFull;
const MethodInfo kFull = {
    .name = "full",
    .summary = "ordinary prefill: every document attends to all that stands before it",
    .citation = "the quality reference",
    .storage = DocumentStorage::kPrivate,
    .options = {},
};

}  // namespace looseleaf

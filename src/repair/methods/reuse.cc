#include "repair/method.h"

namespace looseleaf {

extern const MethodInfo kReuse;
const MethodInfo kReuse = {
    .name = "reuse",
    .summary = "documents computed alone and attended to where they lie: zero copies",
    .citation = "LazyAttention, 2606.04302",
    .storage = DocumentStorage::kShared,
    .options = {},
};

}  // namespace looseleaf

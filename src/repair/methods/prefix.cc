#include "repair/method.h"

namespace looseleaf {

extern const MethodInfo kPrefix;
const MethodInfo kPrefix = {
    .name = "prefix",
    .summary = "exact; pages are shared by prompts that begin with the same tokens",
    .citation = "PagedAttention, 2309.06180; RadixAttention, 2312.07104",
    .storage = DocumentStorage::kPrefix,
    .options = {},
};

}  // namespace looseleaf

#include "repair/method.h"

namespace looseleaf {
namespace {

constexpr MethodOption kOptions[] = {
    {"inplace", "0", "0|1", "move the chunk itself instead of a copy where nobody else holds it"},
};

}  // namespace

extern const MethodInfo kBlock;
const MethodInfo kBlock = {
    .name = "block",
    .summary = "documents computed alone, then copied with their keys moved to the prompt position",
    .citation = "Block-Attention, 2409.15355",
    .storage = DocumentStorage::kCopy,
    .options = kOptions,
};

}  // namespace looseleaf

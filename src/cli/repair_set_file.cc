#include "cli/repair_set_file.h"

#include <algorithm>
#include <cstring>

#include "cli/npz.h"

namespace looseleaf {
namespace {

Status check_chunks(const std::string& path, const std::vector<int32_t>& chunks) {
  int32_t before = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const bool starts = i == 0;
    if (starts ? chunks[i] != 0 : chunks[i] != before && chunks[i] != before + 1)
      return error(ErrorCode::kCorrupt,
                   "{}: token_chunks[{}] is {}, but documents are numbered from 0 in prompt order",
                   path, i, chunks[i]);
    before = chunks[i];
  }
  return {};
}

}  // namespace

Expected<RepairSet> read_repair_set(const std::string& path) {
  LL_ASSIGN(const Npz arrays, read_npz(path));
  const auto targets = arrays.find("targets"), chunks = arrays.find("token_chunks");
  if (targets == arrays.end() || chunks == arrays.end() || targets->second.type != "|b1" ||
      chunks->second.type != "<i4" || targets->second.shape.size() != 2 ||
      chunks->second.shape != std::vector<int64_t>{targets->second.shape[1]})
    return error(ErrorCode::kCorrupt,
                 "{}: needs targets, bool [layers, tokens], and token_chunks, int32 [tokens], as "
                 "`looseleaf run --method weave --dump DIR` writes them",
                 path);
  const auto layers = static_cast<size_t>(targets->second.shape[0]);
  const auto tokens = static_cast<size_t>(targets->second.shape[1]);
  RepairSet set{.layers = static_cast<int>(layers),
                .depths = std::vector<int32_t>(tokens, RepairPlan::kOutside),
                .chunks = std::vector<int32_t>(tokens)};
  std::memcpy(set.chunks.data(), chunks->second.bytes.data(), tokens * sizeof(int32_t));
  LL_RETURN_IF_ERROR(check_chunks(path, set.chunks));
  for (size_t layer = 0; layer < layers; ++layer)
    for (size_t i = 0; i < tokens; ++i) {
      if (targets->second.bytes[layer * tokens + i] == 0) continue;
      if (set.depths[i] != static_cast<int32_t>(layer) - 1)
        return error(ErrorCode::kCorrupt,
                     "{}: targets[{}][{}] is set, but not in the layer before: a token is "
                     "recomputed from layer 0 on",
                     path, layer, i);
      set.depths[i] = static_cast<int32_t>(layer);
    }
  if (std::ranges::none_of(set.depths, [](int32_t depth) { return depth > 0; }))
    return error(ErrorCode::kCorrupt, "{}: no token is a target behind layer 0", path);
  return set;
}

}  // namespace looseleaf

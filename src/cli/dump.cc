#include "cli/dump.h"

#include <filesystem>

#include "base/status.h"
#include "cli/npz.h"

namespace looseleaf {

Status dump_repair(const Answer& answer, const std::string& folder, size_t number) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return error(ErrorCode::kUnavailable, "--dump {}: cannot be made: {}", folder,
                 failed.message());
  const size_t tokens = answer.token_chunks.size(), layers = answer.targets.size();
  std::vector<char> targets(layers * tokens, 0);
  for (size_t layer = 0; layer < layers; ++layer)
    for (const int32_t token : answer.targets[layer])
      targets[layer * tokens + static_cast<size_t>(token)] = 1;
  const auto count = static_cast<int64_t>(tokens), depth = static_cast<int64_t>(layers);
  const auto path = std::filesystem::path(folder) / fmt::format("{}.npz", number);
  return write_npz(path.string(),
                   {{"scores", npy_array("<f4", {depth, count}, answer.scores.data(),
                                         answer.scores.size() * sizeof(float))},
                    {"targets", npy_array("|b1", {depth, count}, targets.data(), targets.size())},
                    {"token_chunks", npy_array("<i4", {count}, answer.token_chunks.data(),
                                               tokens * sizeof(int32_t))}});
}

}  // namespace looseleaf

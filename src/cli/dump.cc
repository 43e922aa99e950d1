#include "cli/dump.h"

#include <zip.h>

#include <filesystem>

#include "base/status.h"

namespace looseleaf {
namespace {

// NumPy's format, version 1.0: magic, length of the header, a Python literal padded so that the
// data begins at a multiple of 64.
std::string npy(const std::string& type, const std::string& shape, const void* data, size_t bytes) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(static_cast<const char*>(data), bytes);
  return out;
}

Status write_zip(const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    const std::string why = zip_error_strerror(&reason);
    zip_error_fini(&reason);
    return error(ErrorCode::kUnavailable, "{}: cannot be written: {}", path, why);
  }
  bool good = true;
  for (const auto& [name, bytes] : files) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    if (index < 0 && source != nullptr) zip_source_free(source);
    good =
        good && index >= 0 &&
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0;
  }
  if (good && zip_close(archive) == 0) return {};
  const std::string why = zip_strerror(archive);
  zip_discard(archive);
  return error(ErrorCode::kUnavailable, "{}: cannot be written: {}", path, why);
}

}  // namespace

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
  const std::string shape = fmt::format("{}, {}", layers, tokens);
  const auto path = std::filesystem::path(folder) / fmt::format("{}.npz", number);
  return write_zip(
      path.string(),
      {{"scores.npy",
        npy("<f4", shape, answer.scores.data(), answer.scores.size() * sizeof(float))},
       {"targets.npy", npy("|b1", shape, targets.data(), targets.size())},
       {"token_chunks.npy", npy("<i4", fmt::format("{},", tokens), answer.token_chunks.data(),
                                tokens * sizeof(int32_t))}});
}

}  // namespace looseleaf

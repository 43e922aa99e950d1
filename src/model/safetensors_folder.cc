#include <map>
#include <set>

#include "base/json_parse.h"
#include "base/json_reader.h"
#include "model/files.h"
#include "model/safetensors.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

// An index comes with the model, so it may name files of this folder only.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

// Tensor name -> shard.
Expected<std::map<std::string, std::string>> read_index(const std::filesystem::path& path) {
  LL_ASSIGN(const auto object, read_json_object(path));
  LL_ASSIGN(const auto weight_map,
            ObjectReader(object, path.string()).get<ObjectReader>("weight_map"));
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, shard] : weight_map.object()) {
    if (!shard.is_string() || !is_plain_name(std::string_view(shard.get_string())))
      return error(ErrorCode::kCorrupt,
                   "{}: tensor {}: its shard is not the name of a file beside it",
                   weight_map.where(), quote(std::string_view(tensor)));
    shards.emplace(std::string_view(tensor), std::string_view(shard.get_string()));
  }
  return shards;
}

Status add_file(const std::filesystem::path& path, SafetensorsFolder& out) {
  LL_ASSIGN(auto file, MappedFile::open(path));
  LL_RETURN_IF_ERROR(read_safetensors(*file, out.tensors));
  out.files.push_back(std::move(file));
  return {};
}

// The index and the shards must tell the same.
Status check_index(const std::filesystem::path& path,
                   const std::map<std::string, std::string>& shards, const TensorTable& tensors) {
  for (const auto& [name, shard] : shards) {
    const StoredTensor* tensor = tensors.find(name);
    if (tensor == nullptr || tensor->file->path().filename() != shard)
      return error(ErrorCode::kCorrupt, "{}: tensor {} is not in {}: get the model again",
                   path.string(), quote(name), quote(shard));
  }
  for (const StoredTensor& tensor : tensors.tensors())
    if (!shards.contains(tensor.name))
      return error(ErrorCode::kCorrupt, "{}: {} does not name it", tensor.where(), kIndex);
  return {};
}

}  // namespace

Expected<SafetensorsFolder> read_safetensors_folder(const std::filesystem::path& folder) {
  SafetensorsFolder out;
  if (has_file(folder / kSingle)) {
    LL_RETURN_IF_ERROR(add_file(folder / kSingle, out));
    return out;
  }
  const auto index = folder / kIndex;
  if (!has_file(index)) {
    if (has_file(folder / "pytorch_model.bin") || has_file(folder / "pytorch_model.bin.index.json"))
      return error(ErrorCode::kUnsupported,
                   "{}: holds PyTorch pickles only, which can run code when read: convert it to "
                   "safetensors",
                   folder.string());
    return error(ErrorCode::kNotFound, "{}: holds neither {} nor {}", folder.string(), kSingle,
                 kIndex);
  }
  LL_ASSIGN(const auto shards, read_index(index));
  std::set<std::string> names;
  for (const auto& [tensor, shard] : shards) names.insert(shard);
  for (const auto& name : names) {
    if (!has_file(folder / name))
      return error(ErrorCode::kNotFound, "{}: shard {} is missing: get the model again",
                   index.string(), quote(name));
    LL_RETURN_IF_ERROR(add_file(folder / name, out));
  }
  LL_RETURN_IF_ERROR(check_index(index, shards, out.tensors));
  return out;
}

}  // namespace looseleaf

// Reads safetensors: one file, or a folder's model.safetensors or its shards.
#pragma once

#include <filesystem>

#include "model/tensor_table.h"

namespace looseleaf {

// Adds a file's tensors to `table`; they point into `file`, which the caller keeps.
// Errors: kCorrupt (with the offset or tensor), kUnsupported (weight type).
Status read_safetensors(const MappedFile& file, TensorTable& table);

struct SafetensorsFolder {
  TensorTable tensors;
  std::vector<std::shared_ptr<const MappedFile>> files;  // own the data
};

// model.safetensors, or every shard that model.safetensors.index.json names.
// Errors: as above; kNotFound (neither is there, or a shard is missing, by name).
Expected<SafetensorsFolder> read_safetensors_folder(const std::filesystem::path& folder);

}  // namespace looseleaf

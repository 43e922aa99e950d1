// load_model: which form a path has.
#include <cstring>

#include "model/fingerprint.h"
#include "model/hub.h"
#include "model/load_formats.h"
#include "model/random_shape.h"

namespace looseleaf {
namespace {

// What a file that is not GGUF probably is, and what to give instead.
tl::unexpected<Error> not_gguf(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto path = file.path().string();
  const auto starts_with = [&](std::string_view text) {
    return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
  };
  if (starts_with("version https://git-lfs"))
    return error(ErrorCode::kCorrupt,
                 "{}: a git-lfs pointer, not the model: fetch the file with git lfs pull", path);
  if (file.path().extension() == ".safetensors")
    return error(ErrorCode::kUsage, "{}: give the folder that holds it and its config.json", path);
  if (starts_with("PK\x03\x04") || starts_with("\x80\x02"))
    return error(ErrorCode::kUnsupported,
                 "{}: a PyTorch pickle, which can run code when read: convert it to safetensors or "
                 "GGUF",
                 path);
  return error(ErrorCode::kCorrupt,
               "{}: does not start with 'GGUF': give a GGUF file or a folder with config.json and "
               "safetensors",
               path);
}

Status load_file_or_folder(const std::filesystem::path& path, Model& model) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) return load_folder(path, model);
  LL_ASSIGN(auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) return not_gguf(*file);
  return load_gguf(std::move(file), model);
}

// A snapshot may hold a part of the model only: some tools fetch file by file.
Status load_from_hub(const std::filesystem::path& path, Model& model) {
  LL_ASSIGN(const HubName name, parse_hub_name(path.native()));
  LL_ASSIGN(const auto snapshot, find_snapshot(name, hub_cache_folder()));
  model.path = snapshot.string();
  Status loaded = load_file_or_folder(snapshot, model);
  if (!loaded && loaded.error().code == ErrorCode::kNotFound)
    loaded.error().message += fmt::format("; fetch all of it with: {}", name.download_command());
  return loaded;
}

Status load_named(const std::filesystem::path& path, Model& model) {
  if (is_hub_name(path.native())) return load_from_hub(path, model);
  if (is_random_name(path.native())) return load_random(path.native(), model);
  return load_file_or_folder(path, model);
}

}  // namespace

Expected<std::shared_ptr<const Model>> load_model(const std::filesystem::path& path) {
  auto model = std::make_shared<Model>();
  model->path = path.string();
  LL_RETURN_IF_ERROR(load_named(path, *model));
  model->fingerprint = fingerprint(*model);
  return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace looseleaf

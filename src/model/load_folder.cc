#include <algorithm>

#include "base/json_parse.h"
#include "model/files.h"
#include "model/generation.h"
#include "model/load_formats.h"
#include "model/safetensors.h"
#include "model/weights.h"
#include "text/tokenizer_json.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

// The names in `folder` that end in `ending`, sorted; empty when it cannot be read.
std::vector<std::string> names_ending_in(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code status;
  for (fs::directory_iterator it(folder, status), end; !status && it != end; it.increment(status)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(ending)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

tl::unexpected<Error> no_config(const fs::path& folder) {
  const auto gguf = names_ending_in(folder, ".gguf");
  if (!gguf.empty())
    return error(ErrorCode::kNotFound, "{}: no config.json in this folder: give the file, {}",
                 folder.string(), (folder / gguf.front()).string());
  return error(ErrorCode::kNotFound,
               "{}: no config.json in this folder: give a folder with config.json and safetensors, "
               "or a GGUF file",
               folder.string());
}

// A file that need not be there: null.
Expected<std::shared_ptr<const MappedFile>> open_optional(const fs::path& path) {
  if (!has_file(path)) return nullptr;
  return MappedFile::open(path);
}

std::string_view text_of(const std::shared_ptr<const MappedFile>& file) {
  if (file == nullptr) return {};
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

Status load_generation(const fs::path& path, Model& model) {
  if (!has_file(path)) return {};
  LL_ASSIGN(const auto object, read_json_object(path));
  LL_ASSIGN(model.generation, generation_from_json(ObjectReader(object, path.string())));
  return {};
}

Status load_tokenizer(const fs::path& folder, Model& model) {
  LL_ASSIGN(const auto tokenizer, open_optional(folder / "tokenizer.json"));
  if (tokenizer == nullptr) return {};
  LL_ASSIGN(const auto tokenizer_config, open_optional(folder / "tokenizer_config.json"));
  LL_ASSIGN(auto generation_config, open_optional(folder / "generation_config.json"));
  if (generation_config == nullptr) {
    // Older folders name the tokens that end an answer in config.json.
    LL_ASSIGN(generation_config, open_optional(folder / "config.json"));
  }
  LL_ASSIGN(const auto chat_template, open_optional(folder / "chat_template.jinja"));
  return keep_tokenizer(
      tokenizer_spec_from_json({text_of(tokenizer), text_of(tokenizer_config),
                                text_of(generation_config), text_of(chat_template)}),
      folder.string(), model);
}

}  // namespace

Status load_folder(const fs::path& folder, Model& model) {
  const fs::path config_path = folder / "config.json";
  if (!has_file(config_path)) return no_config(folder);
  LL_ASSIGN(const auto config_object, read_json_object(config_path));
  const ObjectReader config(config_object, config_path.string());
  LL_ASSIGN(const Architecture* architecture, find_architecture(config));
  LL_ASSIGN(Declaration declared, architecture->from_json(config));
  LL_RETURN_IF_ERROR(check_config(declared.config, config.where()));
  model.config = std::move(declared.config);
  model.format = "safetensors";
  LL_ASSIGN(auto weights, read_safetensors_folder(folder));
  model.files = std::move(weights.files);
  LL_RETURN_IF_ERROR(assign_weights(weights.tensors, architecture->hf_tensors, declared.weights,
                                    folder.string(), model));
  LL_RETURN_IF_ERROR(load_generation(folder / "generation_config.json", model));
  return load_tokenizer(folder, model);
}

}  // namespace looseleaf

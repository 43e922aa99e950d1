// The forms in which a model comes. Each fills everything but `path` and `fingerprint`.
#pragma once

#include "model/model.h"

namespace looseleaf {

// REQUIRES: the file starts with GGUF's magic.
Status load_gguf(std::shared_ptr<const MappedFile> file, Model& model);

// A folder with config.json, safetensors and, for text, tokenizer.json.
Status load_folder(const std::filesystem::path& folder, Model& model);

// The shape that random:NAME[/LAYERS] names (random_shape.h), its weights drawn by all threads.
// REQUIRES: is_random_name(path). Errors: kUsage, kUnavailable (no memory for the weights).
Status load_random(std::string_view path, Model& model);

// Gives the model its tokenizer, with a token for each row of the embedding. One that this build
// cannot follow becomes `tokenizer_problem`; other errors are passed on. `folder` starts messages
// that name a file without it.
Status keep_tokenizer(Expected<TokenizerSpec> spec, std::string_view folder, Model& model);

}  // namespace looseleaf

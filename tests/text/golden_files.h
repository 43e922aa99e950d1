// Data that tests find beside the project, and Hugging Face folders read whole.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "text/tokenizer.h"

namespace looseleaf {

// The bytes of a file, empty if there is none.
std::string read_file(const std::filesystem::path& path);

// LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst, unpacked once a process into a folder that
// goes when the process ends; nothing where there is no such file.
std::optional<std::filesystem::path> tokenizer_archive();

Expected<TokenizerSpec> spec_from_folder(const std::filesystem::path& folder);
Expected<TokenizerSpec> spec_from_gguf(const std::filesystem::path& file);

}  // namespace looseleaf

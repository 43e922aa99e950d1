#include "text/golden_files.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/mapped_file.h"
#include "model/gguf.h"
#include "model/gguf_tokenizer.h"
#include "text/tokenizer_json.h"

namespace looseleaf {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "looseleaf-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  return bytes.str();
}

std::optional<std::filesystem::path> tokenizer_archive() {
  static const TemporaryFolder folder;
  static const bool unpacked = [] {
    const char* data = std::getenv("LOOSELEAF_TEST_DATA");
    if (data == nullptr || folder.path().empty()) return false;
    const auto archive = std::filesystem::path(data) / "tokenizers" / "tokenizers.tar.zst";
    if (!std::filesystem::is_regular_file(archive)) return false;
    const std::string command =
        "tar --zstd -xf '" + archive.string() + "' -C '" + folder.path().string() + "'";
    return std::system(command.c_str()) == 0;
  }();
  if (!unpacked) return std::nullopt;
  return folder.path();
}

Expected<TokenizerSpec> spec_from_folder(const std::filesystem::path& folder) {
  const std::string tokenizer = read_file(folder / "tokenizer.json");
  const std::string config = read_file(folder / "tokenizer_config.json");
  const std::string generation = read_file(folder / "generation_config.json");
  return tokenizer_spec_from_json({tokenizer, config, generation, {}});
}

Expected<TokenizerSpec> spec_from_gguf(const std::filesystem::path& file) {
  LL_ASSIGN(auto mapped, MappedFile::open(file));
  LL_ASSIGN(const auto gguf, GgufFile::read(std::move(mapped)));
  return tokenizer_spec_from_gguf(gguf);
}

}  // namespace looseleaf

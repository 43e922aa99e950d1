// A folder in Hugging Face form, packed into one input:
//   config bytes u32, index bytes u32, config.json, model.safetensors.index.json, weights
// Without an index the weights are model.safetensors, else the shard a.safetensors.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "fuzzing.h"
#include "model/model.h"

using namespace looseleaf;

namespace {

std::string_view take(std::string_view& rest, uint32_t bytes) {
  const std::string_view taken = rest.substr(0, bytes);
  rest.remove_prefix(taken.size());
  return taken;
}

void put(const char* name, std::string_view bytes, bool wanted) {
  const auto path = fuzz::folder() / name;
  if (wanted) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return;
  }
  std::error_code status;
  std::filesystem::remove(path, status);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t lengths[2] = {};
  if (size < sizeof lengths) return 0;
  std::memcpy(lengths, data, sizeof lengths);
  std::string_view rest = fuzz::text_of(data + sizeof lengths, size - sizeof lengths);
  const std::string_view config = take(rest, lengths[0]), index = take(rest, lengths[1]);
  put("config.json", config, true);
  put("model.safetensors.index.json", index, !index.empty());
  put("model.safetensors", rest, index.empty());
  put("a.safetensors", rest, !index.empty());
  fuzz::check(load_model(fuzz::folder()));
  return 0;
}

// A GGUF file: metadata, tokenizer, weights table, the whole load.
#include <fstream>

#include "fuzzing.h"
#include "model/gguf.h"
#include "model/gguf_tokenizer.h"
#include "model/model.h"

using namespace looseleaf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto path = fuzz::folder() / "model.gguf";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto model = load_model(path);
  fuzz::check(model);
  if (model && (*model)->tokenizer) fuzz::use_tokenizer(*(*model)->tokenizer);
  if (model) return 0;
  // A file that holds no model may hold a tokenizer.
  auto file = MappedFile::open(path);
  if (!file) return 0;
  const auto gguf = GgufFile::read(std::move(*file));
  fuzz::check(gguf);
  if (!gguf || !has_tokenizer(*gguf)) return 0;
  const auto spec = tokenizer_spec_from_gguf(*gguf);
  fuzz::check(spec);
  if (spec) fuzz::use_tokenizer(*spec);
  return 0;
}

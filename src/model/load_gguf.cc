#include "model/generation.h"
#include "model/gguf_split.h"
#include "model/gguf_tokenizer.h"
#include "model/load_formats.h"
#include "model/weights.h"

namespace looseleaf {
namespace {

// What the converter copies from generation_config.json.
Expected<GenerationDefaults> generation_defaults(const GgufFile& file) {
  GenerationDefaults out;
  LL_ASSIGN(out.temperature, file.find<float>("general.sampling.temp"));
  LL_ASSIGN(out.top_p, file.find<float>("general.sampling.top_p"));
  LL_ASSIGN(out.min_p, file.find<float>("general.sampling.min_p"));
  LL_ASSIGN(out.repetition_penalty, file.find<float>("general.sampling.penalty_repeat"));
  LL_ASSIGN(out.top_k, file.find<int32_t>("general.sampling.top_k"));
  LL_RETURN_IF_ERROR(check_generation(out, file.path()));
  return out;
}

}  // namespace

Status load_gguf(std::shared_ptr<const MappedFile> file, Model& model) {
  LL_ASSIGN(const GgufFile gguf, read_gguf_parts(std::move(file)));
  LL_ASSIGN(const Architecture* architecture, find_architecture(gguf));
  LL_ASSIGN(Declaration declared, architecture->from_gguf(gguf));
  LL_RETURN_IF_ERROR(check_config(declared.config, gguf.path()));
  model.config = std::move(declared.config);
  model.files = gguf.files();
  model.format = fmt::format("gguf v{}", gguf.version());
  LL_RETURN_IF_ERROR(assign_weights(gguf.tensors(), architecture->gguf_tensors, declared.weights,
                                    gguf.path(), model));
  LL_ASSIGN(model.generation, generation_defaults(gguf));
  if (!has_tokenizer(gguf)) return {};
  return keep_tokenizer(tokenizer_spec_from_gguf(gguf), {}, model);
}

}  // namespace looseleaf

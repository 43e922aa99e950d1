// The public Engine: a core behind one lock.
#include <mutex>

#include "base/stopwatch.h"
#include "compute/open_device.h"
#include "engine/core.h"
#include "engine/describe.h"
#include "engine/generate.h"
#include "engine/load_weights.h"
#include "engine/options.h"
#include "engine/read_chunk.h"
#include "engine/self_test.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

class Engine::Impl {
 public:
  Impl(std::shared_ptr<const Model> model, std::unique_ptr<const Tokenizer> tokenizer,
       std::string tokenizer_problem, const ResolvedOptions& options, OpenedDevice opened)
      : core(std::move(model), std::move(tokenizer), std::move(tokenizer_problem), options,
             std::move(opened.device)),
        warning(std::move(opened.warning)) {}

  std::mutex mutex;  // guards core: one request at a time
  EngineCore core;
  const std::string warning;
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Expected<Engine> Engine::load(const std::string& path, const EngineOptions& options) {
  LL_ASSIGN(const std::shared_ptr<const Model> model, load_model(path));
  LL_ASSIGN(OpenedDevice opened,
            open_device(options.device, {options.threads, options.exact, options.deterministic}));
  LL_ASSIGN(ResolvedOptions resolved,
            resolve_options(options, model->config, opened.device->facts()));
  LL_RETURN_IF_ERROR(load_weights(*model, *opened.device));
  LL_ASSIGN(resolved.cache_bytes, opened.device->reserve_pages(resolved.cache_bytes));
  std::unique_ptr<const Tokenizer> tokenizer;
  std::string problem = model->tokenizer_problem;
  if (model->tokenizer) {
    auto created = Tokenizer::create(*model->tokenizer);
    if (created) {
      tokenizer = std::move(*created);
    } else {
      problem = created.error().message;
    }
  }
  auto impl = std::make_unique<Impl>(model, std::move(tokenizer), std::move(problem), resolved,
                                     std::move(opened));
  LL_RETURN_IF_ERROR(self_test(impl->core));
  return Engine(std::move(impl));
}

Expected<std::string> Engine::prefill(const Document& document, const Request& request) {
  const std::lock_guard lock(impl_->mutex);
  return prefill_document(impl_->core, document, request);
}

Expected<Answer> Engine::ask(const Request& request, const OnText& on_text) {
  const Stopwatch waiting;
  const std::lock_guard lock(impl_->mutex);
  return generate(impl_->core, request, on_text, waiting.ms());
}

Expected<Score> Engine::score(const Request& request, const TextOrTokens& continuation,
                              const OnLogits& on_logits) {
  const Stopwatch waiting;
  const std::lock_guard lock(impl_->mutex);
  return generate_and_score(impl_->core, request, continuation, on_logits, waiting.ms());
}

Expected<std::vector<int32_t>> Engine::tokenize(const std::string& text) const {
  const EngineCore& core = impl_->core;  // a tokenizer never changes: no lock
  if (core.tokenizer) return core.tokenizer->encode(text);
  return error(ErrorCode::kUnsupported, "this model has no tokenizer{}{}",
               core.tokenizer_problem.empty() ? "" : ": ", core.tokenizer_problem);
}

Expected<ChunkKv> Engine::chunk_kv(const std::string& chunk_id, int layer) const {
  const std::lock_guard lock(impl_->mutex);
  return read_chunk_kv(impl_->core, chunk_id, layer);
}

Status Engine::pin(const std::string& chunk_id, bool pinned) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->core.chunks.pin(chunk_id, pinned)) return {};
  return error(ErrorCode::kNotFound, "no chunk has the id '{}'", chunk_id);
}

CacheStats Engine::cache_stats() const {
  const std::lock_guard lock(impl_->mutex);
  const EngineCore& core = impl_->core;
  return {
      .limit_bytes = core.pool.limit_bytes(),
      .chunk_bytes = core.chunks.bytes(),
      .prefix_bytes = core.prefixes.bytes(),
      .pinned_bytes = core.chunks.pinned_bytes() + core.prefixes.pinned_bytes(),
      .used_bytes = core.pool.used_bytes(),
      .chunks = core.chunks.count(),
      .evictions = core.pool.evictions(),
  };
}

std::string Engine::warning() const { return impl_->warning; }

void Engine::clear_cache() {
  const std::lock_guard lock(impl_->mutex);
  impl_->core.chunks.clear();
  impl_->core.prefixes.clear();
}

std::string Engine::describe() const {
  const std::lock_guard lock(impl_->mutex);
  return describe_engine(impl_->core);
}

std::string methods() { return describe_methods(); }

const char* version() { return LOOSELEAF_VERSION; }

}  // namespace looseleaf

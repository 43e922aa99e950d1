// What all requests of an engine share.
#pragma once

#include <memory>
#include <string>

#include "cache/chunk_cache.h"
#include "cache/kv_pool.h"
#include "cache/prefix_cache.h"
#include "compute/device.h"
#include "engine/chat_template.h"
#include "engine/forward.h"
#include "model/model.h"
#include "text/tokenizer.h"

namespace looseleaf {

// Options with every "auto" resolved.
struct ResolvedOptions {
  int threads = 1;
  int context = 0;
  int64_t cache_bytes = 0;  // of all pages
  KvType kv_type = KvType::kF16;
  KvType private_kv_type = KvType::kF32;
  bool exact = false;
  bool deterministic = false;
};

// Members are destroyed from the last to the first: caches before the pool, the pool before the
// device. Not thread-safe: the engine lets one request at a time through.
struct EngineCore {
  std::shared_ptr<const Model> model;
  std::unique_ptr<const Tokenizer> tokenizer;  // null: token lists only
  std::string tokenizer_problem;
  ChatTemplate chat_template;
  ResolvedOptions options;
  std::string fingerprint;  // of the model and the numeric path
  std::unique_ptr<Device> device;
  KvLayout chunk_layout;
  KvLayout private_layout;
  KvPool pool;
  ChunkCache chunks;
  PrefixCache prefixes;
  Forward forward;

  EngineCore(std::shared_ptr<const Model> model, std::unique_ptr<const Tokenizer> tokenizer,
             std::string tokenizer_problem, const ResolvedOptions& options,
             std::unique_ptr<Device> device);

  // How the positions of a prompt of this length become angles.
  std::shared_ptr<const RopeRegime> rope_for(int prompt_tokens) const {
    return std::make_shared<const RopeRegime>(rope_regime(model->config.rope, prompt_tokens));
  }

  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;
};

}  // namespace looseleaf

#include "engine/options.h"

#include <string>

#include "base/machine.h"

namespace looseleaf {
namespace {

Expected<KvType> kv_type(const char* option, const std::string& name, KvType automatic) {
  if (name == "auto") return automatic;
  if (const auto type = parse_kv_type(name)) return *type;
  return error(ErrorCode::kUsage, "--{}: '{}' is not one of auto, {}", option, name,
               kv_type_names());
}

}  // namespace

Expected<ResolvedOptions> resolve_options(const EngineOptions& options, const ModelConfig& model,
                                          const DeviceFacts& device) {
  if (options.context < 0) return error(ErrorCode::kUsage, "--ctx: {} is below 1", options.context);
  if (options.context > model.context_length)
    return error(ErrorCode::kUsage, "--ctx: {} is more than the model's {}", options.context,
                 model.context_length);
  if (options.cache_bytes < 0)
    return error(ErrorCode::kUsage, "--cache-bytes: {} is below 0", options.cache_bytes);
  ResolvedOptions resolved;
  resolved.threads = options.threads > 0 ? options.threads : usable_threads();
  resolved.context = options.context > 0 ? options.context : model.context_length;
  resolved.cache_bytes = options.cache_bytes;
  LL_ASSIGN(resolved.kv_type,
            kv_type("kv-type", options.kv_type, options.exact ? KvType::kF32 : device.kv_type));
  LL_ASSIGN(resolved.private_kv_type,
            kv_type("private-kv-type", options.private_kv_type,
                    options.exact ? KvType::kF32 : device.private_kv_type));
  if (options.exact &&
      (resolved.kv_type != KvType::kF32 || resolved.private_kv_type != KvType::kF32))
    return error(ErrorCode::kUsage, "--exact keeps everything in f32: leave out --{} {}",
                 resolved.kv_type != KvType::kF32 ? "kv-type" : "private-kv-type",
                 resolved.kv_type != KvType::kF32 ? options.kv_type : options.private_kv_type);
  resolved.exact = options.exact;
  resolved.deterministic = options.deterministic;
  return resolved;
}

}  // namespace looseleaf

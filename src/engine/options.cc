#include "engine/options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace looseleaf {
namespace {

// The first word of a cgroup v2 file, or "".
std::string cgroup_value(const char* name) {
  std::ifstream file(std::string("/sys/fs/cgroup/") + name);
  std::string word;
  file >> word;
  return word;
}

// Processors that affinity and the cgroup's quota leave to this process.
int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int threads = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  std::ifstream quota("/sys/fs/cgroup/cpu.max");
  double share = 0, period = 0;
  if (quota >> share >> period && period > 0)  // "max 100000" does not parse: no quota
    threads = std::min(threads, std::max(1, static_cast<int>(std::ceil(share / period))));
  return std::max(1, threads);
}

// The smaller of RAM and the cgroup's limit.
int64_t usable_memory() {
  int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const std::string limit = cgroup_value("memory.max");
  if (!limit.empty() && limit.size() <= 18 &&
      limit.find_first_not_of("0123456789") == std::string::npos)
    bytes = std::min<int64_t>(bytes, std::stoll(limit));
  return bytes;
}

Expected<KvType> kv_type(const char* option, const std::string& name, KvType automatic) {
  if (name == "auto") return automatic;
  if (const auto type = parse_kv_type(name)) return *type;
  return error(ErrorCode::kUsage, "--{}: '{}' is not one of auto, f32, bf16, f16, q8_0", option,
               name);
}

}  // namespace

Expected<ResolvedOptions> resolve_options(const EngineOptions& options, const ModelConfig& model) {
  if (options.device != "auto" && options.device != "cpu")
    return error(ErrorCode::kUnsupported, "--device {}: this build has the device cpu only",
                 options.device);
  if (options.threads < 0 || options.threads > 1024)
    return error(ErrorCode::kUsage, "--threads: {} is not between 1 and 1024", options.threads);
  if (options.context < 0) return error(ErrorCode::kUsage, "--ctx: {} is below 1", options.context);
  if (options.context > model.context_length)
    return error(ErrorCode::kUsage, "--ctx: {} is more than the model's {}", options.context,
                 model.context_length);
  if (options.cache_bytes < 0)
    return error(ErrorCode::kUsage, "--cache-bytes: {} is below 0", options.cache_bytes);
  ResolvedOptions resolved;
  resolved.threads = options.threads > 0 ? options.threads : usable_threads();
  resolved.context = options.context > 0 ? options.context : model.context_length;
  resolved.cache_bytes = options.cache_bytes > 0 ? options.cache_bytes : usable_memory() / 10 * 4;
  LL_ASSIGN(resolved.kv_type,
            kv_type("kv-type", options.kv_type, options.exact ? KvType::kF32 : KvType::kF16));
  LL_ASSIGN(resolved.private_kv_type,
            kv_type("private-kv-type", options.private_kv_type, KvType::kF32));
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

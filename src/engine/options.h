// Engine options with every "auto" resolved against model and machine.
#pragma once

#include "base/status.h"
#include "engine/core.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// cache_bytes 0 stays 0: the device says what it has. Errors: kUsage (a value that is no such thing
// or out of range).
Expected<ResolvedOptions> resolve_options(const EngineOptions& options, const ModelConfig& model,
                                          const DeviceFacts& device);

}  // namespace looseleaf

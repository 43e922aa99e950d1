// Engine options with every "auto" resolved against model and machine.
#pragma once

#include "base/status.h"
#include "engine/core.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// Errors: kUsage (a value that is no such thing or out of range), kUnsupported (a device that this
// build does not have).
Expected<ResolvedOptions> resolve_options(const EngineOptions& options, const ModelConfig& model);

}  // namespace looseleaf

// EngineOptions as JSON.
#pragma once

#include "base/status.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// `text`: an object of the members of EngineOptions, or null for the defaults.
// Errors: kInvalidArgument (a member of another name or type).
Expected<EngineOptions> read_engine_options(const char* text);

}  // namespace looseleaf

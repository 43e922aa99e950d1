// A recorded repair from a file of `run --dump`.
#pragma once

#include <string>

#include "base/status.h"
#include "repair/repair_set.h"

namespace looseleaf {

// Takes `targets` (bool [layers, tokens]) and `token_chunks` (int32 [tokens]); other arrays are
// passed over. Errors: kNotFound, kCorrupt (no such arrays, a layer has targets that the one before
// has not, nothing is recomputed).
Expected<RepairSet> read_repair_set(const std::string& path);

}  // namespace looseleaf

// What a repair chose and from what, for NumPy.
#pragma once

#include <string>

#include "looseleaf/looseleaf.h"

namespace looseleaf {

// Writes FOLDER/NUMBER.npz with `scores` (float32 [layers, tokens]), `targets` (bool [layers,
// tokens]) and `token_chunks` (int32 [tokens]). The folder is made where it is missing. Errors:
// kUnavailable (the folder cannot be made, the file not written).
Status dump_repair(const Answer& answer, const std::string& folder, size_t number);

}  // namespace looseleaf

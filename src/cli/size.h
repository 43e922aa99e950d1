// Byte sizes as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// "4096", "512M", "1.5G": powers of 1024, suffix K, M, G or T of either case, "iB" or "B" after it.
// Errors: kUsage.
Expected<int64_t> parse_size(std::string_view text);

}  // namespace looseleaf

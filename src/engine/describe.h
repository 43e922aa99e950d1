// Facts about an engine and its methods as JSON.
#pragma once

#include <string>

#include "engine/core.h"

namespace looseleaf {

std::string describe_engine(const EngineCore& core);
std::string describe_methods();

}  // namespace looseleaf

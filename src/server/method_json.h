// A method as a body writes it: "relaxkv:0.15:context=union", or the same as an object.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace looseleaf {

// A string, or {"name", "ratio"?, option?: value...}, as NAME[:NUMBER][:key=value]... Whether the
// name and the options exist is for the engine to say.
Expected<std::string> read_method(const JsonField& field);

// Refuses what can never be one method: nothing at all, or a sweep a..b/n, which is for eval.
Status check_method(std::string_view method, const std::string& field);

}  // namespace looseleaf

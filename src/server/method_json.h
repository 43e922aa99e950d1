// A method as a body writes it: "relaxkv:0.15:context=union", or the same as an object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct MethodFields {
  std::string method;                    // NAME[:NUMBER][:key=value]...
  std::optional<RepairTargets> targets;  // of `plan`
};

// A string, or {"name", "ratio"?, option?: value...}; of the method `plan` "targets" is a list of
// token numbers a layer, and "context" may be one list. Whether the name and the options exist is
// for the engine to say.
Expected<MethodFields> read_method(const JsonField& field);

// Refuses what can never be one method: nothing at all, or a sweep a..b/n, which is for eval.
Status check_method(std::string_view method, const std::string& field);

}  // namespace looseleaf

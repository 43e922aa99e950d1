// What a model's makers recommend for sampling.
#pragma once

#include "base/json_reader.h"
#include "model/model.h"

namespace looseleaf {

// Errors: kCorrupt (a value outside its range). `where` starts the message.
Status check_generation(const GenerationDefaults& defaults, std::string_view where);

// generation_config.json. Its numbers count only where it says do_sample.
Expected<GenerationDefaults> generation_from_json(const ObjectReader& config);

}  // namespace looseleaf

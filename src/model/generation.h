// What a model's makers recommend for sampling, and which tokens they say end an answer.
#pragma once

#include <vector>

#include "model/json.h"
#include "model/model.h"

namespace looseleaf {

// Errors: kCorrupt (a value outside its range). `where` starts the message.
Status check_generation(const GenerationDefaults& defaults, std::string_view where);

// generation_config.json. Its numbers count only where it says do_sample.
Expected<GenerationDefaults> generation_from_json(const JsonView& config);

// `eos_token_id` of generation_config.json or config.json: a number, a list of them, or nothing.
Expected<std::vector<int32_t>> eos_ids_from_json(const JsonView& config);

}  // namespace looseleaf

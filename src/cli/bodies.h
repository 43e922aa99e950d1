// API bodies from files: what a server would get, answered without one.
#pragma once

#include <string>
#include <vector>

#include "server/openai_request.h"

namespace looseleaf {

struct Body {
  std::string place;  // "bodies.jsonl:3", for errors
  Expected<ParsedRequest> parsed;
};

// Parses the body in the file, or, with `lines`, one on each line that is not empty.
// Errors: the file's; a body that is refused says so itself.
Expected<std::vector<Body>> read_bodies(const std::string& path, bool lines,
                                        const BodyDefaults& defaults);

// "bodies.jsonl:3: documents[1].text: must be a string, not 5"
Error with_place(const Body& body, Error error);

}  // namespace looseleaf

#include "cli/bodies.h"

#include <algorithm>
#include <string_view>

#include "cli/read_file.h"

namespace looseleaf {

Expected<std::vector<Body>> read_bodies(const std::string& path, bool lines,
                                        const BodyDefaults& defaults) {
  LL_ASSIGN(const std::string text, read_text_file(path));
  const std::string name = shown_path(path);
  std::vector<Body> bodies;
  if (!lines) {
    bodies.push_back({name, parse_request(text, defaults)});
    return bodies;
  }
  std::string_view rest = text;
  for (size_t line = 1; !rest.empty(); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    bodies.push_back({fmt::format("{}:{}", name, line), parse_request(row, defaults)});
  }
  if (bodies.empty()) {
    return error(ErrorCode::kInvalidArgument, "{}: holds no request", name);
  }
  return bodies;
}

Error with_place(const Body& body, Error error) {
  error.message = fmt::format("{}: {}", body.place, error.message);
  return error;
}

}  // namespace looseleaf

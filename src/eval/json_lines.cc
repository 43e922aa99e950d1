#include "eval/json_lines.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/json_parse.h"

namespace looseleaf {
namespace {

tl::unexpected<Error> at_line(const DataFile& file, int line, Error error) {
  error.message = fmt::format("{}:{}: {}", file.path, line, error.message);
  return tl::unexpected(std::move(error));
}

}  // namespace

Status for_each_line(const DataFile& file, int limit,
                     const std::function<Status(const boost::json::value&, int line)>& read) {
  std::string_view rest = file.text;
  int count = 0;
  for (int line = 1; !rest.empty() && (limit == 0 || count < limit); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto value = parse_json(row);
    if (!value) return at_line(file, line, value.error());
    if (Status status = read(*value, line); !status)
      return at_line(file, line, std::move(status).error());
    ++count;
  }
  if (count > 0) return {};
  return error(ErrorCode::kInvalidArgument, "{}: holds no samples", file.path);
}

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace looseleaf

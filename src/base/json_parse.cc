#include "base/json_parse.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/mapped_file.h"
#include "base/utf8.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// Builds a value from the parser's events. Boost's own builder lets the last of equal keys win and
// may round a double to a neighbour of the nearest one.
struct Builder {
  static constexpr size_t max_object_size = json::object::max_size();
  static constexpr size_t max_array_size = json::array::max_size();
  static constexpr size_t max_key_size = json::string::max_size();
  static constexpr size_t max_string_size = json::string::max_size();

  json::value_stack stack;
  std::vector<std::set<std::string, std::less<>>> keys;  // of each object that is still open
  std::string key_start;                                 // parts of a key that is still open
  std::string problem;                                   // why an event was refused

  bool refuse(std::string why, json::error_code& ec) {
    problem = std::move(why);
    ec = json::error::syntax;
    return false;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    keys.emplace_back();
    return true;
  }
  bool on_object_end(size_t n, json::error_code&) {
    keys.pop_back();
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(size_t n, json::error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    key_start.append(part.data(), part.size());
    stack.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, size_t, json::error_code& ec) {
    std::string key = std::move(key_start).append(part.data(), part.size());
    key_start.clear();
    stack.push_key(part);
    if (keys.back().contains(key))
      return refuse("the key " + in_quotes(key) + " stands here twice", ec);
    keys.back().insert(std::move(key));
    return true;
  }
  bool on_string_part(json::string_view part, size_t, json::error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, size_t, json::error_code&) {
    stack.push_string(part);
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t number, json::string_view, json::error_code&) {
    stack.push_int64(number);
    return true;
  }
  bool on_uint64(uint64_t number, json::string_view, json::error_code&) {
    stack.push_uint64(number);
    return true;
  }
  // The text is here whole, because the parser gets its input in one piece.
  bool on_double(double rounded, json::string_view digits, json::error_code& ec) {
    double number = 0;
    if (std::from_chars(digits.begin(), digits.end(), number).ec != std::errc()) number = rounded;
    if (!std::isfinite(number)) return refuse("the number is larger than any double", ec);
    stack.push_double(number);
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

// Whether `read` ends in the first half of a surrogate pair, which Boost then calls a syntax error.
bool ends_in_half_a_pair(std::string_view read) {
  constexpr size_t kEscape = 6;  // \uD83D
  if (read.ends_with('\\')) read.remove_suffix(1);
  if (read.size() < kEscape) return false;
  const std::string_view escape = read.substr(read.size() - kEscape);
  const std::string_view before = read.substr(0, read.size() - kEscape);
  const size_t backslashes = before.size() - (before.find_last_not_of('\\') + 1);
  return backslashes % 2 == 0 && (escape.starts_with("\\ud") || escape.starts_with("\\uD")) &&
         std::string_view("89abAB").find(escape[3]) != std::string_view::npos;
}

std::string reason(const json::error_code& ec, std::string_view read) {
  if (ends_in_half_a_pair(read)) return "half of a surrogate pair";
  if (ec == json::error::too_deep) return fmt::format("nested deeper than {}", kMaxJsonDepth);
  if (ec == json::error::incomplete) return "it ends too early";
  if (ec == json::error::extra_data) return "something follows the value";
  if (ec == json::error::illegal_leading_surrogate ||
      ec == json::error::illegal_trailing_surrogate) {
    return "half of a surrogate pair";
  }
  return ec.message();
}

struct Problem {
  size_t offset = 0;
  std::string why;
};

tl::expected<json::value, Problem> parse(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return tl::unexpected(
        Problem{kMaxJsonBytes, fmt::format("more than {} MiB; split it", kMaxJsonBytes >> 20)});
  }
  if (const auto offset = find_invalid_utf8(text)) {
    return tl::unexpected(Problem{*offset, "not UTF-8"});
  }
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<Builder> parser(options);
  // A vocabulary is hundreds of thousands of small values: they are freed as one.
  parser.handler().stack.reset(json::make_shared_resource<json::monotonic_resource>());
  json::error_code ec;
  const size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && consumed < text.size()) ec = json::error::extra_data;
  if (ec) {
    const std::string& problem = parser.handler().problem;
    return tl::unexpected(
        Problem{std::min(consumed, text.size()),
                problem.empty() ? reason(ec, text.substr(0, consumed)) : problem});
  }
  return parser.handler().stack.release();
}

}  // namespace

Expected<json::value> parse_json(std::string_view text) {
  auto value = parse(text);
  if (value) return *std::move(value);
  const auto& [offset, why] = value.error();
  const std::string_view before = text.substr(0, offset);
  const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return error(ErrorCode::kInvalidArgument, "not valid JSON at line {}, column {}: {}", line,
               offset - line_start + 1, why);
}

Expected<json::value> parse_json(std::string_view text, std::string_view name) {
  auto value = parse(text);
  if (value) return *std::move(value);
  return error(ErrorCode::kCorrupt, "{}: not valid JSON at offset {}: {}; fetch the file again",
               name, value.error().offset, value.error().why);
}

Expected<json::object> parse_json_object(std::string_view text, std::string_view name) {
  LL_ASSIGN(json::value value, parse_json(text, name));
  if (!value.is_object()) return error(ErrorCode::kCorrupt, "{} is not a JSON object", name);
  return std::move(value.get_object());
}

Expected<json::object> read_json_object(const std::filesystem::path& path) {
  LL_ASSIGN(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return parse_json_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                           path.string());
}

}  // namespace looseleaf

// Files of one JSON object a line.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>

#include "base/status.h"

namespace looseleaf {

// A file's content, and the name by which errors and results call it.
struct DataFile {
  std::string path;
  std::string text;  // UTF-8
};

// Calls `read` with each line's value and number, up to `limit` of them (0: all); empty lines do
// not count. What it refuses gets "FILE:LINE: " before it. Errors: kInvalidArgument (also: no
// line).
Status for_each_line(const DataFile& file, int limit,
                     const std::function<Status(const boost::json::value&, int line)>& read);

// "nq" for "data/nq.jsonl".
std::string stem_of(const std::string& path);

}  // namespace looseleaf

// Golden answers, as tests/golden/README.md describes them.
#pragma once

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace looseleaf {

struct GoldenStep {
  std::vector<std::pair<int32_t, double>> top;  // log-probabilities, best first
  int32_t greedy = 0;
};

struct GoldenCase {
  std::string name;
  bool reuse = false;
  std::vector<int32_t> encoding_prefix, header, tail;
  std::vector<std::vector<int32_t>> documents;
  std::vector<int32_t> offsets;  // [documents] prompt positions
  int header_offset = 0, tail_offset = 0;
  std::vector<GoldenStep> steps;

  // Whether each piece begins where the one before ends, so that a prompt can express the case.
  bool contiguous() const {
    int at = static_cast<int>(header.size());
    if (header_offset != 0) return false;
    for (size_t i = 0; i < documents.size(); ++i) {
      if (offsets[i] != at) return false;
      at += static_cast<int>(documents[i].size());
    }
    return tail_offset == at;
  }
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<GoldenCase> read_golden(const std::filesystem::path& path) {
  namespace json = boost::json;
  using Ids = std::vector<int32_t>;
  std::vector<GoldenCase> cases;
  const json::value file = json::parse(read_text(path));
  for (const json::value& entry : file.at("cases").as_array()) {
    GoldenCase c;
    c.name = json::value_to<std::string>(entry.at("name"));
    c.reuse = entry.at("kind").as_string() == "reuse";
    c.encoding_prefix = json::value_to<Ids>(entry.at("encoding_prefix"));
    c.header = json::value_to<Ids>(entry.at("header"));
    c.tail = json::value_to<Ids>(entry.at("tail"));
    c.documents = json::value_to<std::vector<Ids>>(entry.at("documents"));
    c.offsets = json::value_to<Ids>(entry.at("offsets"));
    c.header_offset = entry.at("header_offset").to_number<int>();
    c.tail_offset = entry.at("tail_offset").to_number<int>();
    for (const json::value& step : entry.at("steps").as_array()) {
      GoldenStep s;
      s.greedy = step.at("greedy").to_number<int32_t>();
      for (const json::value& pair : step.at("top").as_array())
        s.top.emplace_back(pair.at(0).to_number<int32_t>(), pair.at(1).to_number<double>());
      c.steps.push_back(std::move(s));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace looseleaf

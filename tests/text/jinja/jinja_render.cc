// Renders templates for tests/text/test_jinja.py. Standard input: a JSON object a line,
// {"template": string, "context": object}. Standard output: one a line, {"text": string} or
// {"error": string}. strftime_now tells of 2026-07-04 09:08:07, a Saturday.
#include <boost/json.hpp>
#include <iostream>
#include <string>

#include "text/jinja/template.h"

int main() {
  namespace json = boost::json;
  using namespace looseleaf;
  jinja::RenderOptions options;
  options.clock = [] {
    std::tm now{};
    now.tm_year = 126;
    now.tm_mon = 6;
    now.tm_mday = 4;
    now.tm_hour = 9;
    now.tm_min = 8;
    now.tm_sec = 7;
    now.tm_wday = 6;
    now.tm_yday = 184;
    return now;
  };
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    const json::value request = json::parse(line);
    const auto text = jinja::render_json(request.at("template").as_string(),
                                         json::serialize(request.at("context")), options);
    std::cout << json::serialize(text ? json::object{{"text", text->text()}}
                                      : json::object{{"error", text.error().message}})
              << '\n';
  }
}

// looseleaf methods: the ways in which documents' keys and values can come to be.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "base/json_parse.h"
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : write_json(*value);
}

std::string method_text(const json::object& method) {
  const std::string name = text_of(method, "name");
  std::string out = fmt::format("{}\n  {}\n", name, text_of(method, "summary"));
  if (const json::value* number = method.if_contains("number")) {
    const json::object& object = number->as_object();
    out += fmt::format("  {}:{}  {}, from 0 to {}\n", name, text_of(object, "default"),
                       text_of(object, "name"), text_of(object, "most"));
  }
  for (const json::value& value : method.at("options").as_array()) {
    const json::object& option = value.as_object();
    out += fmt::format("  {}={}  {} ({})\n", text_of(option, "name"), text_of(option, "default"),
                       text_of(option, "summary"), text_of(option, "values"));
  }
  return out + fmt::format("  [{}]\n", text_of(method, "citation"));
}

Status list_methods(bool as_json) {
  LL_ASSIGN(const json::value list, parse_json(methods()));
  if (as_json) return write_output(write_json(list) + '\n');
  std::string text = "NAME[:NUMBER][:key=value]..., options with their defaults\n";
  for (const json::value& method : list.as_array()) text += '\n' + method_text(method.as_object());
  return write_output(text);
}

}  // namespace

Command add_methods(CLI::App& root) {
  CLI::App* app = root.add_subcommand("methods", "List the methods of --method");
  auto as_json = std::make_shared<bool>(false);
  app->option_defaults()->group("Output");
  app->add_flag("--json", *as_json, "Print a JSON list");
  return {app, [as_json] { return report(list_methods(*as_json)); }};
}

}  // namespace looseleaf

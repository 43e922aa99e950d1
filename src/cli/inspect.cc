// looseleaf inspect: what a model is, and how an engine with these flags would run it.
#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/json_parse.h"
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

struct InspectFlags {
  ModelFlags model;
  bool json = false;
};

std::string shown_value(std::string_view key, const json::value& value) {
  if (value.is_string()) return {value.get_string().data(), value.get_string().size()};
  const std::string text = write_json(value);
  if (!key.ends_with("bytes") || !value.is_int64() || value.get_int64() < 1 << 20) return text;
  return fmt::format("{} ({:.1f} MiB)", text, static_cast<double>(value.get_int64()) / (1 << 20));
}

// One line a fact; objects become sections that are indented once more.
void append_facts(std::string& out, const json::object& facts, size_t indent) {
  size_t width = 0;
  for (const json::key_value_pair& fact : facts) {
    if (!fact.value().is_object()) width = std::max(width, fact.key().size());
  }
  for (const json::key_value_pair& fact : facts) {
    const std::string_view key(fact.key().data(), fact.key().size());
    out.append(indent, ' ');
    if (const json::object* section = fact.value().if_object()) {
      out += fmt::format("{}\n", key);
      append_facts(out, *section, indent + 2);
    } else {
      out += fmt::format("{:<{}}  {}\n", key, width, shown_value(key, fact.value()));
    }
  }
}

Status inspect(const InspectFlags& flags) {
  LL_RETURN_IF_ERROR(check_model(flags.model));
  LL_ASSIGN(const Engine engine, load_engine(flags.model));
  LL_ASSIGN(const json::value facts, parse_json(engine.describe()));
  if (flags.json) return write_output(write_json(facts) + '\n');
  std::string table;
  append_facts(table, facts.as_object(), 0);
  return write_output(table);
}

}  // namespace

Command add_inspect(CLI::App& root) {
  CLI::App* app = root.add_subcommand("inspect", "Say what a model is and how it would run");
  app->footer("Example:\n  looseleaf inspect model.gguf --cache-bytes 2G");
  auto flags = std::make_shared<InspectFlags>();
  app->option_defaults()->group("Model");
  add_model_flag(*app, flags->model);
  app->option_defaults()->group("Output");
  app->add_flag("--json", flags->json, "Print one JSON object");
  add_engine_flags(*app, flags->model);
  return {app, [flags] { return report(inspect(*flags)); }};
}

}  // namespace looseleaf

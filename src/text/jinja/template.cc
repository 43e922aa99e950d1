#include "text/jinja/template.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>

#include "base/json_parse.h"
#include "base/utf8.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/fault.h"
#include "text/jinja/parser.h"

namespace looseleaf::jinja {
namespace {

namespace json = boost::json;

// The longest that are known have 20 KB.
constexpr size_t kMaxSource = 1 << 20;

tl::unexpected<Error> failure(const Fault& fault, const std::string& name, int line) {
  return error(fault.code, "{}, line {}: {}", name, fault.line > 0 ? fault.line : line,
               fault.message);
}

Value from_json(Runtime& runtime, const json::value& value) {
  runtime.budget.step();
  switch (value.kind()) {
    case json::kind::null:
      return Value(None{});
    case json::kind::bool_:
      return Value(value.get_bool());
    case json::kind::int64:
      return Value(value.get_int64());
    case json::kind::uint64:
      fail("the context's number {} goes beyond 64 bits", value.get_uint64());
    case json::kind::double_:
      return Value(value.get_double());
    case json::kind::string:
      return runtime.text(std::string_view(value.get_string()), Origin::kData);
    case json::kind::array: {
      std::vector<Value> items;
      for (const json::value& item : value.get_array()) items.push_back(from_json(runtime, item));
      return runtime.sequence(std::move(items));
    }
    case json::kind::object: {
      std::vector<std::pair<Value, Value>> entries;
      for (const auto& entry : value.get_object())
        entries.emplace_back(runtime.text(std::string_view(entry.key()), Origin::kData),
                             from_json(runtime, entry.value()));
      return runtime.dict(std::move(entries));
    }
  }
  return {};
}

Expected<Variables> variables_from_json(std::string_view text, const Limits& limits) {
  LL_ASSIGN(const json::value document, parse_json(text, "context"));
  if (!document.is_object()) return error(ErrorCode::kCorrupt, "context: not a JSON object");
  Runtime runtime(limits, {});
  Variables variables;
  try {
    for (const auto& entry : document.get_object())
      variables.emplace_back(entry.key(), from_json(runtime, entry.value()));
  } catch (const Fault& fault) {
    return error(fault.code, "context: {}", fault.message);
  }
  return variables;
}

}  // namespace

struct Template::Parsed {
  std::string name;
  Block block;
};

Expected<Template> Template::parse(std::string_view source, std::string name) {
  if (source.size() > kMaxSource)
    return error(ErrorCode::kCorrupt, "{}: {} bytes, more than a template may have ({})", name,
                 source.size(), kMaxSource);
  if (const auto offset = find_invalid_utf8(source))
    return error(ErrorCode::kCorrupt, "{}: not UTF-8 at byte {}", name, *offset);
  try {
    auto parsed = std::make_shared<Parsed>();
    parsed->block = jinja::parse(source);
    parsed->name = std::move(name);
    return Template(std::move(parsed));
  } catch (const Fault& fault) {
    return failure(fault, name, 1);
  }
}

Expected<MarkedString> Template::render(const Variables& context,
                                        const RenderOptions& options) const {
  Runtime runtime(options.limits, options.clock);
  Evaluator evaluator(runtime);
  try {
    return evaluator.run(parsed_->block, context);
  } catch (const Fault& fault) {
    return failure(fault, parsed_->name, evaluator.line());
  }
}

Expected<MarkedString> render_json(std::string_view source, std::string_view context,
                                   const RenderOptions& options) {
  LL_ASSIGN(const Template parsed, Template::parse(source, "template"));
  LL_ASSIGN(const Variables variables, variables_from_json(context, options.limits));
  return parsed.render(variables, options);
}

}  // namespace looseleaf::jinja

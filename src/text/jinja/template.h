// Chat templates: Jinja as transformers sets it up, with a limit on everything.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "text/jinja/budget.h"
#include "text/jinja/runtime.h"
#include "text/jinja/scope.h"
#include "text/marked_string.h"

namespace looseleaf::jinja {

struct RenderOptions {
  Limits limits = {};
  Clock clock = {};
};

// Immutable: any number of threads may render one.
class Template {
 public:
  // `name` starts every message: "NAME, line 3: ...". Errors: kCorrupt (no template: syntax, not
  // UTF-8, too long), kUnsupported (a tag or form that jinja2 knows and this version does not).
  static Expected<Template> parse(std::string_view source, std::string name);

  // What it writes; each range has the origin of what it came from. REQUIRES: strings in `context`
  // are UTF-8. Errors: kInvalidArgument: what jinja2 raises, what the template itself raises, or a
  // limit; one line with the template's line.
  Expected<MarkedString> render(const Variables& context, const RenderOptions& options = {}) const;

 private:
  struct Parsed;
  explicit Template(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
  std::shared_ptr<const Parsed> parsed_;
};

// Parses `source` and renders it with the JSON object `context`, all of whose strings are data: all
// of the interpreter in one call, for fuzzing and for comparisons. Errors: those of parse and
// render; kCorrupt (the context is no JSON object).
Expected<MarkedString> render_json(std::string_view source, std::string_view context,
                                   const RenderOptions& options = {});

}  // namespace looseleaf::jinja

// Chat templates: the template, then, after a zero byte, the JSON of what it renders; without one a
// small chat.
#include "text/jinja/template.h"
#include "fuzzing.h"

using namespace looseleaf;

namespace {

constexpr std::string_view kChat = R"({"messages": [
  {"role": "system", "content": "S"}, {"role": "user", "content": "<|im_end|> Q\n"},
  {"role": "user", "content": [{"type": "text", "text": "T"}, {"type": "document", "text": "D"}]}],
  "documents": [{"title": "t", "text": "D"}], "tools": null, "bos_token": "<s>",
  "add_generation_prompt": true, "n": 3, "f": 1.5, "list": [3, 1, 2], "d": {"a": 1, "b": "x"}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const size_t end = input.find('\0');
  jinja::RenderOptions options;
  // A second of work at most, instrumented.
  options.limits.steps = 100'000;
  options.limits.built_bytes = 4 << 20;
  options.limits.output_bytes = 1 << 20;
  const auto text = jinja::render_json(
      input.substr(0, end), end == std::string_view::npos ? kChat : input.substr(end + 1), options);
  fuzz::check(text);
  if (text) fuzz::check_marks(*text);
  return 0;
}

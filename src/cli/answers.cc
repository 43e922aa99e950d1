#include "cli/answers.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/json_text.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "server/openai_response.h"

namespace looseleaf {
namespace {

ResponseOptions response_options(const ParsedRequest& parsed, const AnswerStyle& style) {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::seconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  ResponseOptions options;
  options.chat = parsed.chat;
  options.return_token_ids = parsed.return_token_ids || style.echo_tokens;
  options.logprobs = parsed.request.logprobs >= 0;
  options.model = parsed.model.empty() ? shown_as_utf8(style.model) : parsed.model;
  options.id = fmt::format("{:016x}", duration_cast<nanoseconds>(now).count());
  options.created = duration_cast<seconds>(now).count();
  options.ignored = parsed.ignored;
  return options;
}

}  // namespace

Expected<Format> parse_format(const std::string& name) {
  if (name == "text") return Format::kText;
  if (name == "json") return Format::kJson;
  if (name == "openai") return Format::kOpenAi;
  return error(ErrorCode::kUsage, "--format: must be text, json or openai, not {}",
               in_quotes(name));
}

Expected<Answer> ask(Engine& engine, const Request& request, const AnswerStyle& style) {
  if (style.format != Format::kText) return engine.ask(request);
  // Once nobody reads the answer there is no point in going on with it.
  return engine.ask(request,
                    [](const std::string& piece) { return write_output(piece).has_value(); });
}

Status print_answer(const Answer& answer, const ParsedRequest& parsed, const AnswerStyle& style) {
  const ResponseOptions options = response_options(parsed, style);
  if (!answer.method_reason.empty()) print_warning(answer.method_reason);
  std::string rest;  // in kText the answer itself is out already
  if (style.format == Format::kJson) rest = write_json(run_object(answer, options));
  if (style.format == Format::kOpenAi) rest = write_json(completion_object(answer, options));
  LL_RETURN_IF_ERROR(write_output(rest + '\n'));
  if (style.timings || (style.format == Format::kText && isatty(STDERR_FILENO))) {
    print_note(timings_line(answer));
  }
  return {};
}

std::string timings_line(const Answer& answer) {
  const size_t chunks = answer.chunks.size();
  const auto reused = static_cast<size_t>(std::ranges::count_if(
      answer.chunks, [](const ChunkUse& chunk) { return chunk.source != "computed"; }));
  const std::string what =
      chunks > 0 ? fmt::format("{} of {} document{} reused", reused, chunks, chunks == 1 ? "" : "s")
                 : fmt::format("{} of {} prompt tokens reused", answer.cached_tokens,
                               answer.prompt_tokens.size());
  return fmt::format("{}, {:.0f} ms to first token", what, answer.ttft_ms);
}

}  // namespace looseleaf

// looseleaf run: answers questions, or API bodies without a server.
#include <algorithm>
#include <memory>

#include "base/json_text.h"
#include "cli/answers.h"
#include "cli/bodies.h"
#include "cli/command.h"
#include "cli/dump.h"
#include "cli/flag.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/questions.h"
#include "server/openai_response.h"

namespace looseleaf {
namespace {

constexpr const char* kExamples = R"(Examples:
  looseleaf run model.gguf -q "Who wrote it?" --doc letter.md
  looseleaf run model.gguf --docs notes/ -q "What is open?" -q "Who decides?" --timings
  cat page.txt | looseleaf run model.gguf --doc - -q "Sum this up." -n 64 --json
  looseleaf run model.gguf --request body.json --format openai)";

struct RunFlags {
  ModelFlags model;
  RequestFlags request;
  QuestionFlags questions;
  std::string body;    // --request
  std::string bodies;  // --requests
  std::string format;
  std::string dump;  // --dump: a folder
  bool json = false;
  bool timings = false;
};

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.option_defaults()->group("Asking");
  add_repeated(app, "-q,--question", "TEXT", flags.questions.questions,
               "A question; may be repeated, and later ones find the documents ready");
  add_repeated(
      app, "--doc", "PATH", flags.questions.documents.files,
      "A text or Markdown file, a folder of them, or - for standard input; may be repeated");
  app.add_option("--docs", flags.questions.documents.collection,
                 "A folder, or a .jsonl or .json file of documents")
      ->type_name("PATH");
  add_repeated(app, "--doc-text", "TEXT", flags.questions.documents.texts,
               "A document's text itself; may be repeated");
  add_repeated(app, "--order", "LIST", flags.questions.orders,
               "The documents for a question, by number from 0 (--doc first, then --docs, then "
               "--doc-text); the k-th --order is for the k-th question");
  app.add_option("--system", flags.questions.system, "A system message")->type_name("TEXT");
  app.add_option("--request", flags.body, "Answer this OpenAI body instead; - for standard input")
      ->type_name("FILE");
  app.add_option("--requests", flags.bodies, "The same for a file with one body a line")
      ->type_name("FILE");
  app.option_defaults()->group("Output");
  app.add_flag("--json", flags.json, "Print one JSON object a request, the same as --format json");
  app.add_option("--format", flags.format,
                 "text, json or openai. Default: text, for --requests json")
      ->type_name("NAME");
  app.add_option("--dump", flags.dump,
                 "Write scores and targets of the k-th answer's repair to DIR/k.npz, from 0")
      ->type_name("DIR");
  app.add_flag("--timings", flags.timings,
               "After each answer say what was reused and how soon the first token came; on a "
               "terminal that is the default");
}

bool asks_questions(const RunFlags& flags) { return !flags.questions.questions.empty(); }

Status check_usage(const RunFlags& flags) {
  const int given = asks_questions(flags) + !flags.body.empty() + !flags.bodies.empty();
  if (given == 0) {
    return error(ErrorCode::kUsage, "nothing is asked; give -q QUESTION or --request FILE");
  }
  if (given > 1) {
    return error(ErrorCode::kUsage, "give one of -q, --request and --requests");
  }
  if (!asks_questions(flags)) return check_no_question_flags(flags.questions);
  return {};
}

Expected<AnswerStyle> answer_style(const RunFlags& flags) {
  const std::string fallback = flags.bodies.empty() ? "text" : "json";
  const std::string name = !flags.format.empty() ? flags.format : flags.json ? "json" : fallback;
  if (flags.json && name != "json") {
    return error(ErrorCode::kUsage, "--json contradicts --format {}", name);
  }
  AnswerStyle style;
  LL_ASSIGN(style.format, parse_format(name));
  const bool asks_numbers = flags.request.request.logprobs >= 0 || flags.request.echo_tokens;
  if (style.format == Format::kText && asks_numbers) {
    return error(ErrorCode::kUsage, "--logprobs and --echo-tokens need --json");
  }
  style.timings = flags.timings;
  style.echo_tokens = flags.request.echo_tokens;
  style.model = flags.model.model;
  return style;
}

Expected<Answer> ask_and_dump(Engine& engine, Request request, const RunFlags& flags,
                              const AnswerStyle& style, size_t k) {
  if (flags.dump.empty()) return ask(engine, request, style);
  request.return_scores = request.return_targets = true;
  LL_ASSIGN(const Answer answer, ask(engine, request, style));
  LL_RETURN_IF_ERROR(dump_repair(answer, flags.dump, k));
  return answer;
}

// Everything that can be refused without the model is, before it is loaded.
Expected<int> run_questions(const RunFlags& flags, const AnswerStyle& style) {
  LL_ASSIGN(const Questions questions, Questions::load(flags.questions, flags.request));
  LL_ASSIGN(Engine engine, load_engine(flags.model));
  for (size_t k = 0; k < questions.size(); ++k) {
    ParsedRequest asked;
    asked.request = questions.request(k);
    LL_ASSIGN(const Answer answer, ask_and_dump(engine, asked.request, flags, style, k));
    LL_RETURN_IF_ERROR(print_answer(answer, asked, style));
  }
  return kExitDone;
}

Expected<int> run_body(const RunFlags& flags, const AnswerStyle& style) {
  LL_ASSIGN(const std::vector<Body> bodies,
            read_bodies(flags.body, false, {flags.request.request, flags.request.max_tokens}));
  const Body& body = bodies.front();
  if (!body.parsed) return tl::unexpected(with_place(body, body.parsed.error()));
  LL_ASSIGN(Engine engine, load_engine(flags.model));
  const Expected<Answer> answer = ask_and_dump(engine, body.parsed->request, flags, style, 0);
  if (!answer) return tl::unexpected(with_place(body, answer.error()));
  LL_RETURN_IF_ERROR(print_answer(*answer, *body.parsed, style));
  return kExitDone;
}

// One refused body does not keep the others from being answered: its line says why.
Expected<int> run_bodies(const RunFlags& flags, const AnswerStyle& style) {
  LL_ASSIGN(const std::vector<Body> bodies,
            read_bodies(flags.bodies, true, {flags.request.request, flags.request.max_tokens}));
  LL_ASSIGN(Engine engine, load_engine(flags.model));
  int code = kExitDone;
  for (size_t k = 0; k < bodies.size(); ++k) {
    const Body& body = bodies[k];
    const Expected<Answer> answer =
        body.parsed ? ask_and_dump(engine, body.parsed->request, flags, style, k)
                    : tl::unexpected(body.parsed.error());
    if (answer) {
      LL_RETURN_IF_ERROR(print_answer(*answer, *body.parsed, style));
      continue;
    }
    LL_RETURN_IF_ERROR(write_output(write_json(error_object(answer.error())) + '\n'));
    print_error(with_place(body, answer.error()).message);
    const bool internal = answer.error().code == ErrorCode::kInternal;
    code = std::max(code, internal ? kExitInternal : kExitRefused);
  }
  return code;
}

Expected<int> run(RunFlags& flags) {
  LL_RETURN_IF_ERROR(check_model(flags.model));
  LL_RETURN_IF_ERROR(check_usage(flags));
  LL_RETURN_IF_ERROR(finish_request_flags(flags.request));
  LL_ASSIGN(const AnswerStyle style, answer_style(flags));
  if (asks_questions(flags)) return run_questions(flags, style);
  return flags.bodies.empty() ? run_body(flags, style) : run_bodies(flags, style);
}

}  // namespace

Command add_run(CLI::App& root) {
  CLI::App* app = root.add_subcommand("run", "Answer questions from documents");
  app->alias("ask")->footer(kExamples);
  auto flags = std::make_shared<RunFlags>();
  app->option_defaults()->group("Model");
  add_model_flag(*app, flags->model);
  add_run_flags(*app, *flags);
  add_request_flags(*app, flags->request);
  add_engine_flags(*app, flags->model);
  return {app, [flags] {
            const Expected<int> code = run(*flags);
            return code ? *code : report(tl::unexpected(code.error()));
          }};
}

}  // namespace looseleaf

// Samples from files: the QA schema, and LongBench's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/json_lines.h"
#include "eval/task.h"

namespace looseleaf {

// How many tokens a text has for the model that is evaluated.
using CountTokens = std::function<Expected<int>(const std::string& text)>;

struct DataOptions {
  int limit = 0;                // samples at most, from the first; 0: all
  int max_tokens = 0;           // of an answer; 0: the template's own
  std::string layout = "auto";  // of the QA schema; LongBench has its own
  std::string encoding_prefix = "bos";
  std::string chunk = "passage";  // LongBench: "passage", or tokens a chunk
};

// One object a line: {id, dataset, question, answers: [string], ctxs: [{title, text}]}; other
// members are passed over. Metrics f1, em, recall (any reference); 32 tokens.
// Errors: kInvalidArgument (with file, line and field).
Expected<EvalTask> read_qa(const DataFile& file, const DataOptions& options);

// LongBench (Bai et al. 2024), the English tasks with F1 or ROUGE-L, one task a file: {input,
// context, answers, dataset, _id}, with the benchmark's prompts and answer lengths. Its few-shot
// tasks are asked without a chat, as there.
// Errors: kInvalidArgument, kUnsupported (another of its tasks, by name).
Expected<EvalTask> read_longbench(const DataFile& file, const DataOptions& options,
                                  const CountTokens& count_tokens);

// A context cut into chunks that add up to it: before each line "Passage N:" where there are such
// lines, else at blank lines; or, with `tokens` > 0, after as many lines, sentences or words as fit
// into so many tokens.
Expected<std::vector<std::string>> cut_context(const std::string& context, int tokens,
                                               const CountTokens& count_tokens);

}  // namespace looseleaf

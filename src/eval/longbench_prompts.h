// LongBench's prompts and answer lengths, as its repository has them.
#pragma once

#include <string_view>

namespace looseleaf {

struct LongBenchTask {
  std::string_view name;
  std::string_view prompt;  // with {context} and {input}
  int max_tokens;
  bool summary;   // ROUGE-L instead of F1
  bool few_shot;  // no chat around it, and only the answer's first line counts
};

// Null for a task that is not supported.
const LongBenchTask* find_longbench_task(std::string_view name);

// "hotpotqa, musique, ..."
std::string_view longbench_task_names();

}  // namespace looseleaf

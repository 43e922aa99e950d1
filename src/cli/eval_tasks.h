// From --data to tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/data.h"
#include "eval/haystack.h"
#include "eval/task.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct TaskFlags {
  std::vector<std::string> data;     // files, or ruler:KIND
  std::string data_template = "qa";  // qa | longbench
  std::string haystack;              // a text file; "": built in
  int length = 4096;                 // of RULER's tasks
  int documents = 14;
  DataOptions options;
};

// Files are read and checked as far as that goes without a model.
class TaskSources {
 public:
  // Errors: those of reading files; kUsage.
  static Expected<TaskSources> open(const TaskFlags& flags);

  // All tasks, in the order of --data. Errors: kInvalidArgument, kUnsupported, kUsage (two tasks of
  // one name).
  Expected<std::vector<EvalTask>> load(const Engine& engine, uint64_t seed) const;

 private:
  struct Source {
    std::string ruler;  // a kind, or "" for a file
    DataFile file;
  };
  Expected<EvalTask> load_one(const Source& source, uint64_t seed,
                              const CountTokens& count_tokens) const;

  TaskFlags flags_;
  std::vector<Source> sources_;
  Haystack haystack_;
  std::string haystack_hash_ = "built-in";
};

}  // namespace looseleaf

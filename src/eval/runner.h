// Runs samples through methods.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/sample_file.h"
#include "eval/task.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct RunOptions {
  std::vector<std::string> methods{};  // canonical; KL is measured where "full" is among them
  int shuffles = 0;                    // 0: documents as given; K: in K random orders instead
  uint64_t seed = 0;
  std::string commit{};
  // Called after each record, computed or found.
  std::function<void(const SampleRecord& record)> progress{};
};

// The orders of documents that are evaluated: 0, or 1 to K.
std::vector<int> orders_of(const RunOptions& options);

// The sample's request with its documents in order `order`, which depends on seed, sample and order
// alone; 0 leaves them.
Request in_order(const EvalSample& sample, int order, uint64_t seed);

// Fills `samples` with what is missing of the task. Each sample begins with empty caches but for
// the text before the documents; chunks are there before a method starts, or their computation is
// taken off its time to first token. All methods see the same token ids, or the run ends with
// kInternal. Errors: those of Engine::score, with task, sample and method before them.
Status run_task(Engine& engine, const EvalTask& task, const RunOptions& options,
                SampleFile& samples);

}  // namespace looseleaf

// What one method did with one sample in one order of its documents: a line of --samples.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>

#include "base/status.h"

namespace looseleaf {

struct SampleRecord {
  std::string task, sample, method;  // method: canonical
  int order = 0;                     // 0: as given; k: the k-th shuffle
  std::map<std::string, double> metrics;
  double flops = 0;    // share of full prefill's
  double ttft_ms = 0;  // with the chunks there: see run_task
  int context_tokens = 0;
  int documents = 0;
  int repaired_tokens = 0;
  std::string prompt_hash;  // of its token ids
  std::string text;         // the answer
  std::string commit;       // of the program that computed it
};

boost::json::object to_json(const SampleRecord& record);
// Errors: kCorrupt (a member that is missing or of another type).
Expected<SampleRecord> record_from_json(const boost::json::value& value);

}  // namespace looseleaf

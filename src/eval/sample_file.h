// --samples: results sample by sample in a file, from which a run goes on where one was killed.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <tuple>

#include "base/status.h"
#include "eval/record.h"

namespace looseleaf {

// Bytes: JSON lines; first {"looseleaf_samples": 1, "config": {...}}, then a SampleRecord each. A
// last line without its line end was cut when a run was killed: it is dropped, and its sample
// computed again.
class SampleFile {
 public:
  // Keeps results in memory only.
  SampleFile() = default;
  // Opens or creates. `config`: all that results depend on besides task, sample, order and method.
  // Errors: kInvalidArgument (made with another configuration, which names the first difference),
  // kCorrupt (with the line), kUnavailable (not writable, or open in another run).
  static Expected<SampleFile> open(const std::string& path, const boost::json::object& config);

  SampleFile(SampleFile&& other) noexcept { *this = std::move(other); }
  SampleFile& operator=(SampleFile&& other) noexcept;
  ~SampleFile();

  // Null if it is not there.
  const SampleRecord* find(const std::string& task, const std::string& sample, int order,
                           const std::string& method) const;
  // Written at once. Errors: kUnavailable.
  Status add(SampleRecord record);

  size_t size() const { return records_.size(); }

 private:
  Status read(const boost::json::object& config);
  Status write(const std::string& text);

  std::string path_;
  int fd_ = -1;
  std::map<std::tuple<std::string, std::string, int, std::string>, SampleRecord> records_;
};

}  // namespace looseleaf

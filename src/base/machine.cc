#include "base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace looseleaf {
namespace {

// The first word of a cgroup v2 file, or "".
std::string cgroup_value(const char* name) {
  std::ifstream file(std::string("/sys/fs/cgroup/") + name);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int threads = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  std::ifstream quota("/sys/fs/cgroup/cpu.max");
  double share = 0, period = 0;
  if (quota >> share >> period && period > 0)  // "max 100000" does not parse: no quota
    threads = std::min(threads, std::max(1, static_cast<int>(std::ceil(share / period))));
  return std::max(1, threads);
}

int64_t usable_memory() {
  int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const std::string limit = cgroup_value("memory.max");
  if (!limit.empty() && limit.size() <= 18 &&
      limit.find_first_not_of("0123456789") == std::string::npos)
    bytes = std::min<int64_t>(bytes, std::stoll(limit));
  return bytes;
}

}  // namespace looseleaf

// Tables of papers, repeated as far as data and models at hand allow.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/summary.h"

namespace looseleaf {

struct PaperNumber {
  std::string_view method;  // as in --methods
  double percent;
};

// What a preset gives yields to flags. Number 0 and empty texts: nothing is given.
struct Preset {
  std::string_view name;
  std::string_view table;    // what it repeats
  std::string_view source;   // paper and arXiv number
  std::string_view model;    // the paper's
  std::string_view data;     // --data; empty: the user has to give it
  std::string_view methods;  // --methods
  std::string_view metric;   // of the numbers
  int length;
  int documents;
  int samples;  // the paper's; 0: it does not say
  std::span<const PaperNumber> numbers;
  std::string_view differs;  // whatever the flags are
};

// Errors: kUsage (no such preset, with those that there are).
Expected<const Preset*> find_preset(const std::string& name);

// Its methods that this build has; `missing` gets the names of the others.
std::string available_methods(const Preset& preset, std::vector<std::string>& missing);

struct PaperRow {
  std::string method;  // canonical
  std::string task;
  std::string metric;
  double paper = 0;  // a share
  double ours = 0;
};

std::vector<PaperRow> paper_rows(const Preset& preset, const std::vector<EvalRow>& rows);

// The paper's number beside ours, and what differs. `model`: the path of the one that was
// evaluated.
std::string paper_table(const Preset& preset, const std::vector<EvalRow>& rows,
                        const std::vector<std::string>& missing, const std::string& model);

}  // namespace looseleaf

// Where results come from: on every row.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct Provenance {
  std::string version;
  std::string commit;   // of the program; "+" behind it: with changes
  std::string command;  // the command line
  std::string model;    // fingerprint of model and numeric path
  std::string model_path;
  std::string device;
  int threads = 0;
  std::string kv_type, private_kv_type;
  bool exact = false, deterministic = false;
  uint64_t seed = 0;
  std::string date;  // UTC, 2026-01-31T12:00:00Z
};

// Errors: kInternal (the engine describes itself in another way).
Expected<Provenance> provenance_of(const Engine& engine, const std::string& command, uint64_t seed);

// Adds version, commit, command, model, model_path, device, threads, kv_type, private_kv_type,
// exact, deterministic, seed, data_hash and date. `commits`: of the records of a row.
void add_provenance(const Provenance& provenance, const std::string& commits,
                    const std::string& data_hash, boost::json::object& row);

}  // namespace looseleaf

#include "eval/provenance.h"

#include <fmt/chrono.h>

#include <chrono>

#include "base/json_parse.h"
#include "base/json_reader.h"
#include "commit.h"

namespace looseleaf {
namespace {

std::string now() {
  const auto seconds =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

}  // namespace

Expected<Provenance> provenance_of(const Engine& engine, const std::string& command,
                                   uint64_t seed) {
  Provenance p;
  p.version = version();
  p.commit = LOOSELEAF_COMMIT;
  p.command = command;
  p.seed = seed;
  p.date = now();
  LL_ASSIGN(const boost::json::value facts, parse_json(engine.describe()));
  LL_ASSIGN(ObjectReader object, ObjectReader::open(JsonField(facts, "engine")));
  LL_RETURN_IF_ERROR(object.read("fingerprint", p.model));
  LL_RETURN_IF_ERROR(object.read("path", p.model_path));
  const auto inner = object.take("engine");
  if (!inner) return error(ErrorCode::kInternal, "the engine does not describe itself");
  LL_ASSIGN(ObjectReader settings, ObjectReader::open(*inner));
  LL_RETURN_IF_ERROR(settings.read("device", p.device));
  LL_RETURN_IF_ERROR(settings.read("threads", p.threads, 1, 1 << 20));
  LL_RETURN_IF_ERROR(settings.read("kv_type", p.kv_type));
  LL_RETURN_IF_ERROR(settings.read("private_kv_type", p.private_kv_type));
  LL_RETURN_IF_ERROR(settings.read("exact", p.exact));
  LL_RETURN_IF_ERROR(settings.read("deterministic", p.deterministic));
  return p;
}

void add_provenance(const Provenance& p, const std::string& commits, const std::string& data_hash,
                    boost::json::object& row) {
  row["version"] = p.version;
  row["commit"] = commits.empty() ? p.commit : commits;
  row["command"] = p.command;
  row["model"] = p.model;
  row["model_path"] = p.model_path;
  row["device"] = p.device;
  row["threads"] = p.threads;
  row["kv_type"] = p.kv_type;
  row["private_kv_type"] = p.private_kv_type;
  row["exact"] = p.exact;
  row["deterministic"] = p.deterministic;
  row["seed"] = p.seed;
  row["data_hash"] = data_hash;
  row["date"] = p.date;
}

}  // namespace looseleaf

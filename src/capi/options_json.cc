#include "capi/options_json.h"

#include <limits>

#include "base/json_parse.h"
#include "base/json_reader.h"

namespace looseleaf {

Expected<EngineOptions> read_engine_options(const char* text) {
  EngineOptions options;
  if (text == nullptr) return options;
  LL_ASSIGN(const boost::json::value value, parse_json(text));
  LL_ASSIGN(ObjectReader object, ObjectReader::open(JsonField(value, "options")));
  LL_RETURN_IF_ERROR(object.read("device", options.device));
  LL_RETURN_IF_ERROR(object.read("threads", options.threads, 0, 1024));
  LL_RETURN_IF_ERROR(object.read("context", options.context, 0, std::numeric_limits<int>::max()));
  if (const auto bytes = object.take("cache_bytes")) {
    LL_ASSIGN(options.cache_bytes, bytes->integer(0, std::numeric_limits<int64_t>::max()));
  }
  LL_RETURN_IF_ERROR(object.read("kv_type", options.kv_type));
  LL_RETURN_IF_ERROR(object.read("private_kv_type", options.private_kv_type));
  LL_RETURN_IF_ERROR(object.read("exact", options.exact));
  LL_RETURN_IF_ERROR(object.read("deterministic", options.deterministic));
  for (const std::string& name : object.unknown())
    return field_error(object.path_of(name),
                       "is not known; there are: device, threads, context, cache_bytes, kv_type, "
                       "private_kv_type, exact, deterministic");
  return options;
}

}  // namespace looseleaf

// tokenizer.json: read, then used on a fixed set of strings.
#include "text/tokenizer_json.h"

#include "fuzzing.h"

using namespace looseleaf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto spec = tokenizer_spec_from_json({fuzz::text_of(data, size), {}, {}, {}});
  fuzz::check(spec);
  if (spec) fuzz::use_tokenizer(*spec);
  return 0;
}

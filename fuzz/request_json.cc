// Bodies of chats and completions.
#include "fuzzing.h"
#include "server/openai_request.h"

using namespace looseleaf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::check(parse_request(fuzz::text_of(data, size)));
  return 0;
}

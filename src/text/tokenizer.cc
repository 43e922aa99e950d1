#include "text/tokenizer.h"

#include "text/pipeline.h"

namespace looseleaf {

Expected<std::unique_ptr<const Tokenizer>> Tokenizer::create(TokenizerSpec spec) {
  LL_RETURN_IF_ERROR(check_spec(spec));
  return PipelineTokenizer::create(std::move(spec));
}

}  // namespace looseleaf

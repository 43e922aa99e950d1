#include "text/tokenizer.h"

#include "text/bpe.h"
#include "text/quote.h"

namespace looseleaf {

Expected<std::unique_ptr<const Tokenizer>> Tokenizer::create(TokenizerSpec spec) {
  LL_RETURN_IF_ERROR(check_spec(spec));
  if (spec.model == "bpe") return BpeTokenizer::create(std::move(spec));
  return error(ErrorCode::kUnsupported,
               "tokenizer model {} is not supported: this version has byte-level BPE",
               quote(spec.model));
}

}  // namespace looseleaf

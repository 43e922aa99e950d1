// Generated tokens as the text that a caller sees: detokenized, cut at stop strings.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "looseleaf/looseleaf.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace looseleaf {

class AnswerText {
 public:
  // `tokenizer` may be null: then there is no text. Errors: kInvalidArgument (stop strings),
  // kUnsupported (stop strings without a tokenizer).
  static Expected<AnswerText> create(const Tokenizer* tokenizer, const Request& request,
                                     const OnText& on_text);

  // False: a stop string was found, or the caller wants no more.
  bool push(int32_t token);
  // Releases what was held back. Nothing is pushed afterwards.
  std::string finish();
  bool stopped() const { return stopped_; }  // by a stop string or the caller

 private:
  // `continues`: the answer goes on from the prompt's text, as a completion does.
  AnswerText(const Tokenizer* tokenizer, StopStrings stops, bool continues, const OnText& on_text);
  bool release(const std::string& piece);

  const Tokenizer* tokenizer_;
  std::optional<Detokenizer> detokenizer_;
  StopStrings stops_;
  const OnText& on_text_;
  std::string text_;
  bool stopped_ = false;
};

}  // namespace looseleaf

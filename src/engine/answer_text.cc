#include "engine/answer_text.h"

namespace looseleaf {

Expected<AnswerText> AnswerText::create(const Tokenizer* tokenizer, const Request& request,
                                        const OnText& on_text) {
  if (tokenizer == nullptr && !request.stop.empty())
    return tl::unexpected(Error{ErrorCode::kUnsupported,
                                "stop: stop strings need a tokenizer, and this model has none",
                                "stop"});
  LL_ASSIGN(StopStrings stops, StopStrings::create(request.stop));
  return AnswerText(tokenizer, std::move(stops), request.prompt.has_value(), on_text);
}

AnswerText::AnswerText(const Tokenizer* tokenizer, StopStrings stops, bool continues,
                       const OnText& on_text)
    : tokenizer_(tokenizer), stops_(std::move(stops)), on_text_(on_text) {
  if (tokenizer != nullptr)
    detokenizer_.emplace(*tokenizer, Detokenizer::Options{.continues = continues});
}

bool AnswerText::release(const std::string& piece) {
  text_ += piece;
  if (!piece.empty() && on_text_ && !on_text_(piece)) stopped_ = true;
  return !stopped_;
}

bool AnswerText::push(int32_t token) {
  // A model may have more logits than its tokenizer has tokens: those stand for no text.
  if (tokenizer_ == nullptr || token >= tokenizer_->vocab_size()) return true;
  const StopStrings::Released released = stops_.push(detokenizer_->push(token));
  const bool wanted = release(released.text);
  if (released.stop) stopped_ = true;
  return wanted && !stopped_;
}

std::string AnswerText::finish() {
  if (tokenizer_ != nullptr && !stopped_) {
    const StopStrings::Released released = stops_.push(detokenizer_->finish());
    release(released.text);
    if (released.stop) stopped_ = true;
    if (!stopped_) release(stops_.finish());
  }
  return std::move(text_);
}

}  // namespace looseleaf

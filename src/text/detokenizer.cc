#include "text/detokenizer.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace looseleaf {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the part that one U+FFFD stands for, where `bytes` begins with no code point: the
// longest beginning of one, else a single byte.
size_t invalid_size(std::string_view bytes) {
  size_t size = 1;
  while (size < bytes.size() && utf8_length(bytes.substr(0, size + 1)) < 0) ++size;
  return size;
}

}  // namespace

void Detokenizer::append(std::string_view bytes) {
  const LeadingSpace rule =
      begun_ || options_.continues ? LeadingSpace::kKept : tokenizer_->spec().leading_space;
  if (rule == LeadingSpace::kFirstTokenNone) {
    std::copy_if(bytes.begin(), bytes.end(), std::back_inserter(pending_),
                 [](char c) { return c != ' '; });
    begun_ = true;
    return;
  }
  if (rule == LeadingSpace::kAllDropped)
    bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
  begun_ |= !bytes.empty();
  if (rule == LeadingSpace::kOneDropped && bytes.starts_with(' ')) bytes.remove_prefix(1);
  pending_ += bytes;
}

std::string Detokenizer::push(int32_t id) {
  if (tokenizer_->is_control(id) && !options_.show_control) return {};
  append(tokenizer_->bytes(id));
  const std::string_view bytes = pending_;
  std::string out;
  size_t at = 0;
  while (at < bytes.size()) {
    const int length = utf8_length(bytes.substr(at));
    if (length < 0) break;
    if (length > 0) {
      out += bytes.substr(at, static_cast<size_t>(length));
      at += static_cast<size_t>(length);
    } else {
      out += kReplacement;
      at += invalid_size(bytes.substr(at));
    }
  }
  pending_.erase(0, at);
  return out;
}

std::string Detokenizer::finish() {
  // What is pending is the beginning of one code point.
  std::string out(pending_.empty() ? std::string_view() : kReplacement);
  pending_.clear();
  begun_ = false;
  return out;
}

std::string decode(const Tokenizer& tokenizer, std::span<const int32_t> ids, bool show_control) {
  Detokenizer detokenizer(tokenizer, {.show_control = show_control});
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.finish();
}

}  // namespace looseleaf

#include "text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "text/quote.h"
#include "text/split_regex.h"

namespace looseleaf {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freer<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>>;

// A run of n characters costs up to n steps back in one match; the default limit of 10 million is
// kept for everything else.
constexpr uint64_t kMatchLimitBase = 10'000'000;
constexpr uint64_t kMatchLimitPerByte = 8;
constexpr uint32_t kHeapLimitKiB = 256 * 1024;

std::string pcre2_message(int code) {
  PCRE2_UCHAR buffer[256];
  const int size = pcre2_get_error_message(code, buffer, sizeof buffer);
  if (size < 0) return fmt::format("PCRE2 error {}", code);
  return std::string(reinterpret_cast<const char*>(buffer), static_cast<size_t>(size));
}

size_t code_point_size(std::string_view text, size_t at) {
  size_t size = 1;
  while (at + size < text.size() && (text[at + size] & 0xC0) == 0x80) ++size;
  return size;
}

}  // namespace

struct Pattern::Compiled {
  std::string source;
  Code code;
};

struct Pattern::Scratch::Memory {
  MatchContext context;
  MatchData data;
};

Pattern::Scratch::Scratch(size_t text_size)
    : memory_(new Memory{MatchContext(pcre2_match_context_create(nullptr)),
                         MatchData(pcre2_match_data_create(1, nullptr))}) {
  if (!memory_->context || !memory_->data) {
    memory_.reset();
    return;
  }
  const uint64_t limit = kMatchLimitBase + kMatchLimitPerByte * text_size;
  pcre2_set_match_limit(memory_->context.get(), static_cast<uint32_t>(std::min<uint64_t>(
                                                    limit, std::numeric_limits<uint32_t>::max())));
  pcre2_set_heap_limit(memory_->context.get(), kHeapLimitKiB);
}
Pattern::Scratch::~Scratch() = default;

Pattern::Pattern(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

Expected<Pattern> Pattern::create(std::string source) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) return error(ErrorCode::kUnavailable, "split patterns: out of memory");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  LL_ASSIGN(const std::string translated, split_regex_to_pcre2(source));
  int code = 0;
  PCRE2_SIZE offset = 0;
  Code compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                              &code, &offset, context.get()));
  if (!compiled)
    return error(ErrorCode::kUnsupported,
                 "split pattern {}: {} (at offset {} of {}); use a tokenizer without it",
                 quote(source), pcre2_message(code), offset, quote(translated));
  // Where there is no JIT the interpreter does the same, more slowly.
  pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
  return Pattern(std::make_unique<Compiled>(Compiled{std::move(source), std::move(compiled)}));
}

Status Pattern::for_each_match(
    std::string_view text, Scratch& scratch,
    const std::function<void(size_t begin, size_t end)>& on_match) const {
  if (scratch.memory_ == nullptr)
    return error(ErrorCode::kUnavailable, "pre-tokenizer: out of memory");
  pcre2_match_data* const data = scratch.memory_->data.get();
  pcre2_match_context* const context = scratch.memory_->context.get();
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  size_t start = 0;  // the next search begins here
  while (start < text.size()) {
    int code = pcre2_match(compiled_->code.get(), subject, text.size(), start, PCRE2_NO_UTF_CHECK,
                           data, context);
    // Compiled code has a small stack; the interpreter keeps its state on the heap.
    if (code == PCRE2_ERROR_JIT_STACKLIMIT)
      code = pcre2_match(compiled_->code.get(), subject, text.size(), start,
                         PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, context);
    if (code == PCRE2_ERROR_NOMATCH) break;
    if (code < 0)
      return error(ErrorCode::kUnsupported,
                   "split pattern {} on a text of {} bytes: {}; use a tokenizer without it",
                   quote(compiled_->source), text.size(), pcre2_message(code));
    const size_t begin = pcre2_get_ovector_pointer(data)[0];
    const size_t end = pcre2_get_ovector_pointer(data)[1];
    on_match(begin, end);
    // Behind an empty match go on with the next character.
    start = end > begin ? end : end + (end < text.size() ? code_point_size(text, end) : 1);
  }
  return {};
}

}  // namespace looseleaf

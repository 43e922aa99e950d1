#include "fuzzing.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"
#include "text/tokenizer.h"

namespace looseleaf::fuzz {
namespace {

class Folder {
 public:
  Folder() {
    std::error_code status;
    const bool in_memory = std::filesystem::is_directory("/dev/shm", status);
    std::string pattern =
        (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) +
        "/looseleaf-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) fail("no folder can be made", pattern);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code status;
    std::filesystem::remove_all(path_, status);
  }
  const std::filesystem::path& path() const { return path_; }

  [[noreturn]] static void fail(const char* what, std::string_view shown) {
    std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(shown.size()), shown.data());
    std::abort();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

void check_message(const Error& error) {
  constexpr size_t kLongest = 2000;
  const std::string& message = error.message;
  if (message.empty()) Folder::fail("an error without a message", message);
  if (message.size() > kLongest) Folder::fail("a message of pages", message);
  if (message.find('\n') != std::string::npos) Folder::fail("a message of several lines", message);
  if (find_invalid_utf8(message)) Folder::fail("a message that is not UTF-8", message);
}

void check_marks(const MarkedString& text) {
  if (find_invalid_utf8(text.text())) Folder::fail("a text that is not UTF-8", text.text());
  size_t begin = 0;
  const MarkedString::Range* before = nullptr;
  for (const MarkedString::Range& range : text.ranges()) {
    if (range.end <= begin) Folder::fail("an empty range", text.text());
    if (before != nullptr && before->origin == range.origin)
      Folder::fail("two ranges that are one", text.text());
    begin = range.end;
    before = &range;
  }
  if (begin != text.text().size()) Folder::fail("ranges that do not cover the text", text.text());
}

const std::filesystem::path& folder() {
  static const Folder folder;
  return folder.path();
}

void use_tokenizer(const TokenizerSpec& spec) {
  const auto tokenizer = Tokenizer::create(spec);
  check(tokenizer);
  if (!tokenizer) return;
  static const std::string kTexts[] = {
      "",
      " ",
      "Hello, world! It's 1234567 o'clock.\r\n\n\t  end",
      "  two  spaces <s> </s> <|im_end|> <unk>",
      "na\xC3\xAFve \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x99\x82 e\xCC\x81 \xE2\x96\x81",
      std::string(2000, 'a'),
      std::string(2000, ' '),
      std::string("a\0b", 3),
  };
  for (const std::string& text : kTexts) {
    const auto tokens = (*tokenizer)->encode(text);
    check(tokens);
    if (!tokens) continue;
    for (const int32_t token : *tokens) {
      if (token < 0 || token >= (*tokenizer)->vocab_size())
        Folder::fail("a token outside the vocabulary", text);
      (*tokenizer)->bytes(token);
    }
  }
}

}  // namespace looseleaf::fuzz

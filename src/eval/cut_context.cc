#include <cctype>
#include <string_view>

#include "eval/data.h"

namespace looseleaf {
namespace {

// Where lines "Passage N:" begin.
std::vector<size_t> passage_starts(std::string_view text) {
  constexpr std::string_view kWord = "Passage ";
  std::vector<size_t> starts;
  for (size_t at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1)) {
    size_t end = at + kWord.size();
    const size_t digits = end;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    const bool line_start = at == 0 || text[at - 1] == '\n';
    if (line_start && end > digits && end < text.size() && text[end] == ':') starts.push_back(at);
  }
  return starts;
}

// Behind each run of blank lines.
std::vector<size_t> paragraph_starts(std::string_view text) {
  std::vector<size_t> starts = {0};
  for (size_t at = text.find("\n\n"); at != std::string_view::npos; at = text.find("\n\n", at)) {
    at = text.find_first_not_of('\n', at);
    if (at == std::string_view::npos) break;
    starts.push_back(at);
  }
  return starts;
}

std::vector<std::string> cut_at(std::string_view text, std::vector<size_t> starts) {
  if (starts.empty() || starts[0] != 0) starts.insert(starts.begin(), 0);
  starts.push_back(text.size());
  std::vector<std::string> parts;
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    parts.emplace_back(text.substr(starts[i], starts[i + 1] - starts[i]));
  return parts;
}

// Pieces that end behind one of `ends`.
std::vector<std::string> split_behind(std::string_view text, std::string_view ends) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < text.size();) {
    size_t end = text.find_first_of(ends, from);
    end = end == std::string_view::npos ? text.size() : end + 1;
    parts.emplace_back(text.substr(from, end - from));
    from = end;
  }
  return parts;
}

class LengthCutter {
 public:
  LengthCutter(int tokens, const CountTokens& count_tokens)
      : tokens_(tokens), count_tokens_(count_tokens) {}

  // Fills chunks with lines; a line that is too long alone goes in by sentences, and a sentence by
  // words. A single word that is too long is a chunk of its own.
  Status add(std::string_view text, size_t level) {
    static constexpr std::string_view kEnds[] = {"\n", ".!?", " "};
    for (std::string& part : split_behind(text, kEnds[level])) {
      LL_ASSIGN(const int count, count_tokens_(part));
      if (count > tokens_ && level + 1 < std::size(kEnds)) {
        LL_RETURN_IF_ERROR(add(part, level + 1));
        continue;
      }
      if (filled_ > 0 && filled_ + count > tokens_) flush();
      chunk_ += part;
      filled_ += count;
    }
    return {};
  }

  std::vector<std::string> take() {
    flush();
    return std::move(chunks_);
  }

 private:
  void flush() {
    if (!chunk_.empty()) chunks_.push_back(std::move(chunk_));
    chunk_.clear();
    filled_ = 0;
  }

  const int tokens_;
  const CountTokens& count_tokens_;
  std::vector<std::string> chunks_;
  std::string chunk_;
  int filled_ = 0;  // tokens in chunk_, counted piece by piece
};

}  // namespace

Expected<std::vector<std::string>> cut_context(const std::string& context, int tokens,
                                               const CountTokens& count_tokens) {
  if (tokens > 0) {
    LengthCutter cutter(tokens, count_tokens);
    LL_RETURN_IF_ERROR(cutter.add(context, 0));
    return cutter.take();
  }
  const auto passages = passage_starts(context);
  return cut_at(context, passages.empty() ? paragraph_starts(context) : passages);
}

}  // namespace looseleaf

#include "eval/rouge.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "eval/text_metrics.h"

namespace looseleaf {
namespace {

using Words = std::vector<std::string>;

// One entry a sentence. A stretch of spaces between full stops is a sentence of one empty word, as
// in the package.
std::vector<Words> sentences(std::string_view text) {
  std::vector<Words> out;
  while (true) {
    const size_t stop = text.find('.');
    const std::string_view sentence = text.substr(0, stop);
    if (!sentence.empty()) {
      Words words = split_words(std::string(sentence));
      if (words.empty()) words.emplace_back();
      out.push_back(std::move(words));
    }
    if (stop == std::string_view::npos) return out;
    text.remove_prefix(stop + 1);
  }
}

// Adds the words of the longest common subsequence of `x` and `y`. Where there are several, the one
// that is found from the ends, going back in `y` first.
void add_common(const Words& x, const Words& y, std::set<std::string>& words) {
  const size_t width = y.size() + 1;
  std::vector<int> length((x.size() + 1) * width);  // [x + 1, y + 1] of the prefixes' LCS
  for (size_t i = 1; i <= x.size(); ++i)
    for (size_t j = 1; j <= y.size(); ++j)
      length[i * width + j] =
          x[i - 1] == y[j - 1] ? length[(i - 1) * width + j - 1] + 1
                               : std::max(length[(i - 1) * width + j], length[i * width + j - 1]);
  for (size_t i = x.size(), j = y.size(); i > 0 && j > 0;) {
    if (x[i - 1] == y[j - 1]) {
      words.insert(x[i - 1]);
      --i;
      --j;
    } else if (length[(i - 1) * width + j] > length[i * width + j - 1]) {
      --i;
    } else {
      --j;
    }
  }
}

double distinct_words(const std::vector<Words>& sentences) {
  std::set<std::string> words;
  for (const Words& sentence : sentences) words.insert(sentence.begin(), sentence.end());
  return static_cast<double>(words.size());
}

}  // namespace

double rouge_l(const std::string& prediction, const std::string& reference) {
  const auto predicted = sentences(prediction), wanted = sentences(reference);
  if (predicted.empty() || wanted.empty()) return 0;
  std::set<std::string> common;
  for (const Words& sentence : wanted)
    for (const Words& candidate : predicted) add_common(sentence, candidate, common);
  const double recall = static_cast<double>(common.size()) / distinct_words(wanted);
  const double precision = static_cast<double>(common.size()) / distinct_words(predicted);
  return 2 * precision * recall / (precision + recall + 1e-8);
}

}  // namespace looseleaf

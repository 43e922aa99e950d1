#include "eval/text_metrics.h"

#include <utf8proc.h>

#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace looseleaf {
namespace {

constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::vector<utf8proc_int32_t> code_points(const std::string& text) {
  std::vector<utf8proc_int32_t> points;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t used = utf8proc_iterate(bytes, left, &point);
    if (used < 1) break;  // not UTF-8, which callers exclude
    points.push_back(point);
    bytes += used;
    left -= used;
  }
  return points;
}

void append(std::string& text, utf8proc_int32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t count = utf8proc_encode_char(point, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(count));
}

std::string lower(const std::string& text) {
  std::string out;
  for (const utf8proc_int32_t point : code_points(text)) append(out, utf8proc_tolower(point));
  return out;
}

bool is_space(utf8proc_int32_t point) {
  if ((point >= 0x09 && point <= 0x0D) || (point >= 0x1C && point <= 0x1F) || point == 0x85)
    return true;
  const utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

// What a regular expression takes for part of a word: letters and numbers.
bool is_word(utf8proc_int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

// `text` with every whole word a, an and the replaced by a space.
std::string without_articles(const std::string& text) {
  std::string out, word;
  const auto end_word = [&] {
    const bool article = word == "a" || word == "an" || word == "the";
    out += article ? " " : word;
    word.clear();
  };
  for (const utf8proc_int32_t point : code_points(text)) {
    if (!is_word(point)) end_word();
    append(is_word(point) ? word : out, point);
  }
  end_word();
  return out;
}

}  // namespace

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const utf8proc_int32_t point : code_points(text)) {
    const bool space = is_space(point);
    if (!space && !inside) words.emplace_back();
    if (!space) append(words.back(), point);
    inside = !space;
  }
  return words;
}

std::string normalize_answer(const std::string& text) {
  std::string plain;
  for (const char c : lower(text))
    if (kPunctuation.find(c) == std::string_view::npos) plain += c;
  std::string out;
  for (const std::string& word : split_words(without_articles(plain)))
    out += (out.empty() ? "" : " ") + word;
  return out;
}

double token_f1(const std::string& prediction, const std::string& reference) {
  const auto predicted = split_words(normalize_answer(prediction));
  const auto wanted = split_words(normalize_answer(reference));
  std::map<std::string, int> left;
  for (const std::string& word : wanted) ++left[word];
  int common = 0;
  for (const std::string& word : predicted)
    if (const auto found = left.find(word); found != left.end() && found->second-- > 0) ++common;
  if (common == 0) return 0;
  const double precision = double(common) / static_cast<double>(predicted.size());
  const double recall = double(common) / static_cast<double>(wanted.size());
  return 2 * precision * recall / (precision + recall);
}

double exact_match(const std::string& prediction, const std::string& reference) {
  return normalize_answer(prediction) == normalize_answer(reference) ? 1 : 0;
}

double contains(const std::string& prediction, const std::string& reference) {
  return lower(prediction).find(lower(reference)) != std::string::npos ? 1 : 0;
}

}  // namespace looseleaf

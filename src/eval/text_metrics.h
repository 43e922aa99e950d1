// Scores of short answers as the benchmarks define them.
#pragma once

#include <string>
#include <vector>

namespace looseleaf {

// What stands between white space, Unicode's included.
std::vector<std::string> split_words(const std::string& text);

// SQuAD's normalization (Rajpurkar et al. 2016, the official evaluation script): lower case,
// without ASCII punctuation, without the words a, an and the, single spaces. Upper case goes code
// point by code point; REQUIRES: UTF-8.
std::string normalize_answer(const std::string& text);

// 2 P R / (P + R) over the tokens in common, counted with multiplicity, after normalization; 0
// without one in common.
double token_f1(const std::string& prediction, const std::string& reference);

// 1 where both are equal after normalization, else 0.
double exact_match(const std::string& prediction, const std::string& reference);

// 1 where the lower-case reference is a substring of the lower-case prediction, else 0 (RULER,
// Hsieh et al. 2024: string_match_all and string_match_part are its mean and its maximum).
double contains(const std::string& prediction, const std::string& reference);

}  // namespace looseleaf

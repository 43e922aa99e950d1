// Tokenizers' split patterns, translated to PCRE2 with exactly the same meaning.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// `pattern` is written for Oniguruma's Ruby syntax, as in tokenizer.json. The result is for PCRE2
// with UTF, UCP and MULTILINE. Where both read a construct differently it is translated (\s, \p of
// scripts) or refused, and so is the unbounded repetition of a group: without it the work for a
// text stays within a low power of its length. Errors: kUnsupported (the construct, its offset and
// the pattern).
Expected<std::string> split_regex_to_pcre2(std::string_view pattern);

// A pattern that matches exactly `text`.
std::string escape_split_regex(std::string_view text);

}  // namespace looseleaf

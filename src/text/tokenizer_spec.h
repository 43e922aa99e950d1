// What a model's files say about its tokenizer, in one form for GGUF and tokenizer.json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace looseleaf {

enum class TokenKind : uint8_t {
  kNormal,   // reached by tokenizing text
  kControl,  // special: parsed only in template text; empty when an answer is shown
  kAdded,    // user-defined: matched whole in any text, before the tokenizer proper
  kByte,     // one byte, <0xNN>
  kUnused,
};

struct TokenizerSpec {
  std::string model;  // "bpe": byte-level BPE. Others are named in the error that refuses them.
  bool nfc = false;   // text between special tokens is brought into Unicode's form C first
  // How text is cut before merges apply: patterns as tokenizers write them (text/split_regex.h);
  // each one cuts the pieces of the one before into its matches and what lies between them.
  std::vector<std::string> split_patterns;
  std::vector<std::string>
      tokens;                    // [vocab] in the file's spelling (GPT-2 byte alphabet for kNormal)
  std::vector<TokenKind> kinds;  // [vocab]
  std::vector<std::pair<std::string, std::string>> merges;  // in order of rank
  bool ignore_merges = false;  // a piece that is itself a token is taken whole
  int32_t bos = -1;            // -1: none
  int32_t eos = -1;
  std::vector<int32_t> end_of_generation;  // eos and the end-of-turn tokens
  bool add_bos = false;
  std::string chat_template;  // Jinja source, may be empty
};

// What every tokenizer relies on: a kind for each token, ids inside the vocabulary, no text twice
// (unused tokens apart), special tokens in UTF-8.
// Errors: kCorrupt (which token or id).
Status check_spec(const TokenizerSpec& spec);

// Tokens that end an answer, sorted: eos, `from_config` (generation_config.json; ids outside the
// vocabulary are dropped) and the end-of-turn tokens that are known by name where the vocabulary
// has them as control tokens. REQUIRES: spec.kinds.size() == spec.tokens.size().
std::vector<int32_t> end_of_generation_tokens(const TokenizerSpec& spec,
                                              std::vector<int32_t> from_config);

}  // namespace looseleaf

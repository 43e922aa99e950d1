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

// Which white space around a control or added token belongs to it.
enum class TokenStrip : uint8_t { kNone, kBefore, kBehind, kBoth };

// One step of bringing text between special tokens into the form that is tokenized.
struct NormalizeStep {
  enum class Kind : uint8_t {
    kNfc,               // Unicode's form C
    kNfkc,              // form KC
    kCharsmap,          // SentencePiece's compiled rules in `from`, the longest match first
    kGraphemeCharsmap,  // the same rules as tokenizer.json's Precompiled applies them
    kReplace,           // each `from` becomes `to`
    kReplacePattern,    // each match of the pattern `from` becomes `to`
    kStripLeft,         // white space at the beginning goes
    kStripRight,        // and at the end
    kCollapseSpaces,    // U+0020: none at either end, runs become one
    kDropTrailing,      // every `from` at the end
    kPrepend,           // `to` before a text that is not empty
    kPrependMissing,    // the same unless the text begins with `to`
    kPrependFirst,      // the same, only where the text is the beginning of all
    kJoinWords,         // white space goes; `to` before each word that does not begin with it
  };
  Kind kind;
  std::string from = {};
  std::string to = {};
  bool operator==(const NormalizeStep&) const = default;
};

// What becomes of a pattern's matches and of what lies between them, by the names of
// tokenizer.json.
enum class SplitBehavior : uint8_t {
  kIsolated,            // both are pieces
  kRemoved,             // matches go
  kMergedWithPrevious,  // a match belongs to the piece before it
  kMergedWithNext,      // or behind it
  kContiguous,          // neighbouring matches are one piece
};

struct SplitRule {
  std::string pattern;  // as tokenizers write it (text/split_regex.h)
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;  // what lies between the matches counts as match

  SplitRule(std::string source) : pattern(std::move(source)) {}
  SplitRule(std::string source, SplitBehavior how, bool inverted = false)
      : pattern(std::move(source)), behavior(how), invert(inverted) {}
  bool operator==(const SplitRule&) const = default;
};

// What decoding drops where a text begins.
enum class LeadingSpace : uint8_t {
  kKept,
  kOneDropped,      // one space
  kAllDropped,      // every space before anything else
  kFirstTokenNone,  // every space of the first token
};

struct TokenizerSpec {
  // "bpe": byte-level BPE. "char-bpe": BPE over characters, by `merges`. "spm": the same by
  // `scores`. "unigram". Others are named in the error that refuses them.
  std::string model;
  std::vector<NormalizeStep> normalize;
  // How text is cut before the model sees it: each rule cuts the pieces of the one before.
  std::vector<SplitRule> split_patterns;
  std::vector<std::string>
      tokens;                      // [vocab] in the file's spelling (GPT-2 byte alphabet for "bpe")
  std::vector<TokenKind> kinds;    // [vocab]
  std::vector<TokenStrip> strips;  // [vocab], or empty: none strips
  std::vector<double> scores;      // [vocab] for "spm" and "unigram"
  std::vector<std::pair<std::string, std::string>> merges;  // in order of rank
  bool ignore_merges = false;  // a piece that is itself a token is taken whole
  int32_t unk = -1;            // stands for what cannot be spelled, bytes included; -1: none
  bool fuse_unk = false;       // one for a run of characters
  double unk_score = 0;        // "unigram": of one such character
  // In normal and added tokens this stands for a space, when they are shown; empty: nothing does.
  std::string space_mark;
  LeadingSpace leading_space = LeadingSpace::kKept;
  int32_t bos = -1;  // -1: none
  int32_t eos = -1;
  std::vector<int32_t> end_of_generation;  // eos and the end-of-turn tokens
  bool add_bos = false;
  std::string chat_template;          // Jinja source, may be empty
  std::string chat_template_problem;  // why none of the file's templates is taken, or empty

  TokenStrip strip(size_t id) const { return id < strips.size() ? strips[id] : TokenStrip::kNone; }
  bool merges_text(size_t id) const {  // tokenizing text may lead to it
    return kinds[id] == TokenKind::kNormal || kinds[id] == TokenKind::kAdded;
  }
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

#include "text/split_patterns.h"

#include <algorithm>
#include <array>
#include <span>

#include "text/quote.h"

namespace looseleaf {
namespace {

using Patterns = std::span<const std::string_view>;

constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::string_view kGpt2[] = {kGpt2Pattern};

// Each digit stands alone.
constexpr std::string_view kDigitThenGpt2[] = {R"(\p{N})", kGpt2Pattern};

// Llama 3: tiktoken's cl100k_base; numbers in groups of three.
constexpr std::string_view kLlama3[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Qwen 2: the same with single digits.
constexpr std::string_view kQwen2[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Qwen 3.5: combining marks belong to words.
constexpr std::string_view kQwen35[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
    R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// tiktoken's o200k_base: a word is upper case, then lower case, then a contraction.
constexpr std::string_view kGpt4o[] = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Mistral's Tekken: the same without contractions, single digits.
constexpr std::string_view kTekken[] = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Seed-Coder: Qwen 2's, with newlines apart from punctuation.
constexpr std::string_view kSeedCoder[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Ling and LLaDA: each newline alone.
constexpr std::string_view kBailing[] = {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|)"
                                         R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};

constexpr std::string_view kMiniCpm5[] = {
    R"(\p{N}{1,3})", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|)"
                     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Jais 2: Llama 3's, with runs of spaces in powers of two.
constexpr std::string_view kJais2[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|)"
    R"(\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};

constexpr std::string_view kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Pattern,
                                        R"([0-9][0-9][0-9])"};

// What GGUF files without a family of their own were made with.
constexpr std::string_view kDefault[] = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Pattern, R"(\p{N}+)",
                                         R"([0-9][0-9][0-9])"};

constexpr std::string_view kDeepSeekCoder[] = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"};

// The cased letters of the Unicode version of its day.
constexpr std::string_view kDeepSeekLlm[] = {
    R"([\r\n])",
    R"(\s?[)"
    R"(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
    R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386})"
    R"(\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
    R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA})"
    R"(\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4})"
    R"(\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3})"
    R"(\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D})"
    R"(\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184})"
    R"(\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
    R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
    R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB})"
    R"(\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"
    R"(]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
    R"(\s+$)",
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)",
    R"(\p{N}+)"};

constexpr std::string_view kDeepSeek3[] = {
    R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{30FF}]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Bloom and Poro: words and single marks of punctuation between spaces.
constexpr std::string_view kBloomPattern = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

constexpr std::string_view kBloom[] = {kBloomPattern};

constexpr std::string_view kViking[] = {kBloomPattern, R"(\p{N})"};

struct Family {
  std::string_view name;
  Patterns patterns;
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

constexpr Family kFamilies[] = {
    {"default", kDefault},
    {"gpt-2", kGpt2},
    {"phi-2", kGpt2},
    {"mpt", kGpt2, false, false, true},
    {"olmo", kGpt2, false, false, true},
    {"mellum", kGpt2},
    {"jais", kGpt2},
    {"gigachat", kGpt2},
    {"a.x-4.0", kGpt2},
    {"granite-docling", kGpt2},
    {"exaone4", kGpt2},
    {"trillion", kGpt2},
    {"smollm", kDigitThenGpt2},
    {"starcoder", kDigitThenGpt2},
    {"refact", kDigitThenGpt2},
    {"command-r", kDigitThenGpt2, false, false, true},
    {"mellum2", kDigitThenGpt2},
    {"codeshell", kDigitThenGpt2},
    {"exaone", kDigitThenGpt2},
    {"minerva-7b", kDigitThenGpt2},
    {"llama3", kLlama3, true, true},
    {"llama-v3", kLlama3, true, true},
    {"llama-bpe", kLlama3, true, true},
    {"falcon3", kLlama3, true, true},
    {"falcon-h1", kLlama3, true, true},
    {"lfm2", kLlama3, true, true},
    {"pixtral", kLlama3, true, true},
    {"midm-2.0", kLlama3, true, true},
    {"dbrx", kLlama3},
    {"smaug-bpe", kLlama3},
    {"chatglm-bpe", kLlama3},
    {"glm4", kLlama3, true},
    {"jais-2", kJais2},
    {"minicpm5", kMiniCpm5, true},
    {"qwen2", kQwen2, false, false, true},
    {"deepseek-r1-qwen", kQwen2, false, false, true},
    {"megrez", kQwen2},
    {"stablelm2", kQwen2, false, false, true},
    {"hunyuan", kQwen2},
    {"grok-2", kQwen2},
    {"solar-open", kQwen2},
    {"kormo", kQwen2},
    {"qwen35", kQwen35, false, false, true},
    {"seed-coder", kSeedCoder},
    {"bailingmoe", kBailing},
    {"bailingmoe2", kBailing},
    {"llada-moe", kBailing},
    {"gpt-4o", kGpt4o},
    {"llama4", kGpt4o},
    {"kanana2", kGpt4o},
    {"minimax-m2", kGpt4o},
    {"tekken", kTekken, true, true},
    {"falcon", kFalcon},
    {"deepseek-llm", kDeepSeekLlm},
    {"deepseek-coder", kDeepSeekCoder},
    {"deepseek-v3", kDeepSeek3},
    {"hunyuan-dense", kDeepSeek3},
    {"joyai-llm", kDeepSeek3},
    {"bloom", kBloom},
    {"poro-chat", kBloom},
    {"gpt3-finnish", kBloom},
    {"viking", kViking},
};

const Family* find_family(std::string_view pre) {
  const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& family) { return family.name == pre; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace

Expected<std::vector<SplitRule>> split_patterns_for(std::string_view pre) {
  const Family* family = find_family(pre);
  if (family == nullptr)
    return error(
        ErrorCode::kUnsupported,
        "tokenizer.ggml.pre: the pre-tokenizer {} is not known; use a model with a known one "
        "or its tokenizer.json",
        quote(pre));
  std::vector<SplitRule> rules;
  for (const std::string_view pattern : family->patterns) rules.emplace_back(std::string(pattern));
  return rules;
}

bool ignores_merges(std::string_view pre) {
  const Family* family = find_family(pre);
  return family != nullptr && family->ignore_merges;
}

bool adds_bos(std::string_view pre) {
  const Family* family = find_family(pre);
  return family != nullptr && family->add_bos;
}

bool normalizes_to_nfc(std::string_view pre) {
  const Family* family = find_family(pre);
  return family != nullptr && family->nfc;
}

std::string_view gpt2_split_pattern() { return kGpt2Pattern; }

}  // namespace looseleaf

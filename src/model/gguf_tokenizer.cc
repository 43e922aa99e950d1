#include "model/gguf_tokenizer.h"

#include "model/gguf_sentencepiece.h"
#include "text/quote.h"
#include "text/split_patterns.h"

namespace looseleaf {
namespace {

Expected<std::vector<TokenKind>> token_kinds(const GgufFile& file, size_t vocab) {
  std::vector<TokenKind> kinds(vocab, TokenKind::kNormal);
  LL_ASSIGN(const auto numbers, file.find<GgufNumbers<int32_t>>("tokenizer.ggml.token_type"));
  if (!numbers) return kinds;
  if (numbers->size() != vocab)
    return error(ErrorCode::kCorrupt,
                 "{}: tokenizer.ggml.token_type has {} entries for {} tokens: convert it again",
                 file.path(), numbers->size(), vocab);
  for (size_t id = 0; id < vocab; ++id) {
    switch ((*numbers)[id]) {
      case 1:
        kinds[id] = TokenKind::kNormal;
        break;
      case 2:  // the unknown token: never made from text
      case 3:
        kinds[id] = TokenKind::kControl;
        break;
      case 4:
        kinds[id] = TokenKind::kAdded;
        break;
      case 5:
        kinds[id] = TokenKind::kUnused;
        break;
      case 6:
        kinds[id] = TokenKind::kByte;
        break;
      default:
        return error(ErrorCode::kCorrupt, "{}: tokenizer.ggml.token_type[{}] is {}, not 1 to 6",
                     file.path(), id, (*numbers)[id]);
    }
  }
  return kinds;
}

Status read_merges(const GgufFile& file, TokenizerSpec& spec) {
  constexpr std::string_view kKey = "tokenizer.ggml.merges";
  LL_ASSIGN(const auto lines, file.get<std::span<const std::string_view>>(kKey));
  spec.merges.reserve(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t space = lines[i].find(' ');
    if (space == 0 || space >= lines[i].size() - 1 || lines[i].rfind(' ') != space)
      return error(ErrorCode::kCorrupt, "{}: {}[{}] {} is not two pieces and a space between",
                   file.path(), kKey, i, quote(lines[i]));
    spec.merges.emplace_back(lines[i].substr(0, space), lines[i].substr(space + 1));
  }
  return {};
}

// -1: the file names none.
Expected<int32_t> token_id(const GgufFile& file, std::string_view key, size_t vocab) {
  LL_ASSIGN(const auto id, file.find<int64_t>(key));
  if (!id || *id == -1) return -1;
  if (*id < 0 || static_cast<uint64_t>(*id) >= vocab)
    return error(ErrorCode::kCorrupt, "{}: {} is {}, outside the {} tokens", file.path(), key, *id,
                 vocab);
  return static_cast<int32_t>(*id);
}

Status read_byte_level(const GgufFile& file, TokenizerSpec& spec) {
  spec.model = "bpe";
  LL_ASSIGN(const auto pre, file.find<std::string_view>("tokenizer.ggml.pre"));
  if (!pre)
    return error(ErrorCode::kUnsupported,
                 "{}: metadata has no 'tokenizer.ggml.pre', which says how text is split: convert "
                 "the model again",
                 file.path());
  auto patterns = split_patterns_for(*pre);
  if (!patterns)
    return error(patterns.error().code, "{}: {}", file.path(), patterns.error().message);
  spec.split_patterns = std::move(*patterns);
  spec.ignore_merges = ignores_merges(*pre);
  if (normalizes_to_nfc(*pre)) spec.normalize.push_back({NormalizeStep::Kind::kNfc});
  spec.add_bos = adds_bos(*pre);
  return read_merges(file, spec);
}

}  // namespace

bool has_tokenizer(const GgufFile& file) { return file.has("tokenizer.ggml.model"); }

Expected<TokenizerSpec> tokenizer_spec_from_gguf(const GgufFile& file) {
  TokenizerSpec spec;
  LL_ASSIGN(const auto model, file.get<std::string_view>("tokenizer.ggml.model"));
  LL_ASSIGN(const auto tokens,
            file.get<std::span<const std::string_view>>("tokenizer.ggml.tokens"));
  if (tokens.empty() || tokens.size() > INT32_MAX)
    return error(ErrorCode::kCorrupt, "{}: tokenizer.ggml.tokens has {} entries", file.path(),
                 tokens.size());
  spec.tokens.assign(tokens.begin(), tokens.end());
  LL_ASSIGN(spec.kinds, token_kinds(file, tokens.size()));
  if (model == "gpt2")
    LL_RETURN_IF_ERROR(read_byte_level(file, spec));
  else if (model == "llama" || model == "t5")
    LL_RETURN_IF_ERROR(read_sentencepiece(file, model, spec));
  else
    spec.model = model;
  LL_ASSIGN(spec.bos, token_id(file, "tokenizer.ggml.bos_token_id", tokens.size()));
  LL_ASSIGN(const auto add_bos, file.find<bool>("tokenizer.ggml.add_bos_token"));
  // What `pre` implies needs a token to add.
  spec.add_bos = add_bos.value_or(spec.add_bos && spec.bos != -1);
  LL_ASSIGN(spec.eos, token_id(file, "tokenizer.ggml.eos_token_id", tokens.size()));
  LL_ASSIGN(const auto eot, token_id(file, "tokenizer.ggml.eot_token_id", tokens.size()));
  LL_ASSIGN(const auto eom, token_id(file, "tokenizer.ggml.eom_token_id", tokens.size()));
  LL_ASSIGN(const auto chat, file.find<std::string_view>("tokenizer.chat_template"));
  spec.chat_template = chat.value_or("");
  spec.end_of_generation = end_of_generation_tokens(spec, {eot, eom});
  return spec;
}

}  // namespace looseleaf

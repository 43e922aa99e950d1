// From a prompt to a Sequence: what is there already, and room for what is not.
#include <algorithm>
#include <set>

#include "base/stopwatch.h"
#include "engine/chunk_prefill.h"
#include "engine/move_chunk.h"
#include "engine/sequence.h"

namespace looseleaf {
namespace {

// The prompt as a method sees it: where documents are computed in the prompt, they are text.
// `prefix` makes one stretch of all; `full` keeps what stands before the first document apart, so
// that it can still be shared.
std::vector<PromptPiece> pieces_for(const Prompt& prompt, DocumentStorage storage) {
  if (storage == DocumentStorage::kCopy || storage == DocumentStorage::kShared)
    return prompt.pieces;
  std::vector<PromptPiece> pieces;
  bool documents = false;
  for (const PromptPiece& piece : prompt.pieces) {
    const bool starts_documents = piece.is_chunk() && !documents;
    documents |= piece.is_chunk();
    if (pieces.empty() || (starts_documents && storage == DocumentStorage::kPrivate))
      pieces.emplace_back();
    auto& tokens = pieces.back().tokens;
    tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
  }
  return pieces;
}

class Binder {
 public:
  Binder(EngineCore& core, const Prompt& prompt, const Method& method, const std::string& salt)
      : core_(core),
        prompt_(prompt),
        method_(method),
        salt_(salt),
        inplace_(method.info->storage == DocumentStorage::kCopy && method.flag("inplace")) {}

  Expected<Sequence> bind() {
    const auto pieces = pieces_for(prompt_, method_.info->storage);
    LL_RETURN_IF_ERROR(check_limit(pieces));
    sequence_.rope = core_.rope_for(prompt_.tokens());
    // What values of text depend on besides the path: model, regime, types, tenant.
    place_ = core_.prefixes.root(fmt::format(
        "{}|{}|{}|{}|{}", core_.fingerprint, sequence_.rope->name,
        kv_type_name(core_.options.kv_type), kv_type_name(core_.options.private_kv_type), salt_));
    sequence_.root = place_;
    sequence_.method = method_.canonical();
    sequence_.repairs = method_.repairs();
    for (const PromptPiece& piece : pieces) {
      if (piece.is_chunk()) {
        LL_RETURN_IF_ERROR(bind_chunk(piece));
      } else {
        LL_RETURN_IF_ERROR(bind_text(piece, &piece == &pieces.back()));
      }
    }
    sequence_.prompt_tokens = position_;
    return std::move(sequence_);
  }

 private:
  // What can never fit is refused before anything gives way to it.
  Status check_limit(const std::vector<PromptPiece>& pieces) const {
    const int64_t text_page = core_.private_layout.page_bytes();
    const int64_t chunk_page = core_.chunk_layout.page_bytes();
    const bool copies = method_.info->storage == DocumentStorage::kCopy && !inplace_;
    int64_t bytes = 0;
    std::set<std::vector<int32_t>> counted;
    for (const PromptPiece& piece : pieces) {
      const int64_t pages = pages_for(static_cast<int>(piece.tokens.size()));
      if (!piece.is_chunk()) bytes += pages * text_page;
      if (piece.is_chunk() && copies) bytes += pages * chunk_page;
      if (piece.is_chunk() && counted.insert(piece.tokens).second) bytes += pages * chunk_page;
    }
    if (bytes <= core_.pool.limit_bytes()) return {};
    return error(ErrorCode::kUnavailable,
                 "keys and values: the prompt needs {} bytes, more than the limit of {}; raise "
                 "--cache-bytes or shorten the prompt",
                 bytes, core_.pool.limit_bytes());
  }

  Status bind_chunk(const PromptPiece& piece) {
    const Stopwatch watch;
    LL_ASSIGN(AcquiredChunk acquired,
              acquire_chunk(core_, piece.tokens, prompt_.encoding_prefix, salt_,
                            inplace_ ? sequence_.method : "", *sequence_.rope));
    if (acquired.computed) sequence_.chunk_prefill_ms += watch.ms();
    const int tokens = acquired.chunk->tokens();
    sequence_.chunks.push_back({piece.document, acquired.chunk->id(), piece.document_id, tokens,
                                position_, acquired.computed ? "computed" : "host",
                                acquired.miss_reason});
    if (!acquired.computed) sequence_.cached_tokens += tokens;
    if (sequence_.repairs) place_ = nullptr;
    if (place_) place_ = core_.prefixes.find_chunk(place_, acquired.chunk->key, sequence_.method);

    Binding binding{
        .chunk = std::move(acquired.chunk), .position = position_, .copy = {}, .turn = {}};
    if (method_.info->storage == DocumentStorage::kCopy)
      LL_RETURN_IF_ERROR(move_chunk(core_, *sequence_.rope, binding, inplace_));
    const int shift = binding.position - binding.chunk->stored_at;
    if (!binding.copy && shift != 0) binding.turn = Forward::turn(*sequence_.rope, shift);
    sequence_.parts.emplace_back(std::move(binding));
    position_ += tokens;
    return {};
  }

  Status bind_text(const PromptPiece& piece, bool last) {
    const bool private_documents =
        method_.info->storage == DocumentStorage::kPrivate && last && prompt_.has_documents();
    TextRun run{.position = position_,
                .tokens = piece.tokens,
                .kv = KvRun(core_.private_layout),
                .computed = 0,
                .shared = !private_documents};
    if (run.shared && place_) LL_RETURN_IF_ERROR(find_text(run, last));
    const auto count = static_cast<int>(run.tokens.size());
    // A later piece can only be known where all of this one is.
    if (run.computed < count) place_ = nullptr;
    sequence_.cached_tokens += run.computed;
    LL_RETURN_IF_ERROR(run.kv.extend(core_.pool, count - run.kv.count()));
    sequence_.parts.emplace_back(std::move(run));
    position_ += count;
    return {};
  }

  Status find_text(TextRun& run, bool last) {
    // The prompt's last token is always computed: its logits are wanted.
    const auto known = std::span(run.tokens).first(run.tokens.size() - (last ? 1 : 0));
    const auto match = core_.prefixes.find(place_, known, last);
    for (const KvPageRef& page : match.pages) {
      const int tokens = std::min(kPageTokens, match.tokens - run.computed);
      run.kv.share(page, tokens);
      run.computed += tokens;
    }
    place_ = match.place;
    if (match.partial) {
      LL_RETURN_IF_ERROR(run.kv.extend(core_.pool, match.partial_tokens));
      core_.device->copy(run.kv.pages().back()->data(), match.partial->data(),
                         static_cast<size_t>(core_.private_layout.page_bytes()));
      run.computed += match.partial_tokens;
      place_ = nullptr;
    }
    return {};
  }

  EngineCore& core_;
  const Prompt& prompt_;
  const Method& method_;
  const std::string& salt_;
  const bool inplace_;
  Sequence sequence_;
  PrefixCache::Place place_;  // where the parts so far end; null: not in the prefix cache
  int position_ = 0;
};

}  // namespace

Expected<Sequence> bind_prompt(EngineCore& core, const Prompt& prompt, const Method& method,
                               const std::string& salt) {
  return Binder(core, prompt, method, salt).bind();
}

}  // namespace looseleaf

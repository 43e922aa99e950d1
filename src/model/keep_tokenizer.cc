#include "model/load_formats.h"

namespace looseleaf {

Status keep_tokenizer(Expected<TokenizerSpec> spec, std::string_view folder, Model& model) {
  if (spec && spec->tokens.size() > static_cast<size_t>(model.config.vocab))
    spec =
        error(ErrorCode::kUnsupported,
              "{}: a tokenizer of {} tokens over an embedding of {} rows: use the tokenizer that "
              "the model was trained with",
              model.path, spec->tokens.size(), model.config.vocab);
  else if (!spec && !folder.empty())
    spec.error().message = fmt::format("{}: {}", folder, spec.error().message);
  if (spec) {
    // Embeddings are often padded to a round number of rows.
    spec->tokens.resize(static_cast<size_t>(model.config.vocab));
    spec->kinds.resize(static_cast<size_t>(model.config.vocab), TokenKind::kUnused);
    if (!spec->scores.empty()) spec->scores.resize(static_cast<size_t>(model.config.vocab));
    if (!spec->strips.empty()) spec->strips.resize(static_cast<size_t>(model.config.vocab));
    model.tokenizer = std::move(*spec);
    return {};
  }
  if (spec.error().code != ErrorCode::kUnsupported) return tl::unexpected(std::move(spec).error());
  model.tokenizer_problem = std::move(spec.error().message);
  return {};
}

}  // namespace looseleaf

#include "engine/prompt.h"

#include <algorithm>

#include "engine/chat.h"
#include "engine/layout.h"
#include "text/marked_string.h"

namespace looseleaf {
namespace {

class Builder {
 public:
  // `alone`: a document without a prompt around it.
  Builder(const PromptContext& context, const Request& request, bool alone)
      : context_(context), request_(request), alone_(alone) {}

  Expected<Prompt> chat() {
    LL_RETURN_IF_ERROR(tokenizer_for("a chat"));
    const std::vector<Message> question = {{.role = "user", .content = {request_.question}}};
    const auto& messages = request_.messages.empty() ? question : request_.messages;
    LL_ASSIGN(layout_, resolve_layout(request_.layout, messages[0].role == "system"));
    LL_ASSIGN(const std::vector<ChatPart> parts,
              render_chat(messages, request_.documents, layout_, *context_.chat_template));
    for (const ChatPart& part : parts) {
      if (const auto* document = std::get_if<const Document*>(&part)) {
        LL_RETURN_IF_ERROR(add_document(**document));
      } else {
        LL_RETURN_IF_ERROR(add_marked("messages", std::get<MarkedString>(part)));
      }
    }
    return finish({});
  }

  Expected<Prompt> completion() {
    LL_ASSIGN(layout_, resolve_layout(request_.layout, false));
    LL_ASSIGN(std::vector<int32_t> opening, completion_opening());
    for (const Document& document : request_.documents) LL_RETURN_IF_ERROR(add_document(document));
    LL_RETURN_IF_ERROR(add_raw("prompt", *request_.prompt));
    return finish(std::move(opening));
  }

  Expected<Prompt> document_alone(const Document& document) {
    const bool system = !request_.messages.empty() && request_.messages[0].role == "system";
    LL_ASSIGN(layout_, resolve_layout(request_.layout, system));
    std::vector<int32_t> opening;
    if (request_.prefix || request_.prompt) {
      LL_ASSIGN(opening, completion_opening());
      prompt_.pieces.clear();
    }
    LL_RETURN_IF_ERROR(add_document(document));
    LL_RETURN_IF_ERROR(set_encoding_prefix(std::move(opening)));
    return std::move(prompt_);
  }

 private:
  // Adds the text before the documents. Gives its tokens.
  Expected<std::vector<int32_t>> completion_opening() {
    if (request_.prefix) LL_RETURN_IF_ERROR(add_raw("prefix", *request_.prefix));
    return prompt_.pieces.empty() ? std::vector<int32_t>() : prompt_.pieces[0].tokens;
  }

  bool is_completion() const { return request_.prompt || request_.prefix; }

  // What the chat template puts before the first message's content.
  Expected<std::vector<int32_t>> chat_opening(const std::string& role) const {
    LL_RETURN_IF_ERROR(tokenizer_for("a chat's header"));
    LL_ASSIGN(const MarkedString opening, looseleaf::chat_opening(role, *context_.chat_template));
    LL_ASSIGN(std::vector<int32_t> tokens, context_.tokenizer->encode(opening));
    return with_bos(std::move(tokens), true);
  }

  Expected<const Tokenizer*> tokenizer_for(std::string_view what) const {
    if (context_.tokenizer == nullptr)
      return error(ErrorCode::kUnsupported, "{} needs a tokenizer, and this model has none{}{}; {}",
                   what, context_.tokenizer_problem.empty() ? "" : ": ", context_.tokenizer_problem,
                   "give token lists instead");
    return context_.tokenizer;
  }

  void add_text(std::vector<int32_t> tokens) {
    if (tokens.empty()) return;
    if (!prompt_.pieces.empty() && !prompt_.pieces.back().is_chunk()) {
      auto& last = prompt_.pieces.back().tokens;
      last.insert(last.end(), tokens.begin(), tokens.end());
    } else {
      prompt_.pieces.push_back({std::move(tokens), -1, {}});
    }
  }

  Status add_marked(const std::string& field, const MarkedString& text) {
    auto tokens = context_.tokenizer->encode(text);
    if (!tokens) return field_error(field, "{}", tokens.error().message);
    add_text(with_bos(std::move(*tokens), prompt_.pieces.empty()));
    return {};
  }

  // Exactly one BOS, at the very start, and only where the tokenizer asks for one.
  std::vector<int32_t> with_bos(std::vector<int32_t> tokens, bool at_start) const {
    const TokenizerSpec& spec = context_.tokenizer->spec();
    const bool wanted = at_start && spec.add_bos && spec.bos >= 0;
    if (wanted && (tokens.empty() || tokens[0] != spec.bos))
      tokens.insert(tokens.begin(), spec.bos);
    return tokens;
  }

  Status check_ids(const std::string& field, const std::vector<int32_t>& tokens) const {
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] < 0 || tokens[i] >= context_.vocab)
        return field_error(fmt::format("{}[{}]", field, i),
                           "token id {} is outside the vocabulary of {} (0 to {})", tokens[i],
                           context_.vocab, context_.vocab - 1);
    return {};
  }

  // A completion's text is the caller's own prompt: special tokens in it are parsed.
  Status add_raw(const std::string& field, const TextOrTokens& text) {
    if (const auto* tokens = std::get_if<std::vector<int32_t>>(&text)) {
      LL_RETURN_IF_ERROR(check_ids(field, *tokens));
      add_text(*tokens);
      return {};
    }
    const std::string& string = std::get<std::string>(text);
    if (string.empty()) return {};
    LL_RETURN_IF_ERROR(tokenizer_for(field + " as text"));
    return add_marked(field, MarkedString(string, Origin::kTemplate));
  }

  Status add_document(const Document& document) {
    const std::string field = fmt::format("documents[{}]", documents_);
    std::vector<int32_t> tokens = document.tokens;
    if (tokens.empty()) {
      if (document.text.empty()) return field_error(field, "the document is empty");
      LL_RETURN_IF_ERROR(tokenizer_for(field + " as text"));
      LL_ASSIGN(const std::string text, render_document(layout_, document));
      auto encoded = context_.tokenizer->encode(text);
      if (!encoded) return field_error(field, "{}", encoded.error().message);
      tokens = std::move(*encoded);
      if (tokens.empty()) return field_error(field, "the layout writes nothing for it");
      // Without a text before the first document the BOS stands before it, not in it.
      if (prompt_.pieces.empty() && !alone_) add_text(with_bos({}, true));
    } else {
      LL_RETURN_IF_ERROR(check_ids(field + ".tokens", tokens));
    }
    prompt_.pieces.push_back({std::move(tokens), documents_++, document.id});
    return {};
  }

  // `opening`: a completion's text before its documents.
  Status set_encoding_prefix(std::vector<int32_t> opening) {
    const std::string& name = request_.encoding_prefix;
    if (name == "header") {
      if (!is_completion()) {
        LL_ASSIGN(opening,
                  chat_opening(request_.messages.empty() ? "user" : request_.messages[0].role));
      }
      prompt_.encoding_prefix = std::move(opening);
    } else if (name == "bos") {
      const int32_t bos = context_.tokenizer != nullptr ? context_.tokenizer->spec().bos : -1;
      if (bos >= 0) {
        prompt_.encoding_prefix = {bos};
      } else {
        // The model's, not the request's: chats and completions share their chunks.
        const auto chat = chat_opening("user");
        if (chat && !chat->empty()) prompt_.encoding_prefix = {chat->front()};
      }
    } else if (name != "none") {
      return field_error("encoding_prefix", "'{}' is not one of none, bos, header", name);
    }
    return {};
  }

  Expected<Prompt> finish(std::vector<int32_t> opening) {
    if (prompt_.pieces.empty())
      return field_error(request_.prompt ? "prompt" : "messages", "the prompt is empty");
    if (prompt_.pieces.back().is_chunk())
      return field_error("prompt", "there is no text after the documents to answer");
    LL_RETURN_IF_ERROR(set_encoding_prefix(std::move(opening)));
    return std::move(prompt_);
  }

  const PromptContext& context_;
  const Request& request_;
  const bool alone_;
  Layout layout_;
  Prompt prompt_;
  int documents_ = 0;
};

}  // namespace

int Prompt::tokens() const {
  int sum = 0;
  for (const PromptPiece& piece : pieces) sum += static_cast<int>(piece.tokens.size());
  return sum;
}

int Prompt::document_tokens() const {
  int sum = 0;
  for (const PromptPiece& piece : pieces)
    if (piece.is_chunk()) sum += static_cast<int>(piece.tokens.size());
  return sum;
}

bool Prompt::has_documents() const {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const PromptPiece& piece) { return piece.is_chunk(); });
}

Expected<Prompt> build_prompt(const PromptContext& context, const Request& request) {
  const bool chat = !request.messages.empty() || !request.question.empty();
  if (chat && request.prompt)
    return field_error("prompt", "give a question, messages or a prompt, not several");
  if (!request.messages.empty() && !request.question.empty())
    return field_error("question", "give a question, messages or a prompt, not several");
  if (!chat && !request.prompt)
    return field_error("messages", "nothing is asked: give a question, messages or a prompt");
  if (chat && request.prefix) return field_error("prefix", "belongs to completions only");
  Builder builder(context, request, false);
  return chat ? builder.chat() : builder.completion();
}

Expected<Prompt> build_document(const PromptContext& context, const Document& document,
                                const Request& request) {
  return Builder(context, request, true).document_alone(document);
}

}  // namespace looseleaf

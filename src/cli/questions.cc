#include "cli/questions.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "cli/flag.h"

namespace looseleaf {
namespace {

// "2,0,1". A document may be left out or stand twice.
Expected<std::vector<size_t>> parse_order(const std::string& text, size_t documents) {
  if (documents == 0) return error(ErrorCode::kUsage, "--order: there are no documents");
  std::vector<size_t> order;
  for (size_t start = 0; start <= text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const auto index =
        parse_integer(text.substr(start, comma - start), 0, static_cast<int64_t>(documents) - 1);
    if (!index) return error(ErrorCode::kUsage, "--order {}: {}", text, index.error().message);
    order.push_back(static_cast<size_t>(*index));
    start = comma + 1;
  }
  return order;
}

Status check_text(const char* flag, std::string_view text) {
  if (text.empty()) return error(ErrorCode::kUsage, "{}: must not be empty", flag);
  if (const auto offset = find_invalid_utf8(text)) {
    return error(ErrorCode::kUsage, "{}: not UTF-8 at byte {}", flag, *offset);
  }
  return {};
}

}  // namespace

Status check_no_question_flags(const QuestionFlags& flags) {
  const std::pair<const char*, bool> given[] = {
      {"--doc", !flags.documents.files.empty()},
      {"--docs", !flags.documents.collection.empty()},
      {"--doc-text", !flags.documents.texts.empty()},
      {"--order", !flags.orders.empty()},
      {"--system", !flags.system.empty()},
  };
  for (const auto& [flag, is_given] : given) {
    if (is_given) {
      return error(ErrorCode::kUsage, "{} goes with -q; a body says it itself", flag);
    }
  }
  return {};
}

Expected<Questions> Questions::load(const QuestionFlags& flags, const RequestFlags& request) {
  Questions loaded;
  for (const std::string& question : flags.questions) {
    LL_RETURN_IF_ERROR(check_text("-q", question));
  }
  loaded.questions_ = flags.questions;
  loaded.base_ = request.request;
  loaded.base_.max_tokens = request.max_tokens.value_or(loaded.base_.max_tokens);
  loaded.base_.sampling.temperature = request.request.sampling.temperature.value_or(0.0f);
  if (!flags.system.empty()) {
    LL_RETURN_IF_ERROR(check_text("--system", flags.system));
    loaded.base_.messages.push_back({"system", {flags.system}});
  }
  if (flags.orders.size() > flags.questions.size()) {
    return error(ErrorCode::kUsage, "--order is given {} times for {} questions",
                 flags.orders.size(), flags.questions.size());
  }
  LL_ASSIGN(loaded.documents_, load_documents(flags.documents));
  for (const std::string& text : flags.orders) {
    LL_ASSIGN(std::vector<size_t> order, parse_order(text, loaded.documents_.size()));
    loaded.orders_.push_back(std::move(order));
  }
  return loaded;
}

Request Questions::request(size_t k) const {
  Request request = base_;
  if (request.messages.empty()) {
    request.question = questions_[k];
  } else {
    request.messages.push_back({"user", {questions_[k]}});
  }
  if (k >= orders_.size()) {
    request.documents = documents_;
  } else {
    for (const size_t index : orders_[k]) request.documents.push_back(documents_[index]);
  }
  return request;
}

}  // namespace looseleaf

// Questions of the command line, each with the documents that it is asked about.
#pragma once

#include <string>
#include <vector>

#include "cli/documents.h"
#include "cli/options.h"

namespace looseleaf {

struct QuestionFlags {
  std::vector<std::string> questions;  // -q
  DocumentSources documents;
  std::vector<std::string> orders;  // --order: the k-th is for the k-th question
  std::string system;               // --system
};

// Refuses flags that say nothing to a body, which has fields for all of them.
Status check_no_question_flags(const QuestionFlags& flags);

class Questions {
 public:
  // Reads and checks everything. Greedy and 512 tokens unless `request` says otherwise.
  static Expected<Questions> load(const QuestionFlags& flags, const RequestFlags& request);

  size_t size() const { return questions_.size(); }
  Request request(size_t k) const;  // REQUIRES: k < size()

 private:
  Request base_;  // all but question and documents
  std::vector<std::string> questions_;
  std::vector<Document> documents_;
  std::vector<std::vector<size_t>> orders_;  // indices of documents; may be fewer than questions
};

}  // namespace looseleaf

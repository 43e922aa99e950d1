// The forms in which a body, or a file of documents, may write a document.
#pragma once

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// A string; {text | content | page_content | snippet, title?, id?, metadata?}; Cohere's
// {id?, data: string | {...}}; {tokens: [int], id?}. Members that mean nothing here go to
// `ignored`.
Expected<Document> read_document(const JsonField& field, IgnoredFields& ignored);

// A list of them.
Expected<std::vector<Document>> read_documents(const JsonField& field, IgnoredFields& ignored);

}  // namespace looseleaf

// Documents from files: texts, folders of texts, and lists of documents in JSON.
#pragma once

#include <string>
#include <vector>

#include "looseleaf/looseleaf.h"

namespace looseleaf {

// What the command line names, in the order in which it is read.
struct DocumentSources {
  std::vector<std::string> files;  // --doc: a text or Markdown file, a folder, or "-"
  std::string collection;          // --docs: a folder, or a .jsonl or .json file of documents
  std::vector<std::string> texts;  // --doc-text: the texts themselves
};

// A file's title is its name, or in a folder its path from there, without the suffix. Folders are
// read recursively in the order of their paths; dot files and links to folders are skipped.
// Errors: kNotFound, kInvalidArgument, kUnsupported, with the file's name.
Expected<std::vector<Document>> load_documents(const DocumentSources& sources);

}  // namespace looseleaf

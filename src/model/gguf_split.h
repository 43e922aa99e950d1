// A model that llama-gguf-split cut into several GGUF files.
#pragma once

#include "model/gguf.h"

namespace looseleaf {

// Reads `first` and, where it is the first of several parts (NAME-00001-of-00003.gguf with metadata
// split.no, split.count, split.tensors.count), the others beside it: the metadata are the first
// part's, the tensors are those of all parts.
// Errors: those of GgufFile::read and MappedFile::open, each with the part's path; kUsage (a part
// that is not the first); kCorrupt (a part that belongs to something else, tensors missing or
// twice).
Expected<GgufFile> read_gguf_parts(std::shared_ptr<const MappedFile> first);

}  // namespace looseleaf

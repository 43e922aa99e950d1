// GgufFile::read: the header, the metadata and the tensor table.
//   magic u32, version u32, tensors u64, entries u64
//   entries: key string, type u32, value        (a string is a u64 length and its bytes)
//   tensors: name string, rank u32, shape u64 each (innermost first), type u32, offset u64
//   padding to general.alignment, then the data that the offsets count from
#include <algorithm>
#include <bit>

#include "model/gguf.h"
#include "model/gguf_cursor.h"
#include "model/gguf_metadata.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kLeastAlignment = 8;  // the format wants a multiple of 8
// The smallest bytes that an entry (an empty key and a u8) and a tensor (an empty name, rank 1) can
// take: a count beyond the file's size over these is wrong before anything is allocated for it.
constexpr uint64_t kLeastEntryBytes = 8 + 4 + 1;
constexpr uint64_t kLeastTensorBytes = 8 + 4 + 8 + 4 + 8;

// ggml's names of the types that are met most and not read here, for the message that says so.
std::string_view ggml_type_name(uint32_t id) {
  switch (id) {
    case 15:
      return "q8_K";
    case 16:
      return "iq2_xxs";
    case 17:
      return "iq2_xs";
    case 18:
      return "iq3_xxs";
    case 21:
      return "iq3_s";
    case 22:
      return "iq2_s";
    case 23:
      return "iq4_xs";
    case 28:
      return "f64";
    case 39:
      return "mxfp4";
    default:
      return "unknown";
  }
}

std::string readable_types() {
  std::string names;
  for (const WeightType* type : weight_types())
    if (type->gguf_id >= 0) names += (names.empty() ? "" : ", ") + std::string(type->name);
  return names;
}

struct Header {
  uint32_t version = 0;
  uint64_t tensors = 0;
  uint64_t entries = 0;
};

Expected<Header> read_header(GgufCursor& cursor) {
  LL_ASSIGN(const auto magic, cursor.take(4, "the magic"));
  if (std::memcmp(magic.data(), "GGUF", 4) != 0)
    return error(ErrorCode::kCorrupt, "{}: offset 0: not 'GGUF': not a GGUF file", cursor.path());
  Header header;
  LL_ASSIGN(header.version, cursor.number<uint32_t>("the version"));
  if (header.version > 0 && header.version % 65536 == 0)
    return error(ErrorCode::kUnsupported,
                 "{}: offset 4: a big-endian file: convert the model for little-endian machines",
                 cursor.path());
  if (header.version != 2 && header.version != 3)
    return error(ErrorCode::kUnsupported,
                 "{}: offset 4: GGUF version {}, this build reads 2 and 3: convert the model again",
                 cursor.path(), header.version);
  LL_ASSIGN(header.tensors, cursor.number<uint64_t>("the number of tensors"));
  LL_ASSIGN(header.entries, cursor.number<uint64_t>("the number of metadata entries"));
  if (header.entries > cursor.left() / kLeastEntryBytes)
    return error(ErrorCode::kCorrupt,
                 "{}: offset 16: {} metadata entries do not fit the file's {} bytes: get it again",
                 cursor.path(), header.entries, cursor.bytes().size());
  if (header.tensors > cursor.left() / kLeastTensorBytes)
    return error(ErrorCode::kCorrupt,
                 "{}: offset 8: {} tensors do not fit the file's {} bytes: get it again",
                 cursor.path(), header.tensors, cursor.bytes().size());
  return header;
}

// A tensor whose `data` is not known yet, and its place counted from the start of the data.
struct Placed {
  StoredTensor tensor;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

Expected<Placed> read_tensor(GgufCursor& cursor, const MappedFile& file, uint64_t alignment) {
  Placed out;
  StoredTensor& tensor = out.tensor;
  tensor.file = &file;
  LL_ASSIGN(tensor.name, cursor.string("a tensor's name"));
  LL_ASSIGN(const auto rank, cursor.number<uint32_t>("a tensor's number of dimensions"));
  if (rank < 1 || rank > kMaxRank)
    return error(ErrorCode::kCorrupt, "{}: {} dimensions, not 1 to {}", tensor.where(), rank,
                 kMaxRank);
  tensor.rank = static_cast<int>(rank);
  for (int d = tensor.rank - 1; d >= 0; --d) {
    LL_ASSIGN(const auto extent, cursor.number<uint64_t>("a tensor's dimension"));
    if (extent == 0 || extent > INT64_MAX)
      return error(ErrorCode::kCorrupt, "{}: a dimension is {}", tensor.where(), extent);
    tensor.shape[static_cast<size_t>(d)] = static_cast<int64_t>(extent);
  }
  LL_ASSIGN(const auto type, cursor.number<uint32_t>("a tensor's type"));
  tensor.type = find_gguf_weight_type(type);
  if (tensor.type == nullptr)
    return error(
        ErrorCode::kUnsupported,
        "{}: weight type {} ({}) is not read by this build: quantize the model to one of {}",
        tensor.where(), type, ggml_type_name(type), readable_types());
  LL_ASSIGN(out.offset, cursor.number<uint64_t>("a tensor's offset"));
  if (out.offset % alignment != 0)
    return error(ErrorCode::kCorrupt, "{}: data offset {} is no multiple of the alignment {}",
                 tensor.where(), out.offset, alignment);
  const auto bytes = stored_bytes(*tensor.type, std::span(tensor.shape).first(rank));
  if (!bytes)
    return error(ErrorCode::kCorrupt, "{}: {} {}: {}", tensor.where(), tensor.type->name,
                 tensor.shape_text(), bytes.error().message);
  out.bytes = *bytes;
  return out;
}

// Where each tensor lies, now that the table's end is known. REQUIRES: the cursor stands there.
Status place(std::vector<Placed>& tensors, const GgufCursor& cursor, uint64_t alignment) {
  const uint64_t padding = (alignment - cursor.position() % alignment) % alignment;
  const uint64_t room = cursor.left() > padding ? cursor.left() - padding : 0;
  std::vector<Placed*> order;
  for (Placed& placed : tensors) order.push_back(&placed);
  std::sort(order.begin(), order.end(),
            [](const Placed* a, const Placed* b) { return a->offset < b->offset; });
  uint64_t free_from = 0;
  for (Placed* placed : order) {
    auto& [tensor, offset, bytes] = *placed;
    if (offset < free_from)
      return error(ErrorCode::kCorrupt, "{}: overlaps another tensor at data offset {}",
                   tensor.where(), offset);
    if (offset > room || bytes > room - offset)
      return error(ErrorCode::kCorrupt,
                   "{}: {} bytes at data offset {} end past the file's {} bytes: get it again",
                   tensor.where(), bytes, offset, cursor.bytes().size());
    tensor.data = cursor.bytes().subspan(cursor.position() + padding + offset, bytes);
    free_from = offset + bytes;
  }
  return {};
}

}  // namespace

Expected<GgufFile> GgufFile::read(std::shared_ptr<const MappedFile> file) {
  GgufFile out;
  out.files_.push_back(std::move(file));
  GgufCursor cursor(*out.files_.front());
  LL_ASSIGN(const Header header, read_header(cursor));
  out.version_ = header.version;
  for (uint64_t i = 0; i < header.entries; ++i) {
    LL_ASSIGN(auto entry, read_gguf_entry(cursor));
    if (!out.metadata_.insert(std::move(entry)).second)
      return error(ErrorCode::kCorrupt, "{}: offset {}: metadata {} stands there twice",
                   cursor.path(), cursor.position(), quote(entry.first));
  }
  LL_ASSIGN(const auto stored_alignment, out.find<uint32_t>("general.alignment"));
  const uint64_t alignment = stored_alignment.value_or(kDefaultAlignment);
  if (!std::has_single_bit(alignment) || alignment < kLeastAlignment)
    return error(ErrorCode::kCorrupt,
                 "{}: metadata 'general.alignment' is {}, not a power of two from {} on: convert "
                 "the model again",
                 cursor.path(), alignment, kLeastAlignment);
  std::vector<Placed> tensors;
  for (uint64_t i = 0; i < header.tensors; ++i) {
    LL_ASSIGN(Placed placed, read_tensor(cursor, *out.files_.front(), alignment));
    tensors.push_back(std::move(placed));
  }
  LL_RETURN_IF_ERROR(place(tensors, cursor, alignment));
  for (Placed& placed : tensors) LL_RETURN_IF_ERROR(out.tensors_.add(std::move(placed.tensor)));
  return out;
}

Status GgufFile::add_part(GgufFile&& part) {
  for (const StoredTensor& tensor : part.tensors_.tensors())
    LL_RETURN_IF_ERROR(tensors_.add(tensor));
  for (auto& file : part.files_) files_.push_back(std::move(file));
  return {};
}

}  // namespace looseleaf

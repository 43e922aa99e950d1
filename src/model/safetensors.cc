// One file:
//   header bytes u64, header (a JSON object: name -> dtype, shape, data_offsets), data
// The tensors cover the data without holes; data_offsets count from its start.
#include "model/safetensors.h"

#include <algorithm>
#include <cstring>

#include "base/json_parse.h"
#include "base/json_reader.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit

// [begin, end) in the data.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

Expected<std::string_view> find_header(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto path = file.path().string();
  if (bytes.size() < kLengthBytes)
    return error(ErrorCode::kCorrupt, "{}: {} bytes cannot hold a safetensors header: get it again",
                 path, bytes.size());
  constexpr std::string_view kPointer = "version https://git-lfs";
  if (bytes.size() >= kPointer.size() &&
      std::memcmp(bytes.data(), kPointer.data(), kPointer.size()) == 0)
    return error(ErrorCode::kCorrupt,
                 "{}: a git-lfs pointer, not the weights: fetch the file with git lfs pull", path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLongestHeader || length > bytes.size() - kLengthBytes)
    return error(ErrorCode::kCorrupt,
                 "{}: offset 0: a header of {} bytes does not fit the file's {}: not safetensors, "
                 "or cut",
                 path, length, bytes.size());
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
}

// The list of at most kMaxRank whole, non-negative numbers below 2^63 at `key`.
Expected<std::vector<int64_t>> numbers(const ObjectReader& entry, std::string_view key) {
  LL_RETURN_IF_ERROR(entry.get<const boost::json::array*>(key));
  LL_ASSIGN(const auto items, entry.items(key));
  if (items.size() > kMaxRank)
    return error(ErrorCode::kUnsupported, "{}: {} has {} numbers, more than {}", entry.where(), key,
                 items.size(), kMaxRank);
  std::vector<int64_t> out;
  for (size_t i = 0; i < items.size(); ++i) {
    LL_ASSIGN(const int64_t number, items[i].integer(0, INT64_MAX));
    out.push_back(number);
  }
  return out;
}

Expected<Extent> read_entry(const ObjectReader& entry, StoredTensor& tensor) {
  LL_ASSIGN(const auto dtype, entry.get<std::string_view>("dtype"));
  tensor.type = find_safetensors_weight_type(dtype);
  if (tensor.type == nullptr)
    return error(ErrorCode::kUnsupported,
                 "{}: dtype {} is not read by this build: only F32, F16 "
                 "and BF16 are",
                 entry.where(), quote(dtype));
  LL_ASSIGN(const auto shape, numbers(entry, "shape"));
  tensor.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape.begin());
  const auto bytes = stored_bytes(*tensor.type, shape);
  if (!bytes)
    return error(ErrorCode::kCorrupt, "{}: {} {}: {}", entry.where(), dtype, tensor.shape_text(),
                 bytes.error().message);
  LL_ASSIGN(const auto offsets, numbers(entry, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return error(ErrorCode::kCorrupt, "{}: 'data_offsets' are not a beginning and an end",
                 entry.where());
  const Extent extent = {static_cast<uint64_t>(offsets[0]), static_cast<uint64_t>(offsets[1])};
  if (extent.end - extent.begin != *bytes)
    return error(ErrorCode::kCorrupt, "{}: {} bytes of data for {} {}, which takes {}",
                 entry.where(), extent.end - extent.begin, dtype, tensor.shape_text(), *bytes);
  return extent;
}

}  // namespace

Status read_safetensors(const MappedFile& file, TensorTable& table) {
  LL_ASSIGN(const auto header, find_header(file));
  const auto path = file.path().string();
  LL_ASSIGN(const auto entries, parse_json_object(header, path + ": header"));
  std::vector<StoredTensor> tensors;
  std::vector<std::pair<Extent, size_t>> extents;  // and the tensor's index
  for (const auto& [key, value] : entries) {
    if (key == "__metadata__") continue;
    StoredTensor tensor;
    tensor.name = std::string_view(key);
    tensor.file = &file;
    if (!value.is_object())
      return error(ErrorCode::kCorrupt, "{}: its header entry is not an object", tensor.where());
    LL_ASSIGN(const Extent extent,
              read_entry(ObjectReader(value.get_object(), tensor.where()), tensor));
    extents.emplace_back(extent, tensors.size());
    tensors.push_back(std::move(tensor));
  }

  const auto data = file.bytes().subspan(kLengthBytes + header.size());
  std::sort(extents.begin(), extents.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  uint64_t covered = 0;
  for (const auto& [extent, index] : extents) {
    StoredTensor& tensor = tensors[index];
    if (extent.begin != covered)
      return error(ErrorCode::kCorrupt,
                   "{}: begins at data offset {} where the one before ends at {}", tensor.where(),
                   extent.begin, covered);
    if (extent.end > data.size())
      return error(ErrorCode::kCorrupt,
                   "{}: ends at data offset {} of {}: the file is cut, get it "
                   "again",
                   tensor.where(), extent.end, data.size());
    tensor.data = data.subspan(extent.begin, extent.end - extent.begin);
    covered = extent.end;
  }
  if (covered != data.size())
    return error(ErrorCode::kCorrupt, "{}: {} bytes behind the last tensor belong to none", path,
                 data.size() - covered);
  for (StoredTensor& tensor : tensors) LL_RETURN_IF_ERROR(table.add(std::move(tensor)));
  return {};
}

}  // namespace looseleaf

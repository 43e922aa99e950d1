#include "cli/npz.h"

#include <zip.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "base/json_text.h"

namespace looseleaf {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kHeaderStart = 10;  // magic, then the header's length in two bytes
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

std::optional<int64_t> element_bytes(std::string_view type) {
  if (type == "<f4" || type == "<i4") return 4;
  if (type == "|b1") return 1;
  return std::nullopt;
}

// NumPy's format, version 1.0: magic, length of the header, a Python literal padded so that the
// data begins at a multiple of 64.
std::string to_npy(const NpyArray& array) {
  std::string shape;
  for (const int64_t size : array.shape) shape += fmt::format("{}, ", size);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.type, shape);
  header.append(63 - (kHeaderStart + header.size()) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  return out + header + array.bytes;
}

// What stands between `before` and the next `after`.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const size_t start = text.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start + before.size());
  const size_t end = text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

// "6, 63" and "63,".
std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (status != std::errc() || size < 0 || size > static_cast<int64_t>(kMostBytes))
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.starts_with(',')) text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return shape;
}

Expected<NpyArray> from_npy(const std::string& file) {
  const auto refuse = [](const char* what) { return error(ErrorCode::kCorrupt, "{}", what); };
  if (!file.starts_with(kMagic) || file.size() < kHeaderStart)
    return refuse("is no NumPy array of format 1.0");
  const size_t length =
      static_cast<unsigned char>(file[8]) + size_t{256} * static_cast<unsigned char>(file[9]);
  if (file.size() < kHeaderStart + length) return refuse("ends in its header");
  const std::string_view header = std::string_view(file).substr(kHeaderStart, length);
  const auto type = between(header, "'descr': '", "'");
  const auto size = type ? element_bytes(*type) : std::nullopt;
  if (!size) return refuse("is of another type than float32, int32 and bool");
  if (header.find("'fortran_order': False") == std::string_view::npos)
    return refuse("is in Fortran's order; store numpy.ascontiguousarray of it");
  const auto text = between(header, "'shape': (", ")");
  const auto shape = text ? parse_shape(*text) : std::nullopt;
  if (!shape) return refuse("has no shape");
  NpyArray array{std::string(*type), *shape, file.substr(kHeaderStart + length)};
  int64_t bytes = *size;
  for (const int64_t n : array.shape)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return refuse("is larger than the file");
  if (bytes != std::ssize(array.bytes)) return refuse("is not as long as its shape says");
  return array;
}

tl::unexpected<Error> not_written(const std::string& path, const char* why) {
  return error(ErrorCode::kUnavailable, "{}: cannot be written: {}", path, why);
}

std::string open_problem(int code) {
  zip_error_t reason;
  zip_error_init_with_code(&reason, code);
  std::string why = zip_error_strerror(&reason);
  zip_error_fini(&reason);
  return why;
}

Expected<std::string> read_member(zip_t* archive, zip_uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
    return error(ErrorCode::kCorrupt, "has no size");
  if (stat.size > kMostBytes) return error(ErrorCode::kCorrupt, "is larger than 1 GiB");
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0),
                                                               zip_fclose);
  std::string bytes(stat.size, '\0');
  if (!file || zip_fread(file.get(), bytes.data(), bytes.size()) != std::ssize(bytes))
    return error(ErrorCode::kCorrupt, "cannot be unpacked");
  return bytes;
}

}  // namespace

NpyArray npy_array(std::string type, std::vector<int64_t> shape, const void* data, size_t bytes) {
  return {std::move(type), std::move(shape), std::string(static_cast<const char*>(data), bytes)};
}

Status write_npz(const std::string& path, const Npz& arrays) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) return not_written(path, open_problem(code).c_str());
  std::vector<std::string> files;  // libzip reads them when it closes
  files.reserve(arrays.size());
  bool good = true;
  for (const auto& [name, array] : arrays) {
    const std::string& bytes = files.emplace_back(to_npy(array));
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = source == nullptr ? -1
                                                : zip_file_add(archive, (name + ".npy").c_str(),
                                                               source, ZIP_FL_OVERWRITE);
    if (index < 0 && source != nullptr) zip_source_free(source);
    good =
        good && index >= 0 &&
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0;
  }
  if (good && zip_close(archive) == 0) return {};
  const std::string why = zip_strerror(archive);
  zip_discard(archive);
  return not_written(path, why.c_str());
}

Expected<Npz> read_npz(const std::string& path) {
  int code = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &code),
                                                         zip_discard);
  if (!archive)
    return error(code == ZIP_ER_NOZIP ? ErrorCode::kCorrupt : ErrorCode::kNotFound,
                 "{}: cannot be read as .npz: {}", path, open_problem(code));
  Npz arrays;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(archive.get(), index, 0);
    std::string_view shown = name == nullptr ? "" : name;
    if (!shown.ends_with(".npy")) continue;
    shown.remove_suffix(4);
    const auto named = [&](const Error& cause) {
      return error(cause.code, "{}: array {} {}", path, in_quotes(shown), cause.message);
    };
    auto bytes = read_member(archive.get(), index);
    if (!bytes) return named(bytes.error());
    auto array = from_npy(*bytes);
    if (!array) return named(array.error());
    arrays.insert_or_assign(std::string(shown), std::move(*array));
  }
  return arrays;
}

}  // namespace looseleaf

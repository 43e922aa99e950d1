// A walk over a GGUF file's bytes that never leaves them.
#pragma once

#include <cstring>
#include <string>

#include "base/mapped_file.h"

namespace looseleaf {

// `what` says in messages what was being read. Errors: kCorrupt (the file ends inside it).
class GgufCursor {
 public:
  // Borrows `file`.
  explicit GgufCursor(const MappedFile& file) : path_(file.path().string()), bytes_(file.bytes()) {}

  const std::string& path() const { return path_; }
  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }
  std::span<const std::byte> bytes() const { return bytes_; }  // of the whole file

  Expected<std::span<const std::byte>> take(uint64_t count, std::string_view what) {
    if (count > left())
      return error(
          ErrorCode::kCorrupt,
          "{}: offset {}: {} needs {} bytes and {} are left: the file is cut, get it again", path_,
          position_, what, count, left());
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  template <typename T>
  Expected<T> number(std::string_view what) {
    LL_ASSIGN(const auto taken, take(sizeof(T), what));
    T out;
    std::memcpy(&out, taken.data(), sizeof out);
    return out;
  }

  // A u64 length and that many bytes.
  Expected<std::string_view> string(std::string_view what) {
    LL_ASSIGN(const auto length, number<uint64_t>(what));
    LL_ASSIGN(const auto taken, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(taken.data()), taken.size());
  }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

}  // namespace looseleaf

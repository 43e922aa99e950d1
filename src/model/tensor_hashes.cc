#include "model/tensor_hashes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace looseleaf {
namespace {

constexpr std::string_view kTitle = "looseleaf-hashes 1\n";
constexpr int64_t kSecond = 1'000'000'000;

std::string sidecar_path(const MappedFile& file) {
  return file.path().string() + ".looseleaf-hashes";
}

std::string first_lines(const MappedFile& file, int64_t modified) {
  return fmt::format("{}file {} {}\n", kTitle, file.bytes().size(), modified);
}

std::string check_line(std::string_view text) {
  return fmt::format("check {:016x}\n", xxh3(std::as_bytes(std::span(text))));
}

// Takes a number and the character behind it off the front of `text`.
std::optional<uint64_t> take_number(std::string_view& text, int base, char end) {
  uint64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto used = static_cast<size_t>(stop - text.data());
  if (status != std::errc() || used == text.size() || text[used] != end) return {};
  text.remove_prefix(used + 1);
  return number;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

TensorHashes::TensorHashes(std::span<const std::shared_ptr<const MappedFile>> files,
                           size_t least_bytes) {
  for (const auto& mapped : files) {
    File& file = files_.emplace_back();
    file.file = mapped.get();
    if (mapped->bytes().size() >= least_bytes) file.modified = mapped->modified_ns();
    if (file.modified == 0 || !read(file)) file.ranges.clear();
  }
}

uint64_t TensorHashes::hash(std::span<const std::byte> data) {
  const auto owner = std::find_if(files_.begin(), files_.end(), [&](const File& file) {
    const auto bytes = file.file->bytes();
    return std::less_equal<>()(bytes.data(), data.data()) &&
           std::less<>()(data.data(), bytes.data() + bytes.size());
  });
  if (owner == files_.end()) return xxh3(data);
  const auto offset = static_cast<uint64_t>(data.data() - owner->file->bytes().data());
  const auto [place, inserted] = owner->ranges.try_emplace({offset, data.size()}, 0);
  if (inserted) {
    place->second = xxh3(data);
    owner->changed = true;
  }
  return place->second;
}

void TensorHashes::save() const {
  for (const File& file : files_)
    if (file.changed && file.modified != 0) write(file);
}

bool TensorHashes::read(File& file) {
  const auto sidecar = MappedFile::open(sidecar_path(*file.file));
  if (!sidecar) return false;
  const auto bytes = (*sidecar)->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t check_bytes = check_line({}).size();
  if (text.size() < check_bytes) return false;
  const std::string_view check = text.substr(text.size() - check_bytes);
  text.remove_suffix(check_bytes);
  if (check_line(text) != check) return false;
  const std::string start = first_lines(*file.file, file.modified);
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  while (!text.empty()) {
    const auto offset = take_number(text, 10, ' ');
    const auto size = take_number(text, 10, ' ');
    const auto hash = take_number(text, 16, '\n');
    if (!offset || !size || !hash) return false;
    file.ranges[{*offset, *size}] = *hash;
  }
  return true;
}

void TensorHashes::write(const File& file) {
  // A file written this moment may be written again within one tick of its clock, unseen.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (std::chrono::nanoseconds(now).count() - file.modified < 2 * kSecond) return;
  std::string text = first_lines(*file.file, file.modified);
  for (const auto& [range, hash] : file.ranges)
    text += fmt::format("{} {} {:016x}\n", range.first, range.second, hash);
  text += check_line(text);

  const std::string path = sidecar_path(*file.file);
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return;
  const bool written = write_all(fd, text) && ::fchmod(fd, 0644) == 0;
  const bool closed = ::close(fd) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0)
    ::unlink(temporary.c_str());
}

}  // namespace looseleaf

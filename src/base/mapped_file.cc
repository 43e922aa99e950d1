#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace looseleaf {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

MappedFile::MappedFile(std::filesystem::path path, std::span<const std::byte> bytes,
                       int64_t modified_ns)
    : path_(std::move(path)), bytes_(bytes), modified_ns_(modified_ns) {}

MappedFile::~MappedFile() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

Expected<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe would wait for its writer here.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    return error(ErrorCode::kNotFound, "{}: cannot be opened: {}", path.string(),
                 std::strerror(errno));
  struct stat info;
  if (::fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
    return error(ErrorCode::kNotFound, "{}: not a regular file", path.string());
  if (info.st_size == 0) return error(ErrorCode::kCorrupt, "{}: the file is empty", path.string());
  const auto size = static_cast<size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED)
    return error(ErrorCode::kUnavailable, "{}: cannot be mapped: {}", path.string(),
                 std::strerror(errno));
  const int64_t modified = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, {static_cast<const std::byte*>(address), size}, modified));
}

}  // namespace looseleaf

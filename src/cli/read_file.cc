#include "cli/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/utf8.h"

namespace looseleaf {
namespace {

// No context holds a text of this size; without a limit /dev/zero would fill the memory.
constexpr size_t kMaxBytes = size_t{256} << 20;

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > STDERR_FILENO) close(fd);
  }
};

Expected<int> open_for_reading(const std::string& path) {
  if (path == "-") {
    static bool used = false;
    if (used) {
      return error(ErrorCode::kInvalidArgument, "standard input: can be read only once");
    }
    used = true;
    return STDIN_FILENO;
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return error(ErrorCode::kNotFound, "{}: {}", path, std::strerror(errno));
  return fd;
}

}  // namespace

std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

Expected<std::string> read_text_file(const std::string& path) {
  LL_ASSIGN(const int fd, open_for_reading(path));
  const Descriptor descriptor{fd};
  const std::string name = shown_path(path);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = read(descriptor.fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return error(ErrorCode::kInvalidArgument, "{}: {}", name, std::strerror(errno));
    }
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxBytes) {
      return error(ErrorCode::kInvalidArgument, "{}: larger than {} MiB; split it", name,
                   kMaxBytes >> 20);
    }
  }
  if (const auto offset = find_invalid_utf8(text)) {
    return error(ErrorCode::kInvalidArgument,
                 "{}: not UTF-8 at byte {}; convert it first, e.g. iconv -f latin1 -t utf-8", name,
                 *offset);
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace looseleaf

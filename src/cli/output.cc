#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace looseleaf {
namespace {

// Both streams are written without buffers: there is nothing to flush or lose at the end.
// Gives errno, or 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

// File names and request fields in a message may hold control characters.
void print_line(std::string_view start, std::string_view message) {
  std::string line(start);
  for (const char c : message) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    line += control ? ' ' : c;
  }
  line += '\n';
  write_all(STDERR_FILENO, line);  // without a standard error there is nobody to tell
}

}  // namespace

int report(const Status& status) {
  if (status) return kExitDone;
  print_error(status.error().message);
  switch (status.error().code) {
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kInternal:
      return kExitInternal;
    default:
      return kExitRefused;
  }
}

Status write_output(std::string_view text) {
  static int failed = 0;
  if (failed == 0) failed = write_all(STDOUT_FILENO, text);
  if (failed == 0) return {};
  return error(ErrorCode::kUnavailable, "standard output: {}", std::strerror(failed));
}

void print_error(std::string_view message) { print_line("looseleaf: ", message); }
void print_warning(std::string_view message) { print_line("looseleaf: warning: ", message); }
void print_note(std::string_view message) { print_line("", message); }

}  // namespace looseleaf

#include "eval/sample_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/json_parse.h"
#include "base/json_text.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

constexpr int kFormat = 1;
constexpr const char* kMark = "looseleaf_samples";

tl::unexpected<Error> io_error(const std::string& path) {
  return error(ErrorCode::kUnavailable, "{}: {}", path, std::strerror(errno));
}

Expected<std::string> read_all(int fd, const std::string& path) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(path);
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

Status check_header(const std::string& path, std::string_view line, const json::object& config) {
  const auto value = parse_json(line);
  const json::object* header = value ? value->if_object() : nullptr;
  const json::value* format = header != nullptr ? header->if_contains(kMark) : nullptr;
  const json::value* made = header != nullptr ? header->if_contains("config") : nullptr;
  if (format == nullptr || made == nullptr || !made->is_object())
    return error(ErrorCode::kCorrupt,
                 "{}:1: is no file of samples; give a new name, or remove the file", path);
  if (*format != json::value(kFormat))
    return error(ErrorCode::kInvalidArgument,
                 "{}: has format {}, this version reads {}; give another file", path,
                 write_json(*format), kFormat);
  for (const json::key_value_pair& setting : config) {
    const json::value* other = made->get_object().if_contains(setting.key());
    const std::string now = write_json(setting.value());
    const std::string then = other != nullptr ? write_json(*other) : "nothing";
    if (now != then)
      return error(ErrorCode::kInvalidArgument,
                   "{}: was made with another configuration: {} was {} and is now {}; give another "
                   "file, or the same settings",
                   path, std::string_view(setting.key()), then, now);
  }
  return {};
}

}  // namespace

SampleFile& SampleFile::operator=(SampleFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(records_, other.records_);
  return *this;
}

SampleFile::~SampleFile() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<SampleFile> SampleFile::open(const std::string& path, const json::object& config) {
  SampleFile file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return io_error(path);
  if (::flock(file.fd_, LOCK_EX | LOCK_NB) != 0)
    return error(ErrorCode::kUnavailable, "{}: another run has it open; wait, or give another file",
                 path);
  LL_RETURN_IF_ERROR(file.read(config));
  return file;
}

Status SampleFile::read(const json::object& config) {
  LL_ASSIGN(const std::string text, read_all(fd_, path_));
  const size_t whole = text.rfind('\n') + 1;  // 0 where there is no line end
  std::string_view rest = std::string_view(text).substr(0, whole);
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(row.size() + 1);
    if (line == 1) {
      LL_RETURN_IF_ERROR(check_header(path_, row, config));
      continue;
    }
    const auto value = parse_json(row);
    auto record = value ? record_from_json(*value) : tl::unexpected(value.error());
    if (!record)
      return error(ErrorCode::kCorrupt, "{}:{}: {}; remove this line to compute it again", path_,
                   line, record.error().message);
    auto key = std::tuple(record->task, record->sample, record->order, record->method);
    records_.insert_or_assign(std::move(key), std::move(*record));
  }
  // A file that is something else altogether is not cut.
  if (whole == 0 && !text.empty() && !text.starts_with("{\"looseleaf_samples\""))
    return error(ErrorCode::kCorrupt,
                 "{}: is no file of samples; give a new name, or remove the file", path_);
  if (whole < text.size() && ::ftruncate(fd_, static_cast<off_t>(whole)) != 0)
    return io_error(path_);
  if (::lseek(fd_, 0, SEEK_END) < 0) return io_error(path_);
  if (whole > 0) return {};
  return write(write_json(json::object{{kMark, kFormat}, {"config", config}}) + '\n');
}

Status SampleFile::write(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(path_);
    rest.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

const SampleRecord* SampleFile::find(const std::string& task, const std::string& sample, int order,
                                     const std::string& method) const {
  const auto found = records_.find(std::tuple(task, sample, order, method));
  return found != records_.end() ? &found->second : nullptr;
}

Status SampleFile::add(SampleRecord record) {
  if (fd_ >= 0) LL_RETURN_IF_ERROR(write(write_json(to_json(record)) + '\n'));
  auto key = std::tuple(record.task, record.sample, record.order, record.method);
  records_.insert_or_assign(std::move(key), std::move(record));
  return {};
}

}  // namespace looseleaf

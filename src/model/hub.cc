#include "model/hub.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "text/quote.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "hf:";
constexpr size_t kCommitDigits = 40;
constexpr size_t kLongestName = 96;       // the hub's limit of org/name
constexpr size_t kLongestRevision = 250;  // a file name

bool all_of(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || marks.find(static_cast<char>(c)) != marks.npos;
  });
}

// The hub's rule for either part of org/name.
bool is_name(std::string_view part) {
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  return !part.empty() && all_of(part, "-_.") && !is_edge(part.front()) && !is_edge(part.back()) &&
         part.find("--") == part.npos && part.find("..") == part.npos && !part.ends_with(".git");
}

// What may stand in a path below the cache, and in a shell without quotes.
bool is_revision(std::string_view revision) {
  if (revision.empty() || revision.size() > kLongestRevision || revision.front() == '-' ||
      !all_of(revision, "-_.+/"))
    return false;
  for (size_t begin = 0; begin <= revision.size();) {
    const std::string_view part = revision.substr(begin, revision.find('/', begin) - begin);
    if (part.empty() || part == "." || part.find("..") != part.npos) return false;
    begin += part.size() + 1;
  }
  return true;
}

bool is_commit(std::string_view text) {
  return text.size() == kCommitDigits && std::ranges::all_of(text, [](char c) {
           return std::string_view("0123456789abcdef").find(c) != std::string_view::npos;
         });
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path without_tilde(const std::string& path) {
  const std::string home = environment("HOME");
  if (home.empty() || (path != "~" && !path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

tl::unexpected<Error> not_there(const HubName& name, const fs::path& cache) {
  return error(
      ErrorCode::kNotFound,
      "{}: not in the Hugging Face cache {}, and nothing is fetched here; fetch it with: {}",
      name.text(), cache.string(), name.download_command());
}

// The commit that a branch or tag stood for when it was fetched; empty: never fetched.
Expected<std::string> read_ref(const fs::path& path) {
  std::ifstream file(path);
  std::string commit;
  if (!file || !(file >> commit)) return std::string();
  if (!is_commit(commit))
    return error(ErrorCode::kCorrupt, "{}: {} is not a commit; fetch the model again",
                 path.string(), quote(commit));
  return commit;
}

}  // namespace

std::string HubName::text() const {
  return fmt::format("{}{}{}{}", kStart, repository, revision.empty() ? "" : "@", revision);
}

std::string HubName::download_command() const {
  return fmt::format("hf download {}{}{}", repository, revision.empty() ? "" : " --revision ",
                     revision);
}

bool is_hub_name(std::string_view path) { return path.starts_with(kStart); }

Expected<HubName> parse_hub_name(std::string_view path) {
  const std::string_view rest = path.substr(kStart.size());
  const size_t at = rest.find('@'), slash = rest.find('/');
  HubName name{std::string(rest.substr(0, at)), {}};
  const bool named = slash < at && name.repository.size() <= kLongestName &&
                     is_name(rest.substr(0, slash)) &&
                     is_name(std::string_view(name.repository).substr(slash + 1));
  if (!named)
    return error(ErrorCode::kUsage, "{} does not name a model; it must be hf:ORG/NAME[@REVISION]",
                 quote(path));
  if (at == rest.npos) return name;
  name.revision = rest.substr(at + 1);
  if (!is_revision(name.revision))
    return error(ErrorCode::kUsage,
                 "{}: {} is not a revision; give a branch, a tag or a whole commit", quote(path),
                 quote(name.revision));
  return name;
}

fs::path hub_cache_folder() {
  if (const auto cache = environment("HF_HUB_CACHE"); !cache.empty()) return without_tilde(cache);
  if (const auto home = environment("HF_HOME"); !home.empty()) return without_tilde(home) / "hub";
  const auto xdg = environment("XDG_CACHE_HOME");
  return without_tilde(xdg.empty() ? "~/.cache" : xdg) / "huggingface" / "hub";
}

Expected<fs::path> find_snapshot(const HubName& name, const fs::path& cache) {
  std::string folder = "models--" + name.repository;
  folder.replace(folder.find('/'), 1, "--");
  const fs::path repository = cache / folder;
  std::string commit = name.revision;
  if (!is_commit(commit)) {
    const std::string branch = commit.empty() ? "main" : commit;
    LL_ASSIGN(commit, read_ref(repository / "refs" / branch));
    if (commit.empty()) return not_there(name, cache);
  }
  fs::path snapshot = repository / "snapshots" / commit;
  std::error_code status;
  if (!fs::is_directory(snapshot, status)) return not_there(name, cache);
  return snapshot;
}

}  // namespace looseleaf

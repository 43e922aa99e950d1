// Models named hf:ORG/NAME[@REVISION], found in this machine's Hugging Face cache. Nothing is
// fetched.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

struct HubName {
  std::string repository;  // "org/name"
  std::string revision;    // a branch, a tag or a commit; empty: main

  std::string text() const;              // "hf:org/name@revision"
  std::string download_command() const;  // for a shell
};

bool is_hub_name(std::string_view path);

// Errors: kUsage (not a name that the hub could have).
Expected<HubName> parse_hub_name(std::string_view path);

// HF_HUB_CACHE, else `hub` in HF_HOME, else huggingface/hub in XDG_CACHE_HOME or ~/.cache: where
// the hub's own tools keep what they fetch.
std::filesystem::path hub_cache_folder();

// The snapshot of this revision, a folder of links: models--ORG--NAME/snapshots/COMMIT.
// Errors: kNotFound (with the command that fetches it), kCorrupt (a ref that names no commit).
Expected<std::filesystem::path> find_snapshot(const HubName& name,
                                              const std::filesystem::path& cache);

}  // namespace looseleaf

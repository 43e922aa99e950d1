// hf:ORG/NAME[@REVISION], with caches laid out as the hub's own tools lay them: blobs, refs, and
// snapshots of links.
#include "model/hub.h"

#include <cstdlib>
#include <map>

#include "model/model.h"
#include "test_files.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

const std::string kCommit(40, 'a'), kOther(40, 'b');

// Sets the variables that say where the cache is, and puts back what they were.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"}) {
      if (const char* old = std::getenv(name)) old_.emplace(name, old);
      ::unsetenv(name);
      if (values.contains(name)) ::setenv(name, values.at(name).c_str(), 1);
    }
  }
  ~Environment() {
    for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"}) {
      ::unsetenv(name);
      if (old_.contains(name)) ::setenv(name, old_.at(name).c_str(), 1);
    }
  }

 private:
  std::map<std::string, std::string> old_;
};

class Cache {
 public:
  fs::path repository() const { return folder_.path() / "models--org--tiny.model_1"; }
  const fs::path& path() const { return folder_.path(); }

  void add_ref(const std::string& name, const std::string& text) const {
    const auto path = repository() / "refs" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // A blob, and the snapshot's link to it.
  void add_file(const std::string& commit, const std::string& name,
                const std::string& bytes) const {
    const auto snapshot = repository() / "snapshots" / commit;
    fs::create_directories(snapshot);
    fs::create_directories(repository() / "blobs");
    const std::string blob = "blob-of-" + commit.substr(0, 4) + name;
    std::ofstream(repository() / "blobs" / blob, std::ios::binary) << bytes;
    fs::create_symlink(fs::path("../../blobs") / blob, snapshot / name);
  }
  void add_model(const std::string& commit) const {
    add_file(commit, "config.json", tiny::config_json());
    add_file(commit, "model.safetensors", tiny::safetensors().build());
  }

 private:
  TempFolder folder_;
};

TEST(Hub, NamesThatCannotBe) {
  for (const std::string name :
       {"hf:", "hf:/", "hf:org", "hf:org/", "hf:/name", "hf:org/name/more", "hf:../name",
        "hf:org/..", "hf:org/na--me", "hf:org/na..me", "hf:.org/name", "hf:org/name.",
        "hf:-org/name", "hf:org/name.git", "hf:org/na me", "hf:org/na;me", "hf:org/n\xC3\xA4me",
        "hf:org@v/name", "hf:org/na\nme"}) {
    expect_error(parse_hub_name(name), ErrorCode::kUsage, "must be hf:ORG/NAME[@REVISION]");
  }
  expect_error(parse_hub_name("hf:org/" + std::string(100, 'x')), ErrorCode::kUsage, "hf:ORG/NAME");
  for (const std::string revision :
       {"", "/", "a/", "/a", "a//b", "..", "a/../b", "a..b", ".", "a b", "$(a)", "-f", "a@b"}) {
    expect_error(parse_hub_name("hf:org/name@" + revision), ErrorCode::kUsage, "is not a revision");
  }
}

TEST(Hub, CommandsToFetch) {
  EXPECT_EQ(parse_hub_name("hf:org/n.a_m-e")->download_command(), "hf download org/n.a_m-e");
  EXPECT_EQ(parse_hub_name("hf:org/name@refs/pr/1")->download_command(),
            "hf download org/name --revision refs/pr/1");
}

TEST(Hub, WhereTheCacheIs) {
  const auto cache = [](const std::map<std::string, std::string>& values) {
    const Environment environment(values);
    return hub_cache_folder().string();
  };
  EXPECT_EQ(cache({{"HOME", "/h"}}), "/h/.cache/huggingface/hub");
  EXPECT_EQ(cache({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}), "/x/huggingface/hub");
  EXPECT_EQ(cache({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "~/f"}}), "/h/f/hub");
  EXPECT_EQ(cache({{"HF_HOME", "/f"}, {"HF_HUB_CACHE", "/c"}}), "/c");
  EXPECT_EQ(cache({{"HF_HOME", "/f"}, {"HF_HUB_CACHE", ""}}), "/f/hub");
}

TEST(Hub, RevisionsAreBranchesTagsAndCommits) {
  const Cache cache;
  cache.add_model(kCommit);
  cache.add_model(kOther);
  cache.add_ref("main", kCommit);
  cache.add_ref("refs/pr/1", kOther + "\n");
  const auto found = [&](const std::string& suffix) {
    const auto name = parse_hub_name("hf:org/tiny.model_1" + suffix);
    const auto snapshot = find_snapshot(*name, cache.path());
    EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
    return snapshot ? snapshot->filename().string() : "";
  };
  EXPECT_EQ(found(""), kCommit);
  EXPECT_EQ(found("@main"), kCommit);
  EXPECT_EQ(found("@refs/pr/1"), kOther);
  EXPECT_EQ(found("@" + kOther), kOther);
}

TEST(Hub, WhatIsNotThereNamesTheCommand) {
  const Cache cache;
  const auto find = [&](const std::string& suffix) {
    return find_snapshot(*parse_hub_name("hf:org/tiny.model_1" + suffix), cache.path());
  };
  const std::string fetch = "fetch it with: hf download org/tiny.model_1";
  expect_error(find(""), ErrorCode::kNotFound, fetch);
  cache.add_ref("main", kCommit);
  expect_error(find(""), ErrorCode::kNotFound, fetch);
  expect_error(find("@v2"), ErrorCode::kNotFound, fetch + " --revision v2");
  expect_error(find("@" + kOther), ErrorCode::kNotFound, fetch + " --revision " + kOther);
  cache.add_ref("v2", "../../../etc");
  expect_error(find("@v2"), ErrorCode::kCorrupt, "is not a commit");
}

TEST(Hub, LoadsThroughTheLinks) {
  const Cache cache;
  const Environment environment({{"HF_HUB_CACHE", cache.path().string()}});
  cache.add_ref("main", kCommit);
  cache.add_file(kCommit, "config.json", tiny::config_json());
  expect_error(load_model("hf:org/tiny.model_1"), ErrorCode::kNotFound,
               "fetch all of it with: hf download org/tiny.model_1");
  cache.add_file(kCommit, "model.safetensors", tiny::safetensors().build());
  const auto model = load_model("hf:org/tiny.model_1");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->path, (cache.repository() / "snapshots" / kCommit).string());
  fs::remove_all(cache.repository() / "blobs");
  expect_error(load_model("hf:org/tiny.model_1"), ErrorCode::kNotFound, "cannot be opened");
  expect_error(load_model("hf:org"), ErrorCode::kUsage, "hf:ORG/NAME");
}

}  // namespace
}  // namespace looseleaf

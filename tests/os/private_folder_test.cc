#include "must.h"
#include "os/files.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

namespace fs = std::filesystem;

/// TMPDIR of its own, while it lives.
struct Below {
  Below() {
    REQUIRE(mkdtemp(path.data()) != nullptr);
    setenv("TMPDIR", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;
  ~Below() {
    unsetenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
    fs::remove_all(path);
  }
  long entries() const { return std::distance(fs::directory_iterator(path), {}); }
  std::string path = "/tmp/test-private-XXXXXX";
};

}  // namespace

TEST_CASE("what a process left that was killed is removed by the next, and nothing else") {
  const Below below;
  fs::create_directory(below.path + "/lauka-private-public");
  fs::permissions(below.path + "/lauka-private-public", fs::perms(0755));
  fs::create_directory(below.path + "/lauka-backup");
  const pid_t child = fork();
  if (child == 0) {
    auto folder = PrivateFolder::create();
    if (folder) std::ofstream(folder->path() + "/out.1.1") << "summary:";
    std::raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  CHECK(below.entries() == 3);
  const PrivateFolder in_use = must(PrivateFolder::create());
  CHECK(below.entries() == 3);
  CHECK(fs::exists(in_use.path()));
  {
    const PrivateFolder another = must(PrivateFolder::create());
    CHECK(fs::exists(in_use.path()));
    CHECK(below.entries() == 4);
  }
  CHECK(below.entries() == 3);
}

TEST_CASE("the default folder is in memory, if the system has such a place") {
  const bool has_memory = access("/dev/shm", W_OK) == 0;
  CHECK(must(PrivateFolder::create())
            .path()
            .starts_with(has_memory ? "/dev/shm/lauka-private-" : "/tmp/lauka-private-"));
}

TEST_CASE("a link in the place of the folder leads neither reading nor removing to its target") {
  const Below below;
  const std::string target = below.path + "/target";
  fs::create_directories(target + "/inner");
  std::ofstream(target + "/run-00") << "foreign";
  {
    PrivateFolder folder = must(PrivateFolder::create());
    std::ofstream(folder.path() + "/run-00") << "own";
    fs::create_directory(folder.path() + "/inner");
    fs::create_directory_symlink(target, folder.path() + "/inner/link");
    fs::rename(folder.path(), below.path + "/moved");
    fs::create_directory_symlink(target, folder.path());
    CHECK(folder.names() == std::vector<std::string>{"inner", "run-00"});
    CHECK(read_whole(folder.open_file("run-00").get(), 100) == "own");
    folder.clear();
    CHECK(fs::exists(target + "/run-00"));
    std::ofstream(below.path + "/moved/late") << "x";
  }
  CHECK(fs::exists(target + "/run-00"));
  CHECK(fs::exists(target + "/inner"));
  CHECK(fs::is_empty(below.path + "/moved"));
}

TEST_CASE("a link with the name of a folder that was left is not followed") {
  const Below below;
  fs::create_directory(below.path + "/target");
  fs::permissions(below.path + "/target", fs::perms(0700));
  std::ofstream(below.path + "/target/file") << "x";
  fs::create_directory_symlink(below.path + "/target", below.path + "/lauka-private-link");
  CHECK(PrivateFolder::create().has_value());
  CHECK(fs::exists(below.path + "/target/file"));
}

TEST_CASE("where anybody may rename folders, none is taken for one that was left") {
  const Below below;
  fs::permissions(below.path, fs::perms(0777));
  fs::create_directory(below.path + "/lauka-private-renamed");
  fs::permissions(below.path + "/lauka-private-renamed", fs::perms(0700));
  std::ofstream(below.path + "/lauka-private-renamed/file") << "x";
  CHECK(PrivateFolder::create().has_value());
  CHECK(fs::exists(below.path + "/lauka-private-renamed/file"));
}

}  // namespace lauka::os

#include "os/private_folder.h"

#include "places.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

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
  const auto in_use = PrivateFolder::create();
  REQUIRE(in_use.has_value());
  CHECK(below.entries() == 3);
  CHECK(fs::exists(in_use->path()));
  {
    const auto another = PrivateFolder::create();
    REQUIRE(another.has_value());
    CHECK(fs::exists(in_use->path()));
    CHECK(below.entries() == 4);
  }
  CHECK(below.entries() == 3);
}

}  // namespace lauka::os

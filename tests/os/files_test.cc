#include "os/files.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// A folder of a test's own, emptied and removed when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    for (const std::string& name : names()) unlink(file(name).c_str());
    rmdir(path_.c_str());
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    DIR* folder = opendir(path_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') all.emplace_back(entry->d_name);
    }
    closedir(folder);
    return all;
  }

 private:
  std::string path_ = "/tmp/lauka-test-XXXXXX";
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("an export appears whole, with the permissions of a new file") {
  const TemporaryFolder folder;
  auto file = ExportFile::open(folder.file("out.csv"));
  REQUIRE(file.has_value());
  CHECK(access(folder.file("out.csv").c_str(), F_OK) != 0);
  REQUIRE(file->commit("a,b\n").has_value());
  CHECK(text_of(folder.file("out.csv")) == "a,b\n");
  CHECK(folder.names().size() == 1);
  const mode_t mask = umask(0);
  umask(mask);
  struct stat status {};
  REQUIRE(stat(folder.file("out.csv").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("an export that is not committed leaves what was there and no temporary file") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("out.csv")) << "last week's";
  { const auto file = ExportFile::open(folder.file("out.csv")); }
  CHECK(text_of(folder.file("out.csv")) == "last week's");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("an export through a symbolic link replaces the file it leads to") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("real.csv")) << "old";
  REQUIRE(symlink(folder.file("real.csv").c_str(), folder.file("link.csv").c_str()) == 0);
  REQUIRE(ExportFile::open(folder.file("link.csv"))->commit("new").has_value());
  CHECK(text_of(folder.file("real.csv")) == "new");
  struct stat status {};
  REQUIRE(lstat(folder.file("link.csv").c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
}

TEST_CASE("targets that cannot be written are refused and named") {
  const auto missing = ExportFile::open("/nosuch/folder/out.csv");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().what == "cannot write '/nosuch/folder/out.csv': No such file or directory");
  CHECK(ExportFile::open("/tmp").error().what == "cannot write '/tmp': Is a directory");
}

TEST_CASE("a full disk is an error of the commit") {
  auto file = ExportFile::open("/dev/full");
  REQUIRE(file.has_value());
  CHECK(file->commit("x").error().what == "cannot write '/dev/full': No space left on device");
}

TEST_CASE("a terminal that a command made non-blocking gets all of the text") {
  std::array ends = {-1, -1};
  REQUIRE(pipe(ends.data()) == 0);
  REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  const int saved = dup(STDERR_FILENO);
  const std::string text(300'000, 'x');
  std::size_t received = 0;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::vector<char> bytes(65536);
    for (ssize_t got = 0; (got = read(ends[0], bytes.data(), bytes.size())) > 0;)
      received += static_cast<std::size_t>(got);
  });
  dup2(ends[1], STDERR_FILENO);
  const auto said = say(Stream::Error, text);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  CHECK(said.has_value());
  CHECK(received == text.size());
}

TEST_CASE("/dev/null takes an export and stays what it is") {
  CHECK(ExportFile::open("/dev/null")->commit("x").has_value());
  struct stat status {};
  REQUIRE(stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

}  // namespace lauka::os

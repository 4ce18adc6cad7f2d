#include "os/symbols.h"
#include "places.h"
#include "skip.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

// With elfutils, on programs that are there.

namespace lauka::os {
namespace {

bool can_read_symbols() {
  if (has_symbols()) return true;
  skip("lauka was built without elfutils");
  return false;
}

std::string fixture_path() {
  return std::string(places::kFixtures) + "/hundred";
}

}  // namespace

TEST_CASE("a static function of a program is found by offsets in its file") {
  if (!can_read_symbols()) return;
  OpenedCode code = open_code({.path = fixture_path()}, getpid());
  REQUIRE(code.symbols != nullptr);
  std::size_t named = 0;
  const auto bytes = std::filesystem::file_size(fixture_path());
  for (std::uint64_t offset = 0; offset < bytes; ++offset)
    if (code.symbols->find(offset) == "part_42") ++named;
  CHECK(named > 8);
  CHECK(named < 256);
}

TEST_CASE("a file that is not the one that was mapped has no symbols, and is said to be replaced") {
  if (!can_read_symbols()) return;
  struct stat about {};
  REQUIRE(stat(fixture_path().c_str(), &about) == 0);
  CHECK(open_code({.path = fixture_path(), .inode = about.st_ino}, getpid()).symbols != nullptr);
  const OpenedCode other = open_code({.path = fixture_path(), .inode = about.st_ino + 1}, getpid());
  const OpenedCode older = open_code({.path = fixture_path(), .build_id = "12345"}, getpid());
  CHECK(other.symbols == nullptr);
  CHECK(older.symbols == nullptr);
  CHECK(other.why_not == older.why_not);
}

TEST_CASE("a file that is gone, a folder, and one that is no program have no symbols") {
  if (!can_read_symbols()) return;
  for (const char* const path : {"/nosuch/file", "/tmp", "/etc/passwd", "/dev/null"}) {
    const OpenedCode code = open_code({.path = path}, getpid());
    CHECK(code.symbols == nullptr);
    CHECK_FALSE(code.why_not.empty());
  }
}

TEST_CASE("the code that the kernel gives to each process has names") {
  if (!can_read_symbols()) return;
  OpenedCode code = open_vdso();
  REQUIRE(code.symbols != nullptr);
  std::size_t named = 0;
  for (std::uint64_t offset = 0; offset < 8192; ++offset)
    if (!code.symbols->find(offset).empty()) ++named;
  CHECK(named > 0);
}

}  // namespace lauka::os

#include "contract/program.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

// Under sudo: root measures the commands of the user who called sudo, whom SUDO_UID and SUDO_GID
// name.

namespace lauka::contract {
namespace {

constexpr unsigned kUser = 54321;  // unused: the tests need no account
constexpr unsigned kGroup = 54322;

bool is_root() {
  if (geteuid() == 0) return true;
  skip("only root can become another user");
  return false;
}

Said as_if_by_sudo(std::vector<std::string> arguments, const std::string& folder,
                   unsigned user = kUser, unsigned group = kGroup) {
  Start start;
  start.arguments = std::move(arguments);
  start.environment = {{"SUDO_UID", std::to_string(user)},
                       {"SUDO_GID", std::to_string(group)},
                       {"SUDO_USER", "somebody"},
                       {"HOME", "/root"},
                       {"USER", "root"},
                       {"LOGNAME", "root"}};
  start.folder = folder;
  return lauka(start);
}

/// A folder of that user, and programs in it that the user may run wherever the tests were built.
struct UsersFolder : Folder {
  UsersFolder() {
    REQUIRE(chown(path().c_str(), kUser, kGroup) == 0);
    REQUIRE(chmod(path().c_str(), 0755) == 0);
  }
};

std::string owner_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return "not there";
  return std::to_string(file.st_uid) + ":" + std::to_string(file.st_gid);
}

/// An account of /etc/passwd that is not root's, and belongs to more than its own group.
struct RealUser {
  unsigned id = 0;
  unsigned group = 0;
  std::string name;
  std::string home;
};

std::optional<RealUser> real_user() {
  std::ifstream file("/etc/passwd");
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ':') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (fields.size() < 6 || fields[2] == "0") continue;
    return RealUser{static_cast<unsigned>(std::stoul(fields[2])),
                    static_cast<unsigned>(std::stoul(fields[3])), fields[0], fields[5]};
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("under sudo, commands and hooks are run as the user who called it (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  const std::string tell = "sh -c 'echo $(id -u):$(id -g):$(id -G) >> log'";
  const Said said = as_if_by_sudo(
      {"-r1", "-w0", "-s", tell, "-p", tell, "-C", tell, "-c", tell, "--", tell}, folder.path());
  CAPTURE(said.err);
  CHECK(said.status == 0);
  const auto lines = lines_of(text_of(folder.file("log")));
  CHECK(lines == std::vector<std::string>(5, "54321:54322:54322"));
  CHECK(owner_of(folder.file("log")) == "54321:54322");
}

TEST_CASE("under sudo, a command finds the user's groups, HOME, USER and LOGNAME (needs root)") {
  if (!is_root()) return;
  const auto user = real_user();
  if (!user) {
    skip("there is no account but root's");
    return;
  }
  const Folder folder;
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  const Said said = as_if_by_sudo(
      {"-r1", "-w0", "--",
       "sh -c 'echo $(id -G):$HOME:$USER:$LOGNAME > told; id -G " + user->name + " > expected'"},
      folder.path(), user->id, user->group);
  CAPTURE(said.err);
  REQUIRE(said.status == 0);
  const auto sorted = [](const std::string& groups) {
    std::vector<std::string> words(1);
    for (const char c : groups) {
      if (c == ' ' || c == '\n') {
        words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::remove(words.begin(), words.end(), ""), words.end());
    return words;
  };
  const std::string reported = lines_of(text_of(folder.file("told"))).at(0);
  const std::size_t colon = reported.find(':');
  CHECK(sorted(reported.substr(0, colon)) == sorted(text_of(folder.file("expected"))));
  CHECK(reported.substr(colon) == ":" + user->home + ":" + user->name + ":" + user->name);
}

TEST_CASE("under sudo, exports belong to the user (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  REQUIRE(as_if_by_sudo({"-q", "-r1", "--export-csv", "out.csv", "--export-runs", "runs.csv",
                         "--output", "output", "--", "echo told"},
                        folder.path())
              .status == 0);
  for (const char* const name : {"out.csv", "runs.csv", "output"}) {
    CAPTURE(name);
    CHECK(owner_of(folder.file(name)) == "54321:54322");
  }
  CHECK(text_of(folder.file("output")) == "told\n");
}

TEST_CASE("under sudo, no file is written or read where the user could not (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  const Folder roots;  // mode 0700
  std::ofstream(roots.file("secret")) << "kept\n";
  std::filesystem::create_symlink(roots.file("secret"), folder.file("link"));
  std::filesystem::create_symlink(roots.path(), folder.file("there"));
  const std::vector<std::vector<std::string>> all = {
      {"--export-csv", "link"}, {"--export-csv", "there/new"}, {"--export-csv", roots.file("new")},
      {"--output", "link"},     {"--output", "there/new"},     {"--input", "link"}};
  for (std::vector<std::string> arguments : all) {
    CAPTURE(arguments[1]);
    arguments.insert(arguments.end(), {"-q", "-r1", "--", "cat"});
    const Said said = as_if_by_sudo(arguments, folder.path());
    CAPTURE(said.err);
    CHECK(said.status == 2);
    CHECK(text_of(roots.file("secret")) == "kept\n");
    CHECK(owner_of(roots.file("new")) == "not there");
  }
}

TEST_CASE("--as-root keeps root (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  REQUIRE(as_if_by_sudo({"--as-root", "-q", "-r1", "-w0", "--export-csv", "out.csv", "--",
                         "sh -c 'id -u > log'"},
                        folder.path())
              .status == 0);
  CHECK(text_of(folder.file("log")) == "0\n");
  CHECK(owner_of(folder.file("out.csv")).starts_with("0:"));
}

TEST_CASE("under sudo, a program that only root may run is refused (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  std::filesystem::copy_file("/bin/true", folder.file("mine"));
  REQUIRE(chmod(folder.file("mine").c_str(), 0700) == 0);
  const Said said = as_if_by_sudo({"-r1", folder.file("mine")}, folder.path());
  CHECK(said.status == 1);
  CHECK(said.err_has("mine: Permission denied"));
}

TEST_CASE("under sudo, simulated runs belong to the user too, and leave no files (needs root)") {
  if (!is_root()) return;
  if (access("/usr/bin/valgrind", X_OK) != 0) {
    skip("valgrind is not installed (scripts/setup --ci brings it)");
    return;
  }
  const UsersFolder folder;
  const Said said = as_if_by_sudo({"-r1", "--engine", "cachegrind", "-n", "x", "--export-csv",
                                   "out.csv", "--", "sh -c 'id -u >> log'"},
                                  folder.path());
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(std::stod(csv_value(text_of(folder.file("out.csv")), "x", "instructions", "mean")) > 1000);
  for (const std::string& line : lines_of(text_of(folder.file("log")))) CHECK(line == "54321");
}

TEST_CASE("SUDO_UID and SUDO_GID must be a user's (needs root)") {
  if (!is_root()) return;
  Start start;
  start.arguments = {"-r1", "true"};
  start.environment = {{"SUDO_UID", "me"}, {"SUDO_GID", "5"}};
  const Said said = lauka(start);
  CHECK(said.status == 2);
  CHECK(said.err_has("SUDO_UID='me'"));
  CHECK(said.err_has("--as-root"));
}

TEST_CASE("without sudo no ids are changed") {
  const Folder folder;
  Start start;
  start.arguments = {"-q", "-r1", "-w0", "--", "sh -c 'id -u > " + folder.file("log") + "'"};
  start.environment = {{"SUDO_UID", ""}};
  completed(start);
  CHECK(text_of(folder.file("log")) == std::to_string(geteuid()) + "\n");
}

TEST_CASE("under sudo, a kpep database is read with the user's rights (needs root)") {
  if (!is_root()) return;
  const UsersFolder folder;
  const std::string file = folder.file("m2.plist");
  std::filesystem::copy_file(std::string(places::kRepository) + "/tests/data/kpep/m2.plist", file);
  REQUIRE(chmod(file.c_str(), 0644) == 0);
  CHECK(as_if_by_sudo({"--kpep", file, "-l"}, folder.path()).status == 0);
  REQUIRE(chmod(file.c_str(), 0600) == 0);
  const Said refused = as_if_by_sudo({"--kpep", file, "-l"}, folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.err_has("Permission denied"));
  CHECK(as_if_by_sudo({"--as-root", "--kpep", file, "-l"}, folder.path()).status == 0);
}

}  // namespace lauka::contract

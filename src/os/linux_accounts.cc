#include "core/numbers.h"
#include "core/text.h"
#include "os/descriptor.h"
#include "os/users.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// The program is linked statically, where the C library cannot ask the name services (LDAP, sssd);
// so getent and id are asked, which can, and the files where these are not there.

namespace lauka::os {
namespace {

/// What a program prints; empty where it cannot be run or fails. It gets no variable of ours.
std::string output_of(std::vector<std::string> words) {
  std::array ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string path = "PATH=/usr/bin:/bin";
  std::array<char*, 2> environment = {path.data(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  write_end = Descriptor();
  if (failed != 0) return "";
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = read(read_end.get(), bytes.data(), bytes.size());
    if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

/// The account in a line of passwd(5), if it is that user's.
std::optional<Account> account_in(const std::string& line, std::uint32_t user) {
  const auto fields = split(line, ':');
  if (fields.size() < 6 || fields[2] != std::to_string(user)) return std::nullopt;
  return Account{std::string(fields[0]), std::string(fields[5])};
}

std::optional<std::uint32_t> id_in(std::string_view text) {
  const auto id = parse_whole_number(text, 0, std::numeric_limits<std::uint32_t>::max() - 1);
  if (!id) return std::nullopt;
  return static_cast<std::uint32_t>(*id);
}

}  // namespace

std::optional<Account> account_of(std::uint32_t user) {
  std::string line = output_of({"/usr/bin/getent", "passwd", std::to_string(user)});
  line.erase(std::min(line.find('\n'), line.size()));
  if (auto account = account_in(line, user)) return account;
  std::ifstream file("/etc/passwd");
  while (std::getline(file, line)) {
    if (auto account = account_in(line, user)) return account;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> groups_of(const std::string& name) {
  std::vector<std::uint32_t> groups;
  std::istringstream printed(output_of({"/usr/bin/id", "-G", "--", name}));
  for (std::string word; printed >> word;) {
    if (const auto id = id_in(word)) groups.push_back(*id);
  }
  if (!groups.empty()) return groups;
  std::ifstream file("/etc/group");  // name:password:id:member,member
  for (std::string line; std::getline(file, line);) {
    const auto fields = split(line, ':');
    if (fields.size() < 4) continue;
    for (const std::string_view member : split(fields[3], ',')) {
      const auto id = member == name ? id_in(fields[2]) : std::nullopt;
      if (id) groups.push_back(*id);
    }
  }
  return groups;
}

}  // namespace lauka::os

#include "contract/program.h"

#include "core/text.h"
#include "os/linux_calls.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace lauka::contract {
namespace {

/// Removes variables of the test's own environment that would decide results.
void clean_environment() {
  for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
  setenv("TERM", "xterm-256color", 1);
  setenv("XDG_STATE_HOME", "/dev/null", 1);  // nothing can be remembered there
}

[[noreturn]] void become_lauka(const Start& start) {
  clean_environment();
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0) _exit(126);
  if (start.as_user != 0 && (setgid(start.as_user) != 0 || setuid(start.as_user) != 0)) _exit(126);
  std::vector<std::string> words = start.before;
  words.push_back(start.program);
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

int status_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Reads both to their ends, and interrupts the program's group once `interrupt_when` holds.
void read_all(std::array<pollfd, 2> fds, std::array<std::string*, 2> texts, const Start& start,
              pid_t pid) {
  constexpr int between_looks_ms = 5;
  auto to_interrupt = static_cast<bool>(start.interrupt_when);
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const int ready = poll(fds.data(), fds.size(), to_interrupt ? between_looks_ms : -1);
    if (to_interrupt && start.interrupt_when()) {
      kill(-pid, start.interrupt_signal);
      to_interrupt = false;
    }
    for (std::size_t i = 0; ready > 0 && i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 4096> bytes{};
      const ssize_t got = read(fds[i].fd, bytes.data(), bytes.size());
      if (got > 0) {
        texts[i]->append(bytes.data(), static_cast<std::size_t>(got));
      } else {
        fds[i].fd = -1;
      }
    }
  }
}

}  // namespace

Said lauka(std::vector<std::string> arguments) {
  Start start;
  start.arguments = std::move(arguments);
  return lauka(start);
}

Said lauka(const std::string& options, const std::vector<std::string>& commands) {
  return lauka(words(options, commands));
}

Said completed(std::vector<std::string> arguments) {
  return completed(Start{.arguments = std::move(arguments)});
}

Said completed(const Start& start) {
  Said said = lauka(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  REQUIRE(said.status == 0);
  return said;
}

Said completed(const std::string& options, const std::vector<std::string>& commands) {
  return completed(words(options, commands));
}

std::string refusal(std::vector<std::string> arguments) {
  Said said = lauka(std::move(arguments));
  CAPTURE(said.err);
  CHECK(said.status == 2);
  CHECK(said.out.empty());
  return std::move(said.err);
}

std::string refusal(const std::string& options, const std::vector<std::string>& commands) {
  return refusal(words(options, commands));
}

std::string failure(std::vector<std::string> arguments) {
  Said said = lauka(std::move(arguments));
  CAPTURE(said.err);
  CHECK(said.status == 1);
  return std::move(said.err);
}

std::string failure(const std::string& options, const std::vector<std::string>& commands) {
  return failure(words(options, commands));
}

std::vector<std::string> words(const std::string& options,
                               const std::vector<std::string>& commands) {
  auto split = split_words(options);
  if (!split) throw std::runtime_error(split.error().line());
  std::vector<std::string> all = *std::move(split);
  if (!commands.empty()) all.emplace_back("--");
  all.insert(all.end(), commands.begin(), commands.end());
  return all;
}

Said lauka(const Start& start) {
  std::array out = {-1, -1};
  std::array err = {-1, -1};
  if (pipe(out.data()) != 0 || pipe(err.data()) != 0) throw std::runtime_error("no pipes");
  for (const int fd : {out[0], out[1], err[0], err[1]}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (start.deaf_output) close(std::exchange(out[0], open("/dev/null", O_RDONLY | O_CLOEXEC)));
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(start.null_output ? null : out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    become_lauka(start);
  }
  setpgid(pid, pid);
  close(out[1]);
  close(err[1]);
  Said said;
  read_all({{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}}, {&said.out, &said.err}, start, pid);
  close(out[0]);
  close(err[0]);
  said.status = status_of(pid);
  return said;
}

Said lauka_in_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                       const std::vector<std::pair<std::string, std::string>>& environment) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    throw std::runtime_error("no terminal");
  const std::string name = ptsname(terminal);  // NOLINT(concurrency-mt-unsafe): one thread
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    const int slave = open(name.c_str(), O_RDWR);
    const winsize size{24, columns, 0, 0};
    ioctl(slave, TIOCSWINSZ, &size);
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) dup2(slave, fd);
    if (slave > STDERR_FILENO) close(slave);
    Start start;
    start.arguments = arguments;
    start.environment = environment;
    become_lauka(start);
  }
  Said said;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = read(terminal, bytes.data(), bytes.size());
    if (got > 0) said.out.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;  // EIO: the last one has closed it
  }
  said.status = status_of(pid);
  close(terminal);
  return said;
}

Said completed_in_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                           const std::vector<std::pair<std::string, std::string>>& environment) {
  Said said = lauka_in_terminal(arguments, columns, environment);
  CAPTURE(said.out);
  REQUIRE(said.status == 0);
  return said;
}

std::vector<std::string> with_echoes(std::vector<std::string> options, int of_old, int of_new) {
  options.insert(options.end(), {kScrape, "--", "echo " + std::to_string(of_old),
                                 "echo " + std::to_string(of_new)});
  return options;
}

std::string fixture(const std::string& name) {
  return std::string(places::kFixtures) + "/" + name;
}

std::string work(int units) {
  return fixture("work") + " " + std::to_string(units);
}

std::string blocks_at(int n, const Folder& folder) {
  return "sh -c 'echo run >> " + folder.file("log") + "; test $(wc -l < " + folder.file("log") +
         ") -lt " + std::to_string(n) + " || test -e " + folder.file("go") +
         " || exec sleep 600; sleep 0.02'";
}

void save(const std::string& file,
          const std::vector<std::pair<std::string, std::vector<double>>>& commands,
          const std::string& machine, const std::string& more) {
  using nlohmann::json;
  json document = {{"schema_version", 2}, {"results", json::array()}};
  for (const auto& [name, times] : commands) {
    json runs = json::array();
    for (std::size_t i = 0; i < times.size(); ++i)
      runs.push_back(
          {{"run", i + 1}, {"round", i + 1}, {"kind", "timed"}, {"wall_time", times[i]}});
    document["results"].push_back(
        {{"command", name},
         {"times", times},
         {"lauka",
          {{"metrics", {{"wall_time", {{"unit", "s"}, {"samples", times}}}}}, {"runs", runs}}}});
  }
  document["lauka"] = {{"format", 2},
                       {"version", "1.0"},
                       {"order", "random"},
                       {"stop", {{"runs", 10}}},
                       {"machine", {{"name", machine}}}};
  if (!more.empty()) document["lauka"].update(json::parse(more));
  std::ofstream(file) << document;
}

std::string data(const std::string& name) {
  return std::string(places::kRepository) + "/tests/data/" + name;
}

void run_as(unsigned user, const Folder& folder, Start& start) {
  namespace fs = std::filesystem;
  fs::permissions(folder.path(), fs::perms(0755));
  start.program = folder.file("lauka");
  fs::copy_file(places::kProgram, start.program);
  start.as_user = user;
}

bool is_linux() {
  if (os::linux_calls() != nullptr) return true;
  skip("this is not Linux");
  return false;
}

bool can_sample() {
  if (lauka({"--profile", "-q", "-r1", "-w0", "true"}).status == 0) return true;
  skip(
      "runs cannot be sampled: no perf_event, no rights, or lauka was built without elfutils or "
      "libiberty");
  return false;
}

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

std::string text_of(const std::string& path) {
  const std::ifstream file(path);
  if (!file) throw std::runtime_error("there is no " + path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

bool has_ended(const std::string& pid) {
  constexpr int looks = 3000;  // a minute
  for (int i = 0; i < looks; ++i) {
    if (!exists("/proc/" + pid + "/exe")) return true;  // a zombie has none
    usleep(20'000);
  }
  return false;
}

bool has_lines(const std::string& path, std::size_t lines) {
  return exists(path) && lines_of(text_of(path)).size() >= lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::string> column_of(const std::string& csv, const std::string& name) {
  const auto lines = lines_of(csv);
  const auto header = fields_of(lines.at(0));
  const auto at =
      static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  std::vector<std::string> values;
  for (std::size_t i = 1; i < lines.size(); ++i) values.push_back(fields_of(lines[i]).at(at));
  return values;
}

std::string csv_value(const std::string& csv, const std::string& command, const std::string& metric,
                      const std::string& column) {
  const auto lines = lines_of(csv);
  if (lines.empty()) throw std::runtime_error("an empty CSV");
  const auto header = fields_of(lines[0]);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = fields_of(lines[i]);
    if (fields.at(0) != command || fields.at(1) != metric) continue;
    for (std::size_t k = 0; k < header.size(); ++k) {
      if (header[k] == column) return fields.at(k);
    }
  }
  throw std::runtime_error("no " + column + " of " + metric + " of " + command);
}

}  // namespace lauka::contract

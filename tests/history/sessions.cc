#include "history/sessions.h"

#include "core/numbers.h"
#include "core/text.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::history {
namespace {

namespace fs = std::filesystem;

std::string quoted_word(const std::string& word) {
  return shell_quoted(std::vector<std::string>{word});
}

int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A port of this machine that has no listener.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound = bind(fd, any, size) == 0 && getsockname(fd, any, &size) == 0;
  close(fd);
  REQUIRE(is_bound);
  return ntohs(address.sin_port);
}

/// A PostgreSQL server of the test's own: on a socket in a folder of its own, open to all, and on
/// 127.0.0.1 with a password. The server refuses root, so root starts it as `nobody`.
class Server {
 public:
  Server() {
    std::error_code none;
    for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none)) {
      if (fs::exists(version.path() / "bin/postgres")) programs_ = version.path() / "bin";
    }
    if (programs_.empty()) return;
    if (geteuid() == 0) {
      as_ = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
      fs::permissions(folder_.path(), fs::perms::all);
    }
    is_there_ =
        shell(fmt::format("{}{}/initdb -D {}/data --auth-local=trust --auth-host=scram-sha-256 -U "
                          "lauka -E UTF8 --no-sync >/dev/null 2>&1",
                          as_, programs_, folder_.path())) == 0 &&
        shell(control("start -l " + folder_.path() + "/log")) == 0 &&
        shell(fmt::format("{}/psql -q {} -d postgres -c \"ALTER ROLE lauka PASSWORD '{}'\"",
                          programs_, there(), kPassword)) == 0;
    CHECK_MESSAGE(is_there_, "PostgreSQL does not start");
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    if (is_there_) shell(control("stop -m immediate"));
  }

  bool is_there() const { return is_there_; }
  bool is_installed() const { return !programs_.empty(); }

  std::string database() {
    const std::string name = fmt::format("test{}", ++databases_);
    REQUIRE(shell(fmt::format("{}/createdb {} {}", programs_, there(), name)) == 0);
    return name;
  }

  std::string address_of(const std::string& database) const {
    return fmt::format("postgresql://lauka@/{}?host={}&port={}", database, folder_.path(), port_);
  }
  int port() const { return port_; }

 private:
  std::string there() const { return fmt::format("-h {} -p {} -U lauka", folder_.path(), port_); }

  std::string control(const std::string& what) const {
    return fmt::format(
        "{}{}/pg_ctl -D {}/data -w -t 600 -o \"-k {} -p {} -c listen_addresses=127.0.0.1 -c "
        "fsync=off\" {} >/dev/null 2>&1",
        as_, programs_, folder_.path(), folder_.path(), port_, what);
  }

  Scratch folder_{};
  std::string programs_{};
  std::string as_{};
  int port_ = free_port();
  bool is_there_ = false;
  int databases_ = 0;
};

Server& server() {
  static Server the_one;
  return the_one;
}

}  // namespace

std::vector<std::string> databases(const Scratch& scratch) {
  std::vector<std::string> all = {scratch.file("history.db")};
  if (server().is_there())
    all.push_back(server().address_of(server().database()));
  else if (!server().is_installed())
    skip("there is no PostgreSQL server here");
  return all;
}

std::optional<Served> served_by_port() {
  if (server().is_there()) return Served{server().port(), server().database()};
  if (!server().is_installed()) skip("there is no PostgreSQL server here");
  return std::nullopt;
}

std::vector<double> times_of(double middle) {
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) times.push_back(middle * (1 + 0.01 * i + 0.001 * ((i * 7) % 5)));
  return times;
}

std::string json_of(const MadeSession& session) {
  using nlohmann::json;
  json results = json::array();
  for (const MadeCommand& command : session.commands) {
    json runs = json::array();
    double sum = 0.0;
    for (std::size_t i = 0; i < command.times.size(); ++i) {
      runs.push_back({{"run", i + 1}, {"round", i + 1}, {"kind", "timed"}});
      sum += command.times[i];
    }
    const json metrics = {{"wall_time",
                           {{"unit", "s"},
                            {"runs", command.times.size()},
                            {"mean", sum / static_cast<double>(command.times.size())},
                            {"stddev", 0.01},
                            {"samples", command.times}}}};
    json ours = {{"metrics", metrics}, {"runs", runs}};
    if (!command.benchmark.empty()) ours["benchmark"] = command.benchmark;
    if (!command.role.empty()) ours["role"] = command.role;
    results.push_back({{"command", command.name}, {"lauka", ours}});
  }
  const std::chrono::sys_seconds began{std::chrono::seconds(1'767'225'600 + 600 * session.number)};
  json document = {
      {"results", results},
      {"metadata", {{"start_time", rfc3339(began)}}},
      {"lauka",
       {{"format", 2},
        {"version", "1.0"},
        {"session_id", fmt::format("00000000-0000-4000-8000-{:012x}", session.number)},
        {"end_time", rfc3339(began + std::chrono::minutes(5))},
        {"order", "random"},
        {"reference", 0},
        {"labels", {{"commit", session.commit}, {"branch", "main"}, {"dirty", "no"}}},
        {"machine", {{"name", "host"}, {"system", "Linux"}, {"cpu_model", session.machine}}},
        {"metrics", {{{"name", "wall_time"}, {"unit", "s"}, {"better", "less"}}}}}}};
  if (!session.more.empty()) document["lauka"].update(json::parse(session.more));
  return document.dump();
}

Said history(const std::string& words, const std::string& before) {
  const Scratch scratch;
  Said said;
  said.status = shell(fmt::format("{} {}-history {} >{} 2>{} </dev/null", before,
                                  quoted_word(places::kProgram), words, scratch.file("out"),
                                  scratch.file("err")));
  said.out = text_of(scratch.file("out"));
  said.err = text_of(scratch.file("err"));
  return said;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace lauka::history

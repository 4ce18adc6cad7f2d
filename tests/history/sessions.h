#pragma once

#include "has.h"
#include "scratch.h"

#include <optional>
#include <string>
#include <vector>

namespace lauka::history {

/// A command of a test's session.
struct MadeCommand {
  std::string name{};
  std::vector<double> times{};  ///< wall times, of the rounds from 1 on
  std::string benchmark{};
  std::string role{};
};
struct MadeSession {
  int number = 0;  ///< gives it its identity, and a time ten minutes after the one before
  std::string commit = "abc";
  std::string machine = "CPU";
  std::vector<MadeCommand> commands{};
  std::string more{};  ///< JSON that replaces keys of "lauka"
};

/// The same as --export-json would have written it.
std::string json_of(const MadeSession& session);

/// Twelve times around `middle` that drift by a tenth, the same way every time.
std::vector<double> times_of(double middle);

/// New databases for a test: of SQLite, and of PostgreSQL if a server can be started; else the test
/// reports that it was skipped.
std::vector<std::string> databases(const Scratch& scratch);

/// A new database of a server on 127.0.0.1 that wants the password of its user "lauka"; nullopt:
/// the test reports that it was skipped.
struct Served {
  int port = 0;
  std::string database{};
};
inline constexpr const char* kPassword = "s3cret:@/?%";
std::optional<Served> served_by_port();

/// The output and the end of the built lauka-history; `words` as a shell takes them.
struct Said {
  std::string out{};
  std::string err{};
  int status = 0;
};
Said history(const std::string& words, const std::string& before = "");

/// The number of lines of a text.
std::size_t lines_in(const std::string& text);

void write(const std::string& path, const std::string& text);
std::string text_of(const std::string& path);

}  // namespace lauka::history

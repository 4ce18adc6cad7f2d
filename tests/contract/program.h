#pragma once

#include "has.h"
#include "places.h"
#include "scratch.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::contract {

using Folder = Scratch;

/// The output and exit status of the built program.
struct Said {
  std::string out;
  std::string err;
  int status = 0;  ///< exit status, or 128 + signal

  bool out_has(const std::string& text) const { return out.find(text) != std::string::npos; }
  bool err_has(const std::string& text) const { return err.find(text) != std::string::npos; }
};

/// The way to start the program.
struct Start {
  std::vector<std::string> before{};  ///< a program that starts lauka, with its arguments
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set besides the test's own
  std::string folder{};                                            ///< to start in
  std::function<bool()> interrupt_when{};  ///< `interrupt_signal` goes to its group once this holds
  int interrupt_signal = 2;
  unsigned as_user = 0;  ///< 0: the test's own user
  std::string program{places::kProgram};
  bool null_output = false;  ///< standard output goes to /dev/null
  bool deaf_output = false;  ///< standard output is a pipe without a reader
};

/// Runs the built lauka with its output captured through pipes.
Said lauka(std::vector<std::string> arguments);
Said lauka(const Start& start);

/// The same with options as a shell takes them, and commands after them.
Said lauka(const std::string& options, const std::vector<std::string>& commands);

/// The same, which must end with status 0.
Said completed(std::vector<std::string> arguments);
Said completed(const Start& start);
Said completed(const std::string& options, const std::vector<std::string>& commands);

/// The error output of a call that must be refused, with status 2 and without a word on standard
/// output.
std::string refusal(std::vector<std::string> arguments);
std::string refusal(const std::string& options, const std::vector<std::string>& commands);

/// The error output of a call that must fail, with status 1.
std::string failure(std::vector<std::string> arguments);
std::string failure(const std::string& options, const std::vector<std::string>& commands);

/// Options as a shell takes them, and commands after them.
std::vector<std::string> words(const std::string& options,
                               const std::vector<std::string>& commands = {});

/// The same in a terminal `columns` wide: `out` is all of its output, standard error included.
Said lauka_in_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                       const std::vector<std::pair<std::string, std::string>>& environment = {});

/// The same, which must end with status 0.
Said completed_in_terminal(
    const std::vector<std::string>& arguments, unsigned short columns,
    const std::vector<std::pair<std::string, std::string>>& environment = {});

/// Path of a program of bench_fixtures.
std::string fixture(const std::string& name);

/// The fixture `work`, with so many units to do.
std::string work(int units);

/// Option that makes a metric v of the first number that a command prints, such as `echo 50`: what
/// is said of it is the same on any machine, however fast and busy.
inline const std::string kScrape = "--scrape=v=([0-9.]+)";

/// Options with kScrape, and two commands that print these numbers.
std::vector<std::string> with_echoes(std::vector<std::string> options, int of_old, int of_new);

/// A command whose runs enter a line each into the file `log` of `folder`. From the `n`th on they
/// do not end, unless there is a file `go`. A run takes long enough to be launched and kept singly.
std::string blocks_at(int n, const Folder& folder);

/// A session of lauka in `file` with these wall times, in the rounds from 1 on. `more` is JSON that
/// is added to its own part.
void save(const std::string& file,
          const std::vector<std::pair<std::string, std::vector<double>>>& commands,
          const std::string& machine = "here", const std::string& more = "");

/// Path of a file of tests/data.
std::string data(const std::string& name);

/// Has another user run a copy of the program in `folder`, which is opened to that user: the
/// checkout may be where that user cannot go.
void run_as(unsigned user, const Folder& folder, Start& start);

/// True on Linux; elsewhere the test case is skipped.
bool is_linux();

/// True if lauka can sample a run; elsewhere the test case is skipped.
bool can_sample();

/// True if there is a file; an empty one may come from `touch`.
bool exists(const std::string& path);

/// Reads a file, which must exist.
std::string text_of(const std::string& path);

/// True if a process that lauka has killed is gone, for which this waits: a busy machine takes
/// time.
bool has_ended(const std::string& pid);

/// True if there is a file of so many lines; what is still written has as many as it has now.
bool has_lines(const std::string& path, std::size_t lines);

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

/// The fields of a CSV line without quoted fields.
std::vector<std::string> fields_of(const std::string& line);

/// The column `name` of a --export-runs text, in the order run.
std::vector<std::string> column_of(const std::string& csv, const std::string& name);

/// One value of a --export-csv text: of the row of that command and metric.
std::string csv_value(const std::string& csv, const std::string& command, const std::string& metric,
                      const std::string& column);

}  // namespace lauka::contract

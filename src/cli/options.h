#pragma once

#include "core/condition.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lauka {

enum class Order : unsigned char { Interleaved, Random, Sequential };
enum class EngineChoice : unsigned char { Auto, Perf, Cachegrind, None };
enum class MetricSelection : unsigned char { Default, Time, All };
enum class ColorChoice : unsigned char { Auto, Always, Never };
enum class Verbosity : unsigned char { Quiet, Normal, Verbose };

/// Where standard input of the commands comes from.
struct InputNull {};
struct InputFile {
  std::string path;
};
using InputChoice = std::variant<InputNull, InputFile>;

/// Where standard output and error of the commands go.
enum class OutputKind : unsigned char { Null, Pipe, Inherit, File };
struct OutputChoice {
  OutputKind kind = OutputKind::Null;
  std::string path{};  ///< of a file only
};

/// A shell that runs each command with -c.
struct Shell {
  std::vector<std::string> words;  ///< the shell and its own arguments
};

/// Which failing runs do not end the benchmark.
struct IgnoreFailure {
  bool any = false;
  std::vector<int> statuses{};  ///< where not any
};

/// Questions that are answered without running a command.
struct ShowHelp {};
struct ShowVersion {};
struct ListEvents {
  std::string filter;  ///< may be empty
};
using Inquiry = std::variant<ShowHelp, ShowVersion, ListEvents>;

/// The command line as typed: syntax and ranges are checked, nothing is decided.
struct Options {
  std::optional<Inquiry> inquiry;

  std::vector<std::string> commands;  ///< as typed, the reference first
  std::vector<std::string> names;     ///< of commands, not more than these; an empty one is none

  std::optional<std::uint64_t> runs;
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs;  ///< not below min_runs
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  std::uint64_t warmup = 1;
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  std::optional<std::chrono::nanoseconds> timeout;

  std::optional<Shell> shell;
  std::optional<IgnoreFailure> ignore_failure;
  InputChoice input;
  OutputChoice output;

  MetricSelection metrics = MetricSelection::Default;
  std::vector<std::string>
      events;  ///< of -e, in order, without duplicates; empty: the default events
  EngineChoice engine = EngineChoice::Auto;
  bool user_only = false;
  bool single_pass = false;

  std::vector<Condition> gates;
  bool fail_if_inconclusive = false;
  double confidence = 0.95;         ///< a fraction, 0.5 or more and below 1
  std::optional<double> precision;  ///< a fraction above 0; not with `runs`
  std::optional<std::string> baseline;  ///< a file to take the references from

  std::optional<std::string> export_csv;   ///< "-" is standard output
  std::optional<std::string> export_runs;  ///< "-" is standard output
  std::optional<std::string> export_json;  ///< "-" is standard output
  ColorChoice color = ColorChoice::Auto;
  Verbosity verbosity = Verbosity::Normal;
  bool progress = true;
};

}  // namespace lauka

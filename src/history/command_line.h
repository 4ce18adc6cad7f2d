#pragma once

#include "core/result.h"
#include "history/store.h"
#include "history/trend.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::history {

/// The command of lauka-history that was typed.
enum class Action : unsigned char {
  Say,  ///< print the answer of --help or --version
  Add,
  List,
  Show,
  Steps,
  Check,
  Acknowledge,
  Combine,
  Page,
  Export,
  Forget,
};

/// The parsed command line.
struct Request {
  Action action = Action::Say;
  std::string answer{};  ///< text for Say
  std::string database = "lauka-history.db";
  std::vector<std::string>
      words{};  ///< files, a benchmark, step, session or format, depending on `action`
  Wanted wanted{};
  Against against = Against::Usual;
  ForgetRequest forgotten{};
  bool benchmarks = false;  ///< true: list benchmarks; false: list sessions
  std::string note{};
  std::string
      commit_url{};  ///< web address of a commit, with {} for the commit's hash; empty: no links
  std::string title{};
  std::string output = "-";
  std::optional<double> fail_if_worse{};  ///< limit in percent; nullopt: no check
  bool each_machine = false;
};

/// Parses the command line. The error is one line.
Result<Request> parse(std::span<const std::string> arguments);

}  // namespace lauka::history

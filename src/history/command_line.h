#pragma once

#include "core/result.h"
#include "history/store.h"
#include "history/trend.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::history {

enum class Action : unsigned char {
  Say,  ///< answers of --help and --version
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
  std::string answer{};  ///< text of Say
  std::string database = "lauka-history.db";
  std::vector<std::string> words{};  ///< files, a benchmark, a step: depends on the action
  Wanted wanted{};
  Against against = Against::Usual;
  Forgotten forgotten{};
  bool benchmarks = false;  ///< list these, not sessions
  std::string note{};
  std::string commit_url{};  ///< address of a commit, with {} for its hash
  std::string title{};
  std::string output = "-";
  std::optional<double> fail_if_worse{};  ///< percent
  bool each_machine = false;
};

/// Parses the command line. An error is one line about it.
Result<Request> parse(std::span<const std::string> arguments);

}  // namespace lauka::history

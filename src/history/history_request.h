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
  PrintAnswer,  ///< prints Request::answer
  Add,
  List,
  Show,
  Steps,
  Check,
  Acknowledge,
  Combine,
  Diff,
  Page,
  Export,
  Forget,
};

struct Request {
  Action action = Action::PrintAnswer;
  std::string answer{};
  std::string database = "lauka-history.db";
  std::vector<std::string> command_arguments{};
  SeriesSelection series_selection{};
  ComparedWith compared_with = ComparedWith::AnchorIfPresent;
  ForgetRequest forget_request{};
  bool lists_benchmarks = false;  ///< true: list benchmarks; false: list sessions
  std::string note{};
  std::string commit_url{};  ///< web address of a commit, with {} for the commit; empty: no links
  std::string title{};
  std::string output = "-";
  std::optional<double> worse_limit_percent{};  ///< nullopt without --fail-if-worse
  bool judges_each_machine = false;
};

/// Parses the command line of lauka-history.
Result<Request> parse(std::span<const std::string> arguments);

}  // namespace lauka::history

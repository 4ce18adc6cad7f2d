#pragma once

#include "core/command.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/precision.h"
#include "core/record.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "results/warning.h"
#include "stats/delta.h"
#include "stats/summary.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// One metric of one command.
struct MetricResult {
  std::size_t metric = 0;  ///< index into Results::metrics
  std::size_t runs = 0;    ///< behind the row; differs from the command's where there are passes
  std::optional<stats::Summary>
      summary{};             ///< none: no run has a value, or the values are bounds only
  bool is_doubtful = false;  ///< 0 in every run, and most likely not counted; without a summary
  std::optional<double> at_most{};      ///< every run's value is at most this, and none is known
  std::optional<stats::Delta> delta{};  ///< none: the reference, or nothing to compare
};

/// One command's part of the results.
struct CommandResult {
  std::string name;
  std::string text;
  std::size_t runs = 0;                 ///< counted runs
  std::size_t failed_runs = 0;          ///< counted runs that failed, under --ignore-failure
  std::size_t redone_runs = 0;          ///< run again and not counted
  std::optional<double> coverage{};     ///< median of RunRecord::coverage; none: not known
  std::vector<MetricResult> rows;       ///< one per metric, in the order of Results::metrics
  std::vector<Parameter> parameters{};  ///< what it was made with
  std::size_t typed = 0;                ///< index of the command typed that it was made from
  std::string pattern{};                ///< that one's name, with the variables' own names in it
};

/// The count of an event.
struct NamedCount {
  std::string event;
  std::uint64_t count = 0;
};

/// One counted run, in the order run: what --export-runs writes.
struct RunRow {
  std::size_t command = 0;
  std::size_t round = 0;
  std::size_t pass = 0;
  int status = 0;                             ///< exit status, or 128 + signal
  std::vector<std::optional<double>> values;  ///< one per metric; none: not measured in this run
  bool simulated = false;            ///< it has counts only, and is none of the command's runs
  std::optional<double> coverage{};  ///< as RunRecord's
  std::vector<NamedCount> own{};     ///< of the command's own process, where its descendants have a
                                     ///< part in the values
};

/// How a comparison of wall times reads in one line.
struct Ranking {
  std::size_t command = 0;
  double ratio = 1.0;  ///< reference's mean / this one's, 1 or more: `faster` says which way
  std::optional<double> half_width{};  ///< of the ratio's interval
  bool faster = true;                  ///< than the reference
  bool significant = false;            ///< as the delta of wall_time that it is made from
};

/// A run that was run again: told, and in no statistics.
struct RedoneRow {
  RunRow run;
  std::string why;
};

/// Where and when the numbers were taken, and by what.
struct Circumstances {
  std::string version{};  ///< of lauka
  std::chrono::sys_seconds began{};
  Machine machine{};
};

/// What repeats the session: the same seed gives the same order of runs.
struct Setting {
  Order order = Order::Random;
  std::uint64_t seed = 0;
  std::uint64_t warmup = 0;  ///< uncounted runs of each command
  EventSet events{};         ///< and the passes they were counted in
};

/// The earlier results that the commands are compared with.
struct BaselineReference {
  std::string file;                  ///< as typed
  std::vector<std::string> names{};  ///< of the command there that each command is compared with
  bool by_lauka = true;              ///< else by hyperfine, which tells no more
  std::string version{};             ///< of lauka
  Machine machine{};
};

/// All that reports and exports are made from.
struct Results {
  std::vector<Metric> metrics;
  std::vector<CommandResult> commands;  ///< the reference first; with a baseline all are candidates
  std::vector<Ranking> rankings;        ///< one per candidate that can be compared
  std::vector<gate::Verdict> verdicts;
  std::optional<Precision> precision{};  ///< where --precision was asked for
  std::vector<RunRow> runs;              ///< with Detail::Runs only
  std::vector<RedoneRow> redone{};       ///< likewise
  double confidence = 0.95;
  bool paired = true;              ///< deltas were taken within rounds
  std::vector<Warning> warnings;   ///< in the order of Finding's kinds, then of the commands
  std::vector<std::string> notes;  ///< one line each: what was left out, and why
  std::optional<BaselineReference> baseline{};  ///< where it supplied the references
  Setting setting{};
  Circumstances circumstances{};
  bool complete = true;                    ///< false: the session was cut short
  std::vector<std::string> shell{};        ///< argv of the shell, without -c; empty: none
  std::vector<ShellOverhead> overheads{};  ///< one per command, subtracted from its times
};

}  // namespace lauka

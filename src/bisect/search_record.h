#pragma once

#include "bisect/git.h"
#include "bisect/rules.h"
#include "core/metric.h"
#include "stats/delta.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a search has done and found. The log keeps it for the next call, and the exports show it.

namespace lauka::bisect {

/// A change of the metric from one commit to another, as measured in one session.
struct MeasuredChange {
  std::size_t rounds = 0;
  stats::Change change{};  ///< as a fraction of the first commit
  /// Smallest increase, as a fraction, that four of five such sessions would have found. nullopt if
  /// unknown, and if a decision of gates ended the session.
  std::optional<double> detectable{};
};

struct StepRecord {
  Commit commit{};
  StepAnswer answer = StepAnswer::Undecided;
  std::string reason{};  ///< why the commit could not be tested; empty if it was measured
  /// The step asked whether the change from the good end is beyond this, as a fraction.
  double limit = 0.0;
  std::optional<MeasuredChange> change{};  ///< from the good end; nullopt if it was not measured
};

enum class SearchAnswer : unsigned char { NoChange, Commit, Range };

/// A function whose values certainly changed between the named commit and its parent.
struct FunctionRecord {
  std::string name{};
  double parent_mean = 0.0;
  double commit_mean = 0.0;
};

/// A search between two commits.
struct SearchRecord {
  Commit good{};
  Commit bad{};
  std::size_t commit_count = 0;          ///< commits after `good`, up to `bad`
  std::optional<MeasuredChange> ends{};  ///< from `good` to `bad`; nullopt if not measured yet
  std::vector<StepRecord> steps{};
  std::optional<SearchAnswer> answer{};  ///< nullopt: the search has not ended

  /// Commits of which one made the change, the oldest first: a single one for the answer Commit.
  std::vector<Commit> suspects{};
  /// Parent with which the only suspect was compared; nullopt if it was not.
  std::optional<Commit> parent{};
  std::optional<MeasuredChange> from_parent{};
  std::string doubt{};         ///< why the only suspect is not named with certainty; empty if it is
  std::string functions_of{};  ///< metric of `functions`; empty if it was not counted by function
  Unit functions_unit = Unit::Count;
  std::vector<FunctionRecord> functions{};  ///< the largest difference first

  /// The commit that made the change; null for other answers.
  const Commit* culprit() const {
    return answer == SearchAnswer::Commit ? &suspects.front() : nullptr;
  }
  /// Returns the share of the change of both ends that the named commit explains; nullopt if
  /// unknown.
  std::optional<double> share_explained() const;
};

/// A whole call: one search or, with --all, one or more.
struct BisectRecord {
  std::string version{};
  std::string metric{};
  double confidence = 0.0;  ///< as a fraction
  std::string build{};      ///< command of --build; empty without
  std::string command{};
  bool follows_first_parents = true;
  bool is_complete =
      true;  ///< false if the call ended before its answer; `searches` lacks the rest
  std::vector<SearchRecord> searches{};
};

/// Returns the change of both ends as the rules need it.
EndsChange to_ends(const stats::Change& change);

/// Returns a step as the rules need it. `commit`: its index.
StepResult to_result(const StepRecord& step, std::size_t commit, const EndsChange& ends);

// Entries of the log: each returns one line, and is read again by the function of its name.
std::string to_entry(const MeasuredChange& change);
std::string to_entry(const StepRecord& step);
std::string to_entry(const SearchRecord& search);
std::optional<MeasuredChange> parse_change(std::string_view entry);
std::optional<StepRecord> parse_step(std::string_view entry);
std::optional<SearchRecord> parse_search(std::string_view entry);

/// Returns --export-json (docs/bisect.schema.json).
std::string to_json(const BisectRecord& record);

}  // namespace lauka::bisect

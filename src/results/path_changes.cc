#include "results/path_changes.h"

#include "core/call_paths.h"
#include "core/function_table.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace lauka {

namespace {

const PathTable* paths_of(const FunctionSide& side) {
  return side.table == nullptr || side.table->paths.rounds() != side.rounds ? nullptr
                                                                            : &side.table->paths;
}

bool has_paths(const FunctionSide& side) {
  const PathTable* paths = paths_of(side);
  return paths != nullptr && !paths->empty();
}

std::set<std::string_view> list_programs(const FunctionSide& side) {
  std::set<std::string_view> programs;
  const PathTable* paths = paths_of(side);
  for (std::size_t path = 0; paths != nullptr && path < paths->size(); ++path)
    if (paths->caller_of(path) == kNoCaller) programs.insert(paths->name_of(path));
  return programs;
}

enum class Side : unsigned char { Reference, Candidate };

/// Numbers the frames of paths of two sides, so that frames that are paired have the same number.
class PairedFrames {
 public:
  PairedFrames(const FunctionSide& reference, const FunctionSide& candidate,
               std::span<const PairedFunction> functions)
      : functions_(functions) {
    const std::vector<FunctionToPair> rows_before = reference.list_rows();
    const std::vector<FunctionToPair> rows_after = candidate.list_rows();
    for (std::size_t i = 0; i < functions.size(); ++i) {
      for (const std::size_t row : functions[i].reference_rows)
        reference_.emplace(rows_before[row].name, i);
      for (const std::size_t row : functions[i].candidate_rows)
        candidate_.emplace(rows_after[row].name, i);
    }
    pair_programs(list_programs(reference), list_programs(candidate));
  }

  /// Returns the number of the last frame of a path.
  std::size_t find(const PathTable& paths, std::size_t path, Side side) {
    const std::string& name = paths.name_of(path);
    if (paths.caller_of(path) == kNoCaller) {
      const bool is_renamed = side == Side::Reference && name == renamed_.first;
      return number_of("program " + (is_renamed ? renamed_.second : name));
    }

    const auto& rows = side == Side::Candidate ? candidate_ : reference_;
    const auto known = rows.find(name);
    return known != rows.end() ? known->second : number_of("frame " + name);
  }

  std::string name_of(std::size_t frame) const {
    if (frame < functions_.size()) return functions_[frame].name;
    const std::string& name = others_[frame - functions_.size()];
    return name.substr(name.find(' ') + 1);
  }

  bool is_function(std::size_t frame) const { return frame < functions_.size(); }
  std::size_t function_count() const { return functions_.size(); }

 private:
  void pair_programs(std::set<std::string_view> before, std::set<std::string_view> after) {
    for (const std::string_view program : std::set<std::string_view>(before))
      if (after.erase(program) > 0) before.erase(program);
    if (before.size() != 1 || after.size() != 1) return;
    renamed_.first = *before.begin();
    renamed_.second = *after.begin();
  }

  std::size_t number_of(const std::string& name) {
    const auto [place, is_new] = numbers_.try_emplace(name, functions_.size() + others_.size());
    if (is_new) others_.push_back(name);
    return place->second;
  }

  std::span<const PairedFunction> functions_;
  std::map<std::string, std::size_t, std::less<>> reference_;
  std::map<std::string, std::size_t, std::less<>> candidate_;
  std::pair<std::string, std::string> renamed_;  // a program in the reference, and in the candidate
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> others_;
};

/// The times of the joined paths of one side.
class SidePaths {
 public:
  /// Adds the side's paths to `joined`.
  SidePaths(const FunctionSide& side, Side which, PairedFrames& frames, PathTree& joined)
      : side_(side), paths_(paths_of(side)), joined_(joined) {
    for (std::size_t path = 0; paths_ != nullptr && path < paths_->size(); ++path) {
      const std::uint32_t caller = paths_->caller_of(path);
      places_.push_back(joined.add(
          {caller == kNoCaller ? kNoCaller : places_[caller], frames.find(*paths_, path, which)}));
    }
  }

  const FunctionSide& side() const { return side_; }

  /// Calls take(round, own, totals) for each round, with the times of each joined path.
  template <typename Take>
  void for_each_round(const Take& take) const {
    for (std::size_t round = 0; round < side_.rounds; ++round) {
      std::vector<double> own(joined_.size());
      for (std::size_t path = 0; path < places_.size(); ++path)
        own[places_[path]] += value_in(paths_->values_of(path), round);

      std::vector<double> totals = own;
      for (std::size_t path = totals.size(); path-- > 0;)
        if (joined_[path].caller != kNoCaller) totals[joined_[path].caller] += totals[path];
      take(round, own, totals);
    }
  }

 private:
  const FunctionSide& side_;
  const PathTable* paths_;
  const PathTree& joined_;
  std::vector<std::uint32_t> places_;  // of each path in `joined`
};

struct PathMeans {
  std::vector<double> own{};
  std::vector<double> totals{};
};

/// What one side's rounds add up to.
struct SumsOfRounds {
  PathMeans means{};                             ///< of all joined paths
  std::vector<RoundValues> totals_of_functions;  ///< by index in the paired functions
};

/// Returns the total of each function in a round: the time of its calls. The time of a recursive
/// call is already part of the outermost call's.
std::vector<double> add_up_functions(const std::vector<double>& path_totals,
                                     const std::vector<bool>& are_outermost_calls,
                                     const PairedFrames& frames, const PathTree& joined) {
  std::vector<double> totals(frames.function_count());
  for (std::size_t path = 0; path < joined.size(); ++path)
    if (are_outermost_calls[path] && frames.is_function(joined[path].frame))
      totals[joined[path].frame] += path_totals[path];
  return totals;
}

/// Sums up the sampled times of one side. Returns the means of each call path over the rounds: of
/// its own time, and of its total with what it called. Also returns the total of each function in
/// each round. A function may be at the end of many paths.
SumsOfRounds sum_up_rounds(const SidePaths& paths_of_one_side, const PairedFrames& frames,
                           const PathTree& joined) {
  const std::vector<bool> are_outermost_calls = find_outermost_calls(joined);
  const auto round_count = static_cast<double>(paths_of_one_side.side().rounds);

  SumsOfRounds sums{.totals_of_functions = std::vector<RoundValues>(frames.function_count())};
  PathMeans& means = sums.means;
  means.own.resize(joined.size());
  means.totals.resize(joined.size());

  paths_of_one_side.for_each_round([&](std::size_t round, const std::vector<double>& own_of_paths,
                                       const std::vector<double>& totals_of_paths) {
    for (std::size_t path = 0; path < joined.size(); ++path) {
      means.own[path] += own_of_paths[path] / round_count;
      means.totals[path] += totals_of_paths[path] / round_count;
    }

    const std::vector<double> totals_of_functions =
        add_up_functions(totals_of_paths, are_outermost_calls, frames, joined);
    for (std::size_t i = 0; i < totals_of_functions.size(); ++i)
      append_round(sums.totals_of_functions[i], round, totals_of_functions[i]);
  });

  return sums;
}

/// The values of the tested paths of one side, by the index of the path among them.
struct TestedValues {
  std::vector<RoundValues> own{};
  std::vector<RoundValues> totals{};
};

TestedValues list_values(const SidePaths& side, std::span<const std::size_t> tested) {
  TestedValues values{std::vector<RoundValues>(tested.size()),
                      std::vector<RoundValues>(tested.size())};
  side.for_each_round(
      [&](std::size_t round, const std::vector<double>& own, const std::vector<double>& totals) {
        for (std::size_t i = 0; i < tested.size(); ++i) {
          append_round(values.own[i], round, own[tested[i]]);
          append_round(values.totals[i], round, totals[tested[i]]);
        }
      });
  return values;
}

/// The paths below each path, by index, the longest time first.
struct SortedCalls {
  std::vector<std::uint32_t> roots{};  ///< paths without a caller
  std::vector<std::vector<std::uint32_t>> calls_of{};
};

SortedCalls sort_calls(const std::vector<PathChange>& paths) {
  SortedCalls sorted{.calls_of = std::vector<std::vector<std::uint32_t>>(paths.size())};
  for (std::uint32_t path = 0; path < paths.size(); ++path) {
    const std::uint32_t caller = paths[path].caller;
    (caller == kNoCaller ? sorted.roots : sorted.calls_of[caller]).push_back(path);
  }

  const auto time_of_slower_side = [&](std::uint32_t path) {
    return std::max(paths[path].reference_mean, paths[path].candidate_mean);
  };
  std::ranges::stable_sort(sorted.roots, std::greater<>(), time_of_slower_side);
  for (std::vector<std::uint32_t>& calls : sorted.calls_of)
    std::ranges::stable_sort(calls, std::greater<>(), time_of_slower_side);
  return sorted;
}

/// Returns the paths as a tree is printed, depth first: each path is followed by those of its
/// calls. The calls of one caller are sorted by their time, the longest first.
std::vector<PathChange> sort_paths(const std::vector<PathChange>& paths) {
  const auto [roots, calls_of] = sort_calls(paths);

  std::vector<PathChange> sorted;
  sorted.reserve(paths.size());
  std::vector<std::uint32_t> new_indices(paths.size());

  // The paths to visit are a stack with the next path at its end, so calls are put there in reverse
  // order.
  std::vector<std::uint32_t> to_visit(roots.rbegin(), roots.rend());
  while (!to_visit.empty()) {
    const std::uint32_t path = to_visit.back();
    to_visit.pop_back();
    to_visit.insert(to_visit.end(), calls_of[path].rbegin(), calls_of[path].rend());

    // A caller is visited before its calls, so its new index is known.
    PathChange change = paths[path];
    if (change.caller != kNoCaller) change.caller = new_indices[change.caller];
    new_indices[path] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(change));
  }
  return sorted;
}

/// Returns the paths with at least kMinTestedPathShare of the time of both sides.
std::vector<std::size_t> choose_tested(const std::vector<PathChange>& paths) {
  const auto time_of = [](const PathChange& path) {
    return path.reference_mean + path.candidate_mean;
  };
  double whole = 0.0;
  for (const PathChange& path : paths)
    if (path.caller == kNoCaller) whole += time_of(path);

  std::vector<std::size_t> tested;
  for (std::size_t path = 0; path < paths.size(); ++path)
    if (time_of(paths[path]) >= kMinTestedPathShare * whole && whole > 0.0) tested.push_back(path);
  return tested;
}

/// The tests of the tested paths, by the index of the path among them. A path has two times: its
/// own, and its total with what its last function called. Each is tested.
struct PathTests {
  std::vector<DifferenceTest> own{};
  std::vector<DifferenceTest> totals{};
};

PathTests test_paths(const SidePaths& reference, const SidePaths& candidate,
                     std::span<const std::size_t> tested, double confidence) {
  const TestedValues before = list_values(reference, tested);
  const TestedValues after = list_values(candidate, tested);

  PathTests tests;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tests.own.push_back(test_difference({reference.side(), before.own[i]},
                                        {candidate.side(), after.own[i]}, confidence));
    tests.totals.push_back(test_difference({reference.side(), before.totals[i]},
                                           {candidate.side(), after.totals[i]}, confidence));
  }
  return tests;
}

/// Marks the call paths whose times differ significantly between the sides.
void mark_significant_paths(const SidePaths& reference, const SidePaths& candidate,
                            double confidence, std::vector<PathChange>& paths) {
  const std::vector<std::size_t> tested_paths = choose_tested(paths);
  const PathTests tests = test_paths(reference, candidate, tested_paths, confidence);
  const std::vector<bool> own_differ = find_significant(tests.own, confidence);
  const std::vector<bool> totals_differ = find_significant(tests.totals, confidence);

  // If the callers of many samples are unknown, their time is in the wrong paths. Then a difference
  // may come from how many callers were found on each side, and none is significant.
  const bool are_callers_known =
      !lacks_callers(reference.side()) && !lacks_callers(candidate.side());
  for (std::size_t i = 0; i < tested_paths.size(); ++i) {
    PathChange& path = paths[tested_paths[i]];
    path.half_width = tests.totals[i].half_width;
    path.is_certain = are_callers_known && totals_differ[i] && path.difference() != 0.0;
    path.is_own_certain = are_callers_known && own_differ[i] && path.own_difference() != 0.0;
  }
}

/// Returns the totals of each function on both sides.
std::vector<FunctionTotals> pair_totals(std::vector<RoundValues> reference,
                                        std::vector<RoundValues> candidate) {
  std::vector<FunctionTotals> totals;
  totals.reserve(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i)
    totals.push_back({.reference = std::move(reference[i]), .candidate = std::move(candidate[i])});
  return totals;
}

/// Returns the joined paths in their order in the tree, with their times on both sides, but without
/// tests.
std::vector<PathChange> make_path_changes(const PathTree& joined, const PairedFrames& frames,
                                          const PathMeans& reference, const PathMeans& candidate) {
  std::vector<PathChange> paths;
  paths.reserve(joined.size());
  for (std::size_t path = 0; path < joined.size(); ++path)
    paths.push_back({.name = frames.name_of(joined[path].frame),
                     .caller = joined[path].caller,
                     .reference_mean = reference.totals[path],
                     .candidate_mean = candidate.totals[path],
                     .reference_own = reference.own[path],
                     .candidate_own = candidate.own[path]});
  return paths;
}

}  // namespace

// Compares the call paths of two sides. Returns nothing if a side has none.
JoinedPaths join_paths(const FunctionSide& reference, const FunctionSide& candidate,
                       std::span<const PairedFunction> functions, double confidence) {
  // Without a comparison, there is no reference, and the candidate's paths are only listed.
  const bool has_reference = reference.table != nullptr;
  if (has_reference && !has_paths(reference)) return {};
  if (!has_paths(candidate)) return {};

  // Both sides' paths become one tree: paths through paired functions are the same path, even if
  // the functions have other names. Each constructor adds the paths that the tree still lacks.
  PairedFrames frames(reference, candidate, functions);
  PathTree joined;
  const SidePaths paths_before(reference, Side::Reference, frames, joined);
  const SidePaths paths_after(candidate, Side::Candidate, frames, joined);

  SumsOfRounds sums_before = sum_up_rounds(paths_before, frames, joined);
  SumsOfRounds sums_after = sum_up_rounds(paths_after, frames, joined);

  // The tests need the paths in the order of the joined tree, so they are sorted only afterwards.
  std::vector<PathChange> changes =
      make_path_changes(joined, frames, sums_before.means, sums_after.means);
  mark_significant_paths(paths_before, paths_after, confidence, changes);

  return {.paths = sort_paths(changes),
          .totals = pair_totals(std::move(sums_before.totals_of_functions),
                                std::move(sums_after.totals_of_functions))};
}

std::optional<MetricByFunction> compare_paths(const Results& results, std::size_t candidate) {
  for (const std::size_t metric : function_metrics(results))
    if (auto changes = compare_sides(results, metric, candidate);
        changes && !changes->paths.empty())
      return changes;
  return std::nullopt;
}

std::optional<MetricByFunction> list_paths(const Results& results, std::size_t command) {
  for (const std::size_t metric : function_metrics(results))
    if (auto listed = list_functions(results, metric, command); listed && !listed->paths.empty())
      return listed;
  return std::nullopt;
}

std::optional<MetricByFunction> show_paths(const Results& results, std::size_t command) {
  return results.session.reference.is_candidate(command) ? compare_paths(results, command)
                                                         : list_paths(results, command);
}

}  // namespace lauka

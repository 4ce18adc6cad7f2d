#pragma once

#include "core/round_values.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lauka {

/// The caller of a path that has none: its only frame is the name of a program.
inline constexpr std::uint32_t kNoCaller = std::numeric_limits<std::uint32_t>::max();

/// The frame below the program's name in paths whose outer callers are unknown.
inline constexpr std::string_view kIncompleteStack = "(stack incomplete)";

/// The frame below the program's name in paths that were left out because there were too many.
inline constexpr std::string_view kTooManyPaths = "(too many paths)";

/// Largest share of the sampled time in paths without known callers that says little about others.
inline constexpr double kMostWithoutCallers = 0.1;

/// A call path: the path of its caller and one more frame.
struct PathStep {
  std::uint32_t caller = kNoCaller;
  std::uint64_t frame = 0;

  bool operator==(const PathStep&) const = default;
};

/// Distinct call paths. A path has a larger index than its caller.
class PathTree {
 public:
  std::size_t size() const { return steps_.size(); }
  const PathStep& operator[](std::size_t path) const { return steps_[path]; }

  /// Returns the index of a path, which is added if it is new.
  std::uint32_t add(const PathStep& step);

  /// Returns the index of a path; nullopt if there is no such path.
  std::optional<std::uint32_t> find(const PathStep& step) const;

 private:
  /// Returns the place in slots_ of a path, or of the empty slot where it belongs.
  std::size_t find_slot(const PathStep& step) const;
  void make_slots(std::size_t count);

  std::vector<PathStep> steps_;
  /// A hash table of the indices of the paths: a power of two, at least half of it kNoCaller. Maps
  /// of the standard library need five times the memory.
  std::vector<std::uint32_t> slots_;
};

/// Returns for each path whether its last frame is in none of its callers' paths. Only such paths
/// count for the times of functions with what they called.
std::vector<bool> find_outermost_calls(const PathTree& paths);

/// Returns for each path whether matches(path) is true for it or for a caller's path. Added up over
/// these paths, what was sampled at their ends is the time of the matching functions with what they
/// called. `caller_of`: returns an index below the path's own, or kNoCaller.
template <typename CallerOf, typename Matches>
std::vector<bool> find_paths_through(std::size_t path_count, const CallerOf& caller_of,
                                     const Matches& matches) {
  std::vector<bool> are_through(path_count);
  for (std::size_t path = 0; path < path_count; ++path) {
    const std::uint32_t caller = caller_of(path);
    are_through[path] = (caller != kNoCaller && are_through[caller]) || matches(path);
  }
  return are_through;
}

/// A call path of one run, and what was sampled at its end, without the functions called from
/// there.
struct PathCounts {
  std::uint32_t caller = kNoCaller;  ///< index of an earlier path of the run
  std::string name;  ///< of a function; of a program in a path without a caller; or one of the
                     ///< frames in parentheses above
  std::uint64_t count = 0;

  bool operator==(const PathCounts&) const = default;
};

/// The call paths of a command, with the values of each in the rounds of its sampled runs. It grows
/// with the number of distinct paths, which is limited.
class PathTable {
 public:
  /// Largest number of paths. When it is reached, what is sampled in further paths is put below
  /// kTooManyPaths, by program and function.
  static constexpr std::size_t kMaxPaths = 100'000;

  bool empty() const { return paths_.size() == 0; }
  std::size_t size() const { return paths_.size(); }
  std::size_t rounds() const { return rounds_; }

  /// Returns the index of the caller's path, which is less than `path`, or kNoCaller.
  std::uint32_t caller_of(std::size_t path) const { return paths_[path].caller; }

  /// Returns the index in names() of the path's last frame.
  std::size_t frame_of(std::size_t path) const { return paths_[path].frame; }

  /// Returns the names of all frames, all different.
  const std::vector<std::string>& names() const { return names_; }

  const PathTree& tree() const { return paths_; }

  const std::string& name_of(std::size_t path) const { return names_[paths_[path].frame]; }

  /// Returns the path's values without those of the functions called from there, in seconds.
  const RoundValues& values_of(std::size_t path) const { return values_[path]; }

  /// True if paths were left out because of kMaxPaths.
  bool has_left_out_paths() const { return has_left_out_paths_; }

  /// Adds a round. Paths that are missing from `run` get 0. Stores counts divided by `per_unit`.
  void add_round(std::span<const PathCounts> run, double per_unit);

  /// Adds a path with its values in `rounds` rounds. Returns false if the path exists, or if its
  /// caller does not.
  bool add_path(std::uint32_t caller, const std::string& name, RoundValues values,
                std::size_t rounds);

 private:
  std::uint64_t find_or_add_frame(const std::string& name);
  std::uint32_t find_or_add(const PathStep& step);
  std::uint32_t find_or_add_below_limit(const PathStep& step);

  PathTree paths_;
  std::vector<RoundValues> values_;  // by path
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint64_t> frames_by_name_;
  std::size_t rounds_ = 0;
  bool has_left_out_paths_ = false;
};

/// Returns the share of the sampled time, over all rounds, that is in paths below kIncompleteStack
/// or kTooManyPaths; 0 without samples.
double share_without_callers(const PathTable& paths);

/// True if so much of the sampled time lacks callers (kMostWithoutCallers) that the times of
/// functions with what they called say little.
bool lacks_callers(const PathTable& paths);

}  // namespace lauka

#include "core/call_paths.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace lauka {

namespace {

constexpr std::size_t kFewestSlots = 64;

std::size_t hash_of(const PathStep& step) {
  // Multiplies by the golden ratio, so that addresses that are close to each other are spread.
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15U;
  std::uint64_t hash = (step.frame ^ (std::uint64_t{step.caller} << 32U)) * golden;
  hash ^= hash >> 29U;
  hash *= golden;
  // The slot is chosen by the low bits, and a product mixes bits only upwards.
  return hash ^ hash >> 32U;
}

}  // namespace

std::size_t PathTree::find_slot(const PathStep& step) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(step) & mask;
  while (slots_[slot] != kNoCaller && steps_[slots_[slot]] != step) slot = (slot + 1) & mask;
  return slot;
}

void PathTree::make_slots(std::size_t count) {
  slots_.assign(count, kNoCaller);
  for (std::uint32_t path = 0; path < steps_.size(); ++path) slots_[find_slot(steps_[path])] = path;
}

std::uint32_t PathTree::add(const PathStep& step) {
  if (2 * steps_.size() >= slots_.size()) make_slots(std::max(kFewestSlots, 2 * slots_.size()));
  const std::size_t slot = find_slot(step);
  if (slots_[slot] != kNoCaller) return slots_[slot];

  slots_[slot] = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back(step);
  return slots_[slot];
}

std::optional<std::uint32_t> PathTree::find(const PathStep& step) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t path = slots_[find_slot(step)];
  return path == kNoCaller ? std::nullopt : std::optional(path);
}

namespace {

constexpr std::uint32_t kNoPath = kNoCaller;

/// A tree of paths in the form of linked lists: one of the paths without a caller (the roots), and
/// for each path one of those that it calls (its children). kNoPath ends a list.
struct ChildLists {
  std::uint32_t first_root = kNoPath;
  std::vector<std::uint32_t> first_child{};   // by path
  std::vector<std::uint32_t> next_sibling{};  // by path
};

ChildLists list_children(const PathTree& paths) {
  ChildLists lists{.first_child = std::vector<std::uint32_t>(paths.size(), kNoPath),
                   .next_sibling = std::vector<std::uint32_t>(paths.size(), kNoPath)};
  for (std::uint32_t path = 0; path < paths.size(); ++path) {
    const std::uint32_t caller = paths[path].caller;
    std::uint32_t& first = caller == kNoCaller ? lists.first_root : lists.first_child[caller];
    lists.next_sibling[path] = std::exchange(first, path);
  }
  return lists;
}

/// A walk through a tree of paths, depth first, which finds the outermost calls.
struct PathWalk {
  const PathTree& paths;
  ChildLists lists = list_children(paths);
  std::vector<bool> are_outermost = std::vector<bool>(paths.size());
  std::unordered_set<std::uint64_t> open_frames{};  ///< of the visited path, and of all its callers

  void enter(std::uint32_t path) {
    const bool is_new_frame = open_frames.insert(paths[path].frame).second;
    are_outermost[path] = is_new_frame;
  }

  /// Leaves the path, and then each caller that has no further child, up to one that has a sibling.
  /// Returns the sibling; kNoPath at the end of the walk.
  std::uint32_t leave(std::uint32_t path) {
    std::uint32_t next = kNoPath;
    while (path != kNoPath && next == kNoPath) {
      if (are_outermost[path]) open_frames.erase(paths[path].frame);
      next = lists.next_sibling[path];
      path = paths[path].caller;
    }
    return next;
  }
};

}  // namespace

// The first call of a recursive function is its outermost one, which contains the time of all
// others.
std::vector<bool> find_outermost_calls(const PathTree& paths) {
  // The walk takes linear time, and does not recurse, because a path may have very many frames.
  PathWalk walk{.paths = paths};
  std::uint32_t path = walk.lists.first_root;
  while (path != kNoPath) {
    walk.enter(path);
    const std::uint32_t child = walk.lists.first_child[path];
    path = child != kNoPath ? child : walk.leave(path);
  }
  return std::move(walk.are_outermost);
}

std::uint64_t PathTable::find_or_add_frame(const std::string& name) {
  const auto [place, is_new] = frames_by_name_.try_emplace(name, names_.size());
  if (is_new) names_.push_back(name);
  return place->second;
}

std::uint32_t PathTable::find_or_add(const PathStep& step) {
  const std::uint32_t path = paths_.add(step);
  if (path == values_.size()) values_.emplace_back();
  return path;
}

std::uint32_t PathTable::find_or_add_below_limit(const PathStep& step) {
  if (paths_.size() < kMaxPaths) return find_or_add(step);
  if (const auto path = paths_.find(step)) return *path;

  has_left_out_paths_ = true;
  std::uint32_t program = step.caller;
  while (program != kNoCaller && paths_[program].caller != kNoCaller)
    program = paths_[program].caller;
  if (program == kNoCaller) return find_or_add(step);  // there are few programs

  const std::uint32_t left_out =
      find_or_add({program, find_or_add_frame(std::string(kTooManyPaths))});
  return find_or_add({left_out, step.frame});
}

void PathTable::add_round(std::span<const PathCounts> run, double per_unit) {
  std::vector<std::uint32_t> places;
  places.reserve(run.size());
  for (const PathCounts& path : run) {
    const std::uint32_t caller = path.caller < places.size() ? places[path.caller] : kNoCaller;
    places.push_back(find_or_add_below_limit({caller, find_or_add_frame(path.name)}));
  }

  std::vector<std::uint64_t> counts(paths_.size());
  for (std::size_t i = 0; i < run.size(); ++i) counts[places[i]] += run[i].count;

  for (std::size_t path = 0; path < counts.size(); ++path)
    append_round(values_[path], rounds_, static_cast<double>(counts[path]) / per_unit);
  ++rounds_;
}

bool PathTable::add_path(std::uint32_t caller, const std::string& name, RoundValues values,
                         std::size_t rounds) {
  const std::size_t before = paths_.size();
  if (caller != kNoCaller && caller >= before) return false;
  const std::uint32_t path = paths_.add({caller, find_or_add_frame(name)});
  if (path < before) return false;

  values_.push_back(std::move(values));
  rounds_ = rounds;
  return true;
}

double share_without_callers(const PathTable& paths) {
  double whole = 0.0;
  double without = 0.0;
  std::vector<bool> are_without(paths.size());

  for (std::size_t path = 0; path < paths.size(); ++path) {
    const std::uint32_t caller = paths.caller_of(path);
    const std::string& name = paths.name_of(path);
    are_without[path] = (caller != kNoCaller && are_without[caller]) || name == kIncompleteStack ||
                        name == kTooManyPaths;
    const double sampled = mean_of(paths.values_of(path), paths.rounds());
    whole += sampled;
    if (are_without[path]) without += sampled;
  }
  return whole > 0.0 ? without / whole : 0.0;
}

bool lacks_callers(const PathTable& paths) {
  return share_without_callers(paths) > kMostWithoutCallers;
}

}  // namespace lauka

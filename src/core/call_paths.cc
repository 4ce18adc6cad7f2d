#include "core/call_paths.h"

#include <utility>

namespace lauka {

std::size_t PathTree::Hash::operator()(const PathStep& step) const {
  // Multiplies by the golden ratio, so that addresses that are close to each other are spread.
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15U;
  std::uint64_t hash = (step.frame ^ (std::uint64_t{step.caller} << 32U)) * golden;
  hash ^= hash >> 29U;
  return hash * golden;
}

std::uint32_t PathTree::add(const PathStep& step) {
  const auto [place, is_new] =
      indices_.try_emplace(step, static_cast<std::uint32_t>(steps_.size()));
  if (is_new) steps_.push_back(step);
  return place->second;
}

std::optional<std::uint32_t> PathTree::find(const PathStep& step) const {
  const auto found = indices_.find(step);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

void PathTree::clear() {
  steps_.clear();
  indices_.clear();
}

std::vector<bool> find_first_calls(const PathTree& paths) {
  std::vector<bool> are_first(paths.size());
  for (std::size_t path = 0; path < paths.size(); ++path) {
    std::uint32_t caller = paths[path].caller;
    while (caller != kNoCaller && paths[caller].frame != paths[path].frame)
      caller = paths[caller].caller;
    are_first[path] = caller == kNoCaller;
  }
  return are_first;
}

std::uint64_t PathTable::frame_named(const std::string& name) {
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

  const std::uint32_t left_out = find_or_add({program, frame_named(std::string(kTooManyPaths))});
  return find_or_add({left_out, step.frame});
}

void PathTable::add_round(std::span<const PathCounts> run, double per_unit) {
  std::vector<std::uint32_t> places;
  places.reserve(run.size());
  for (const PathCounts& path : run) {
    const std::uint32_t caller = path.caller < places.size() ? places[path.caller] : kNoCaller;
    places.push_back(find_or_add_below_limit({caller, frame_named(path.name)}));
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
  const std::uint32_t path = paths_.add({caller, frame_named(name)});
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

}  // namespace lauka

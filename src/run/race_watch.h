#pragma once

#include "core/metric.h"
#include "core/runs.h"
#include "gate/race.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lauka {

/// Decides the race of a plan during the runs.
class RaceWatch {
 public:
  /// `plan` must have a race. `runs`: the session's runs so far, to which others add.
  RaceWatch(const Plan& plan, const Runs& runs);

  /// Returns the number of timed rounds at the next look.
  std::uint64_t rounds_at_next_look() const { return race_.rounds_at_next_look(); }

  /// Takes a look after `rounds` rounds.
  void look(std::uint64_t rounds) { look(rounds, false); }

  /// Takes the last look. `end`: the reason why the rounds end, if the race is not decided.
  void look_last(std::uint64_t rounds, gate::RaceEnd end);

  /// Returns the commands that are left, ascending.
  std::vector<std::uint32_t> left() const { return {race_.left().begin(), race_.left().end()}; }
  std::size_t count_left() const { return race_.left().size(); }

  /// True if no more rounds are needed.
  bool is_over() const { return race_.decision().has_value(); }

  /// Returns the result after `rounds` timed rounds of the commands that are left.
  gate::RaceResult close(std::uint64_t rounds) const;

 private:
  void look(std::uint64_t rounds, bool last);
  void drop_commands_without_value(std::uint64_t rounds, const std::vector<Series>& series);

  const Plan& plan_;
  const Runs& runs_;
  gate::RaceRule rule_;
  gate::Race race_;
  gate::RaceEnd end_without_decision_ = gate::RaceEnd::Unfinished;
};

}  // namespace lauka

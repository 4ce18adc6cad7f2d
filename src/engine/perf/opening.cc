#include "engine/perf/opening.h"

#include "os/linux_calls.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::engine::perf {
namespace {

/// The smallest structure that holds what is set: every kernel takes it that can count the event.
std::uint32_t size_for(const os::Code& code) {
  if (code.config3 != 0) return os::kPerfSizeWithConfig3;
  return code.config2 != 0 ? os::kPerfSizeWithConfig2 : os::kPerfSizeWithConfig1;
}

/// No processor reaches them.
constexpr double kMostInstructionsACycle = 16.0;
constexpr double kMostCyclesANs = 10.0;
/// The clock may still rise above what was seen of it.
constexpr double kClockRise = 1.25;
/// Counts may begin and end a little outside the time that goes with them.
constexpr double kAtTheEdges = 10'000.0;

/// Of an event that happens so often in the quietest other run, none is no accident.
constexpr std::uint64_t kTooManyForNone = 50;
/// A run so long has some of everything, but for events that the program never causes: that is
/// believed when it was seen so often.
constexpr std::uint64_t kLongNs = 1'000'000;
constexpr unsigned kZerosBelieved = 3;

constexpr std::uint64_t kUserAndKernel = os::kPerfExcludeUser | os::kPerfExcludeKernel;

bool counts_user_and_kernel(const Tally& tally) {
  return (tally.rings & kUserAndKernel) == 0;
}

/// A program may well do nothing that a hypervisor has to do for it.
bool is_of_hypervisor_only(const Tally& tally) {
  return (tally.rings & kUserAndKernel) == kUserAndKernel;
}

}  // namespace

OpenCounters::~OpenCounters() {
  // Members before their leaders: closing a leader first would make groups of its members.
  while (!descriptors_.empty()) close_last();
}

void OpenCounters::close_last() {
  calls_.close_counter(descriptors_.back());
  descriptors_.pop_back();
}

int OpenCounters::open(const os::PerfEventAttr& attributes, std::size_t leader) {
  const int group = leader < descriptors_.size() ? descriptors_[leader] : -1;
  const int descriptor = calls_.open_counter(attributes, {}, group);
  if (descriptor < 0) return -descriptor;
  descriptors_.push_back(descriptor);
  return 0;
}

os::PerfEventAttr attributes_of(const os::Code& code, const Rings& rings) {
  os::PerfEventAttr attributes;
  attributes.type = code.type;
  attributes.size = size_for(code);
  attributes.config = code.config;
  attributes.config1 = code.config1;
  attributes.config2 = code.config2;
  attributes.config3 = code.config3;
  attributes.read_format = os::kPerfReadEnabled | os::kPerfReadRunning | os::kPerfReadGroup;
  attributes.flags = os::kPerfInherit;
  if (!rings.user) attributes.flags |= os::kPerfExcludeUser;
  if (!rings.kernel) attributes.flags |= os::kPerfExcludeKernel;
  if (!rings.hypervisor) attributes.flags |= os::kPerfExcludeHypervisor;
  return attributes;
}

os::PerfEventAttr as_leader(os::PerfEventAttr attributes) {
  attributes.flags |= os::kPerfDisabled | os::kPerfEnableOnExec;
  return attributes;
}

void run_loop() {
  for (volatile std::uint64_t turn = 0; turn < kLoopTurns;) turn = turn + 1;
}

int try_counter(const os::LinuxCalls& calls, const os::PerfEventAttr& attributes) {
  OpenCounters counters(calls);
  return counters.open(as_leader(attributes), 0);
}

bool Judge::is_doubtful_zero(const Tally& tally, History& history) {
  if (history.least > 0) return history.least >= kTooManyForNone;
  return tally.ns >= kLongNs && history.zeros++ < kZerosBelieved;
}

double Judge::most_instructions(const Tally& instructions, std::span<const Tally> all) const {
  const auto cycles = std::ranges::find_if(all, [&](const Tally& other) {
    return other.role == Role::Cycles && other.rings == instructions.rings &&
           other.ns == instructions.ns;
  });
  if (cycles != all.end() && cycles->count > 0)
    return kMostInstructionsACycle * static_cast<double>(cycles->count);
  const double clock = fastest_clock_ > 0.0 ? kClockRise * fastest_clock_ : kMostCyclesANs;
  return kMostInstructionsACycle * clock * static_cast<double>(instructions.ns) + kAtTheEdges;
}

std::string Judge::doubt(const Tally& tally, std::span<const Tally> all, History& history) const {
  const auto count = static_cast<double>(tally.count);
  if (tally.count == 0) {
    if (is_of_hypervisor_only(tally)) return "";
    // No program runs without cycles and instructions.
    if (tally.role == Role::Cycles || tally.role == Role::Instructions)
      return fmt::format("{} was 0", tally.event);
    if (is_doubtful_zero(tally, history))
      return fmt::format("{} was 0, so its counter seems to be dead", tally.event);
  } else if (tally.role == Role::Cycles &&
             count > kMostCyclesANs * static_cast<double>(tally.ns) + kAtTheEdges) {
    return fmt::format("{} was more than its time allows", tally.event);
  } else if (tally.role == Role::Instructions && count > most_instructions(tally, all)) {
    return fmt::format("{} was more than its cycles or its time allow", tally.event);
  }
  return "";
}

void Judge::learn(const Tally& tally, History& history) {
  if (tally.count == 0) return;
  history.least = history.least == 0 ? tally.count : std::min(history.least, tally.count);
  if (tally.role == Role::Cycles && tally.ns >= kLongNs && counts_user_and_kernel(tally))
    fastest_clock_ =
        std::max(fastest_clock_, static_cast<double>(tally.count) / static_cast<double>(tally.ns));
}

std::vector<std::string> Judge::doubts(std::size_t command, std::span<const Tally> tallies) {
  std::vector<std::string> doubts(tallies.size());
  for (std::size_t i = 0; i < tallies.size(); ++i)
    if (tallies[i].ns > 0) doubts[i] = doubt(tallies[i], tallies, histories_[{command, i}]);
  // Too many instructions for their cycles: which of the two is wrong cannot be told.
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    if (tallies[i].role != Role::Instructions || doubts[i].empty() || tallies[i].count == 0)
      continue;
    for (std::size_t k = 0; k < tallies.size(); ++k)
      if (tallies[k].role == Role::Cycles && doubts[k].empty()) doubts[k] = doubts[i];
  }
  for (std::size_t i = 0; i < tallies.size(); ++i)
    if (doubts[i].empty()) learn(tallies[i], histories_[{command, i}]);
  return doubts;
}

}  // namespace lauka::engine::perf

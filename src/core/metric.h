#pragma once

#include "core/event.h"
#include "core/record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lauka {

/// What a row is that has no values of its own, but speaks of another one's.
struct Percentile {
  std::string of;      ///< the name of the other metric, whose formula it has
  double share = 0.5;  ///< 0.99: the value that 99 % of the runs do not exceed
};

/// "wall_time.p99.9".
std::string name_of_percentile(double percent);

/// The 99.9 of such a name; none where it is another one.
std::optional<double> percentile_in(std::string_view name);

/// The runs that it takes for an interval of a quantile with `tail` on either side: with fewer, all
/// of them are on one side of it too often (share^n, or (1 - share)^n).
std::size_t fewest_runs_of(double share, double tail);

enum class Unit : unsigned char { Seconds, Bytes, Count, Ratio, Fraction, Joules };
enum class Better : unsigned char { Less, More, Neither };

/// The base unit, for programs.
constexpr std::string_view unit_symbol(Unit unit) {
  switch (unit) {
    case Unit::Seconds:
      return "s";
    case Unit::Joules:
      return "J";
    case Unit::Bytes:
      return "B";
    case Unit::Ratio:
      return "ratio";
    case Unit::Fraction:
      return "fraction";
    case Unit::Count:
      break;
  }
  return "1";
}

/// When a row is in the table; exports have every row.
enum class Shown : unsigned char { Always, Verbose };

/// The value of a run in base units (seconds, bytes, events); NaN: it was not measured.
using UsageReader = double (*)(const Usage&);

/// An event of the session, by its index in EventSet::events.
struct CountedEvent {
  std::size_t event = 0;
};

/// A value that the program told itself, by its place in RunRecord::told.
struct ToldValue {
  std::size_t place = 0;
};

enum class Operation : unsigned char { Add, Subtract, Multiply, Divide };

/// The value that the term at `place` of the same formula has given.
struct SameValue {
  std::size_t place = 0;
};

/// What a run's value of a metric is made of: numbers that the run gives, constants, and what is
/// done with the two before it (postfix). No value where the run lacks one of them, or a divisor
/// is 0. Events of one formula are counted in the same run.
struct Formula {
  using Term = std::variant<UsageReader, CountedEvent, double, Operation, ToldValue, SameValue>;
  std::vector<Term> terms;

  Formula() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a single term is a formula
  Formula(Term term) : terms{term} {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Formula(UsageReader read) : Formula(Term(read)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Formula(CountedEvent event) : Formula(Term(event)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Formula(double constant) : Formula(Term(constant)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Formula(ToldValue told) : Formula(Term(told)) {}

  /// The same with `right` as the second operand.
  Formula with(Operation operation, const Formula& right) const {
    Formula all = *this;
    all.terms.insert(all.terms.end(), right.terms.begin(), right.terms.end());
    all.terms.emplace_back(operation);
    return all;
  }

  /// The first event in it; none: it is of the kernel's accounts.
  std::optional<std::size_t> first_event() const {
    for (const Term& term : terms)
      if (const auto* counted = std::get_if<CountedEvent>(&term)) return counted->event;
    return std::nullopt;
  }
};

inline Formula operator+(const Formula& a, const Formula& b) {
  return a.with(Operation::Add, b);
}
inline Formula operator/(const Formula& a, const Formula& b) {
  return a.with(Operation::Divide, b);
}

struct DisplayUnit;

/// A quantity with a name and a unit, measured in every run: a row of the table.
struct Metric {
  std::string name;
  Unit unit = Unit::Count;
  Better better = Better::Less;
  Shown shown = Shown::Always;
  Formula source;
  RoundKind kind = RoundKind::Timed;  ///< of the rounds whose runs have values of it
  std::string note{};  ///< shown beside the row: "(user)", "(simulated)"; mostly empty
  const DisplayUnit* shown_in = nullptr;  ///< by the table; null: the unit that fits each value
  Role role = Role::Other;
  std::optional<std::size_t> event{};  ///< that it is the count of; none: of several, or of none
  bool is_part = false;                ///< of another metric, on one kind of core
  std::optional<Percentile> percentile{};

  std::optional<double> share() const {
    return percentile ? std::optional(percentile->share) : std::nullopt;
  }
  /// The metric whose values it is made of: itself, as a rule.
  const std::string& measured_as() const { return percentile ? percentile->of : name; }
};

/// The note of a metric that only simulated runs have.
inline constexpr std::string_view kSimulatedNote = "(simulated)";

/// What the note of a metric begins with that is of the program's region only (lauka/region.h).
inline constexpr std::string_view kRegionNote = "(region)";

/// The row that --region is for.
inline constexpr std::string_view kRegionTime = "region_time";

struct BuiltInMetric {
  std::string_view name;
  Unit unit;
  Shown shown;
  UsageReader read;
  Role role = Role::Other;
};

/// Of control groups (os/memory_groups.h), where there are any: it is not in every session.
inline constexpr std::string_view kTreePeakMemory = "tree_peak_memory";

/// The value of a field as it is.
template <std::uint64_t Usage::*field>
constexpr double value_of(const Usage& usage) {
  return static_cast<double>(usage.*field);
}

/// The metrics that need no counters, in the order of the table.
inline constexpr auto kBuiltInMetrics = std::to_array<BuiltInMetric>({
    {"wall_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return static_cast<double>(u.wall_ns) / 1e9; }, Role::WallTime},
    {"cpu_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return static_cast<double>(u.user_ns + u.system_ns) / 1e9; },
     Role::CpuTime},
    {"user_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.user_ns) / 1e9; }, Role::UserTime},
    {"system_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return static_cast<double>(u.system_ns) / 1e9; }, Role::SystemTime},
    {"peak_rss", Unit::Bytes, Shown::Always, value_of<&Usage::peak_rss_bytes>, Role::PeakRss},
    {kTreePeakMemory, Unit::Bytes, Shown::Verbose,
     [](const Usage& u) {
       return u.tree_peak_bytes > 0 ? static_cast<double>(u.tree_peak_bytes)
                                    : std::numeric_limits<double>::quiet_NaN();
     }},
    {"minor_faults", Unit::Count, Shown::Verbose, value_of<&Usage::minor_faults>},
    {"major_faults", Unit::Count, Shown::Verbose, value_of<&Usage::major_faults>},
    {"voluntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::voluntary_switches>,
     Role::VoluntarySwitches},
    {"involuntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::involuntary_switches>,
     Role::InvoluntarySwitches},
    {"block_reads", Unit::Count, Shown::Verbose, value_of<&Usage::block_reads>},
    {"block_writes", Unit::Count, Shown::Verbose, value_of<&Usage::block_writes>},
});

/// True if a metric is made of that field; what the launcher itself has is none.
constexpr bool is_shown(std::uint64_t Usage::*field) {
  Usage one{};
  one.*field = 1;
  return field == &Usage::peak_rss_floor_bytes ||
         std::ranges::any_of(kBuiltInMetrics,
                             [&](const BuiltInMetric& metric) { return metric.read(one) > 0.0; });
}
static_assert(std::ranges::all_of(kUsageFields, is_shown), "kBuiltInMetrics lacks a field");

/// The name of a built-in metric.
constexpr std::string_view metric_name_of(Role role) {
  for (const BuiltInMetric& metric : kBuiltInMetrics)
    if (metric.role == role) return metric.name;
  return {};
}

/// A metric that is made of two events, where one run counts both.
struct DerivedMetric {
  std::string_view name;
  Role role;
  Unit unit;
  Better better;
  Role numerator;
  Role denominator;
};

inline constexpr auto kDerivedMetrics = std::to_array<DerivedMetric>({
    {"ipc", Role::Ipc, Unit::Ratio, Better::More, Role::Instructions, Role::Cycles},
});

/// The metric that is `role` as a whole; none where it is not measured.
inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics, Role role) {
  const auto found = std::ranges::find_if(
      metrics, [role](const Metric& metric) { return metric.role == role && !metric.is_part; });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics.begin());
}

/// The metric of that name, as the user types it; none where it is not measured.
inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics,
                                              std::string_view name) {
  const auto found =
      std::ranges::find_if(metrics, [name](const Metric& metric) { return metric.name == name; });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics.begin());
}

/// The metric whose row is read first, and that the commands are ranked by: the first one shown.
inline std::optional<std::size_t> primary_metric(const std::vector<Metric>& metrics) {
  const auto found = std::ranges::find_if(
      metrics, [](const Metric& metric) { return metric.shown == Shown::Always; });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics.begin());
}

/// The rounds in whose runs `metric` has values: those of a pass that counts all
/// events in its formula.
RoundKind kind_of(const Metric& metric, const EventSet& events);

/// Reads one metric out of runs.
class MetricReader {
 public:
  MetricReader(const Metric& metric, const EventSet& events);

  /// The sample of `run`, in base units; none where it is of another kind of round or its pass does
  /// not count the metric, where the engine could not, where a divisor is 0, where only a bound is
  /// known, and where the run was killed at its time limit: what it would have taken is not known.
  std::optional<double> value(const RunRecord& run) const;

  /// What the value of `run` does not exceed, where only that is known.
  std::optional<double> bound(const RunRecord& run) const;

 private:
  /// Where an event stands among the counts of each pass; none in passes without it.
  using Places = std::vector<std::optional<std::size_t>>;

  static Places places_of(std::size_t event, const EventSet& events);
  static std::optional<double> count(const RunRecord& run, const Places& places);

  /// A term and, where that is an event, its places.
  struct Step {
    Formula::Term term;
    Places places;
  };

  /// What `run` gives for a term that is no operation.
  static std::optional<double> operand(const RunRecord& run, const Step& step);
  std::optional<double> result(const RunRecord& run) const;

  RoundKind kind_;
  bool may_be_bound_;
  std::vector<Step> steps_;
};

}  // namespace lauka

#pragma once

#include "core/event.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lauka {

/// A row that summarizes the values of another one.
struct Percentile {
  std::string of;      ///< the name of the other metric, whose formula it has
  double share = 0.5;  ///< 0.99: the value that 99 % of the runs do not exceed
};

/// "wall_time.p99.9".
std::string name_of_percentile(double percent);

/// Returns the 99.9 of such a name; nullopt if it is another name.
std::optional<double> percentile_in(std::string_view name);

/// Returns how many runs an interval of a quantile with `tail` on either side takes: with fewer,
/// all of them are on one side of it too often (share^n, or (1 - share)^n).
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

/// A value that the program reported itself, by its index in RunRecord::reported.
struct ReportedValue {
  std::size_t place = 0;
};

enum class Operation : unsigned char { Add, Subtract, Multiply, Divide };

/// The value of the term at `place` of the same formula.
struct SameValue {
  std::size_t place = 0;
};

/// The formula of a metric, in postfix order: numbers of the run, constants, and operations on the
/// two values before them. It has no value if the run lacks one of them, or a divisor is 0. Events
/// of one formula are counted in the same run.
struct Formula {
  using Term = std::variant<UsageReader, CountedEvent, double, Operation, ReportedValue, SameValue>;
  std::vector<Term> terms;

  Formula() = default;
  template <typename T>
  requires std::is_constructible_v<Term, T>
  // NOLINTNEXTLINE(google-explicit-constructor): a single term is a formula
  Formula(T term) : terms{Term(term)} {}

  /// Applies the operation to this and `right`.
  Formula with(Operation operation, const Formula& right) const {
    Formula all = *this;
    all.terms.insert(all.terms.end(), right.terms.begin(), right.terms.end());
    all.terms.emplace_back(operation);
    return all;
  }

  /// Returns its first event; nullopt if it has only the kernel's accounts.
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
  Formula source{};
  RoundKind kind = RoundKind::Timed;              ///< rounds whose runs have values of it
  CountedLevels levels = CountedLevels::Unknown;  ///< levels that the event counts; for a formula,
                                                  ///< the levels of its first event
  bool of_region =
      false;           ///< true if the events are counted in the program's region (lauka/region.h)
  std::string note{};  ///< shown next to the row: "(user)", "(simulated)"; mostly empty
  const DisplayUnit* shown_in =
      nullptr;  ///< unit in which tables show the metric; null: the unit that fits each value
  Role role = Role::Other;
  std::optional<std::size_t> event{};  ///< the one that it counts; nullopt if it is not one
  bool is_part = false;  ///< true if it is a part of another metric, on one kind of core
  std::optional<Percentile> percentile{};

  std::optional<double> share() const {
    return percentile ? std::optional(percentile->share) : std::nullopt;
  }
  /// Returns the metric that provides its values: itself, as a rule.
  const std::string& measured_as() const { return percentile ? percentile->of : name; }
};

/// The row that --region is for.
inline constexpr std::string_view kRegionTime = "region_time";

struct BuiltInMetric {
  std::string_view name;
  Unit unit;
  Shown shown;
  UsageReader read;
  std::string_view meaning;  ///< description for --list-metrics
  Role role = Role::Other;
};

/// Measured by control groups (os/setting_files.h), so not in every session.
inline constexpr std::string_view kTreePeakMemory = "tree_peak_memory";

/// Returns the value of a field unchanged.
template <std::uint64_t Usage::*field>
constexpr double value_of(const Usage& usage) {
  return static_cast<double>(usage.*field);
}

/// The metrics that need no counters, in the order of the table.
inline constexpr auto kBuiltInMetrics = std::to_array<BuiltInMetric>({
    {"wall_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return to_seconds(u.wall_ns); }, "time from start to end",
     Role::WallTime},
    {"cpu_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return to_seconds(u.user_ns + u.system_ns); },
     "user_time + system_time, of the command and all it waited for", Role::CpuTime},
    {"user_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return to_seconds(u.user_ns); }, "CPU time in the program itself",
     Role::UserTime},
    {"system_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return to_seconds(u.system_ns); }, "CPU time in the kernel on its behalf",
     Role::SystemTime},
    {"peak_rss", Unit::Bytes, Shown::Always, value_of<&Usage::peak_rss_bytes>,
     "largest resident memory of one process", Role::PeakRss},
    {kTreePeakMemory, Unit::Bytes, Shown::Verbose,
     [](const Usage& u) {
       return u.tree_peak_bytes > 0 ? static_cast<double>(u.tree_peak_bytes)
                                    : std::numeric_limits<double>::quiet_NaN();
     },
     "largest memory of all its processes together (cgroup v2)"},
    {"minor_faults", Unit::Count, Shown::Verbose, value_of<&Usage::minor_faults>,
     "page faults that read no disk"},
    {"major_faults", Unit::Count, Shown::Verbose, value_of<&Usage::major_faults>,
     "page faults that read a disk"},
    {"voluntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::voluntary_switches>,
     "times that it waited for something", Role::VoluntarySwitches},
    {"involuntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::involuntary_switches>,
     "times that another program took its CPU", Role::InvoluntarySwitches},
    {"block_reads", Unit::Count, Shown::Verbose, value_of<&Usage::block_reads>,
     "reads of a disk, in blocks"},
    {"block_writes", Unit::Count, Shown::Verbose, value_of<&Usage::block_writes>,
     "writes to a disk, in blocks"},
});

/// Finds the built-in metric of that name; null if missing.
constexpr const BuiltInMetric* built_in_metric(std::string_view name) {
  for (const BuiltInMetric& metric : kBuiltInMetrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

/// True if a field has a metric; the launcher's own floor has not.
constexpr bool is_shown(std::uint64_t Usage::*field) {
  Usage usage{};
  usage.*field = 1;
  return field == &Usage::peak_rss_floor_bytes ||
         std::ranges::any_of(kBuiltInMetrics,
                             [&](const BuiltInMetric& metric) { return metric.read(usage) > 0.0; });
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

/// Returns the index of the first in `list` that `is` accepts; nullopt if it accepts none.
template <typename T, typename Is>
std::optional<std::size_t> find_place_if(const std::vector<T>& list, const Is& is) {
  const auto found = std::ranges::find_if(list, is);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

/// Finds the metric that is `role` as a whole; nullopt if it is not measured.
inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics, Role role) {
  return find_place_if(
      metrics, [role](const Metric& metric) { return metric.role == role && !metric.is_part; });
}

/// Finds the metric of that name, as the user types it; nullopt if it is not measured.
inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics,
                                              std::string_view name) {
  return find_place_if(metrics, [name](const Metric& metric) { return metric.name == name; });
}

/// Returns the metric that the commands are ranked by: the first one shown.
inline std::optional<std::size_t> primary_metric(const std::vector<Metric>& metrics) {
  return find_place_if(metrics, [](const Metric& metric) { return metric.shown == Shown::Always; });
}

/// True if the pass counts all events in the formula.
bool counts_all(const Pass& pass, const Formula& formula);

/// Returns the kind of rounds whose runs have values of `metric`: of the first pass that counts all
/// events in its formula.
RoundKind kind_of(const Metric& metric, const EventSet& events);

/// Reads one metric out of runs.
class MetricReader {
 public:
  MetricReader(const Metric& metric, const EventSet& events);

  /// Returns the sample of `run`, in base units. nullopt if the run is of another kind of round,
  /// its pass or engine did not count the metric, a divisor is 0, only a bound is known, or the run
  /// was killed at its time limit.
  std::optional<double> value(const RunRecord& run) const;

  /// Returns the upper bound of the value of `run`, if only that is known.
  std::optional<double> bound(const RunRecord& run) const;

 private:
  /// Index of an event among the counts of each pass; nullopt in passes without it.
  using Places = std::vector<std::optional<std::size_t>>;

  static Places find_places(std::size_t event, const EventSet& events);
  static std::optional<double> count(const RunRecord& run, const Places& places);

  /// A term and, where that is an event, its places.
  struct Step {
    Formula::Term term;
    Places places;
  };

  /// Returns the value of a term that is not an operation.
  static std::optional<double> operand(const RunRecord& run, const Step& step);
  std::optional<double> result(const RunRecord& run) const;

  RoundKind kind_;
  bool may_be_bound_;
  std::vector<Step> steps_;
  // Kept from run to run, as a session reads each metric of each run several times.
  mutable std::vector<double> values_{};  // not yet combined
  mutable std::vector<double> given_{};   // by each term
};

/// A gate: it fails if METRIC of a candidate is, with confidence, above its limit, or below it. The
/// limit is a change from the reference, or a value of the metric itself.
struct Condition {
  std::string metric;
  double limit_percent = 0.0;  ///< above -100; 0 if it has a bound
  bool below = false;
  std::optional<double> bound{};  ///< bound in base units of bound_unit; nullopt: no bound
  std::string bound_text{};       ///< typed text: "200ms"; empty: the file lacks it
  Unit bound_unit = Unit::Seconds;

  bool operator==(const Condition&) const = default;
};

/// Why a session with --precision ended.
enum class PrecisionEnd : unsigned char {
  Reached,
  MaxRuns,
  Duration,
  ReferenceGone,  ///< sequential order, with a setup or cleanup that keeps commands from coming
                  ///< back, needed more runs of the reference
  Gates,          ///< reached, but not kept in the rounds that the gates needed
  Unfinished,
};

/// The result of --precision.
struct Precision {
  double wanted = 0.0;                 ///< half width of the metric's intervals, a fraction
  std::optional<double> half_width{};  ///< the widest; nullopt if an interval has no bounds
  std::size_t runs = 0;                ///< runs of the command with the fewest
  PrecisionEnd end = PrecisionEnd::Reached;
  std::string metric{metric_name_of(Role::WallTime)};
  /// Layouts that would reach it where more runs of the present ones would not (--layouts).
  std::optional<std::size_t> layouts_to_reach{};
};

/// One metric of one command, in the order run.
struct Series {
  std::vector<double> values;
  std::vector<std::uint32_t> rounds;      ///< one for each value, ascending
  std::optional<double> largest_bound{};  ///< some runs' values are known as bounds only
  std::size_t bounded = 0;                ///< number of runs whose values are known as bounds only
  std::vector<std::uint32_t> layouts{};   ///< one for each value; empty without --layouts
  /// Layouts in which a run failed, each once: no comparison has them.
  std::vector<std::uint32_t> failed_layouts{};
};

/// How a session's runs are told apart by layouts.
struct LayoutUse {
  std::uint32_t count = 1;  ///< layouts of each command; 1 without --layouts
  std::optional<IgnoreFailure> ignored{};
};

/// The series of one metric, one for each command, filled run by run.
class MetricSeries {
 public:
  MetricSeries(const Metric& metric, const EventSet& events, std::size_t commands,
               LayoutUse layouts = {})
      : reader_(metric, events), layouts_(std::move(layouts)), of_command_(commands) {}

  /// Adds a kept run; one without a value of the metric changes nothing.
  void add_run(const RunRecord& run);

  const Series& of_command(std::size_t command) const { return of_command_[command]; }
  const std::vector<Series>& all() const { return of_command_; }

 private:
  MetricReader reader_;
  LayoutUse layouts_;
  std::vector<Series> of_command_;
};

/// Adds `layout` to the failed ones of a series, if it is not there.
void add_failed_layout(std::uint32_t layout, Series& series);

/// The samples of two commands as deltas and gates compare them.
struct Comparison {
  std::vector<double> reference;
  std::vector<double> candidate;
  bool paired = true;  ///< reference[i] and candidate[i] are of the same round
  /// The layouts of the samples; empty without --layouts.
  std::vector<std::uint32_t> reference_layouts{};
  std::vector<std::uint32_t> candidate_layouts{};

  bool is_empty() const { return reference.empty() || candidate.empty(); }
  bool has_layouts() const { return !candidate_layouts.empty(); }
};

/// Returns the samples to compare: if paired, of the rounds in which both have a value. Empty if
/// one of them has bounds, which cannot be compared. A layout in which either failed is left out.
Comparison compare(const Series& reference, const Series& candidate, bool paired);

}  // namespace lauka

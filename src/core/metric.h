#pragma once

#include "core/event.h"
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
#include <variant>
#include <vector>

namespace lauka {

struct Percentile {
  std::string summarized_metric;
  double share = 0.5;  ///< fraction: 0.99 for p99
};

/// Returns "wall_time.p99.9" for 99.9.
std::string name_of_percentile(double percent);

/// Returns 99.9 for "wall_time.p99.9"; nullopt if `name` is not the name of a percentile.
std::optional<double> percentile_in(std::string_view name);

/// Returns the fewest runs (at least 2) whose smallest and largest value bound the quantile
/// `share`, on each side with an error probability of at most `tail`. All n runs are below the
/// quantile with probability share^n, and above the quantile with probability (1 - share)^n.
std::size_t fewest_runs_for_quantile(double share, double tail);

enum class Unit : unsigned char { Seconds, Bytes, Count, Ratio, Fraction, Joules };
enum class Better : unsigned char { Less, More, Neither };

/// Returns the unit's symbol for exports: "s", "1" for counts.
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

/// Visibility of a row or warning. Verbose: normally only with --verbose.
enum class Shown : unsigned char { Always, Verbose };

/// Reads a value from a run's usage, in base units; NaN if the value was not measured.
using UsageFunction = double (*)(const Usage&);

/// The count of the event with index `event` in EventSet::events.
struct CountedEvent {
  std::size_t event = 0;
};

/// The value with index `place` in RunRecord::reported.
struct ReportedValue {
  std::size_t place = 0;
};

enum class Operation : unsigned char { Add, Subtract, Multiply, Divide };

/// The value of the formula's term with index `place`, an earlier term.
struct RepeatedTerm {
  std::size_t place = 0;
};

/// A metric's formula in postfix order: an operation combines the two values before it. All events
/// of the formula must be counted in the same run.
struct Formula {
  using Term =
      std::variant<UsageFunction, CountedEvent, double, Operation, ReportedValue, RepeatedTerm>;
  std::vector<Term> terms;

  Formula() = default;
  template <typename T>
  requires std::is_constructible_v<Term, T>
  // NOLINTNEXTLINE(google-explicit-constructor): a single term is a formula
  Formula(T term) : terms{Term(term)} {}

  Formula with(Operation operation, const Formula& right) const {
    Formula all = *this;
    all.terms.insert(all.terms.end(), right.terms.begin(), right.terms.end());
    all.terms.emplace_back(operation);
    return all;
  }

  /// Returns the index in EventSet::events of the formula's first event; nullopt without events.
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

/// A quantity with a name and a unit: a row of tables.
struct Metric {
  std::string name;
  Unit unit = Unit::Count;
  Better better = Better::Less;
  Shown shown = Shown::Always;
  Formula source{};
  RoundKind kind = RoundKind::Timed;
  CountedPrivilegeLevels counted_privilege_levels = CountedPrivilegeLevels::Unknown;
  /// True if an event of the metric is counted only in the region (lauka/region.h).
  bool of_region = false;
  std::string metric_suffix{};
  /// What counts the first event of the metric; empty without events.
  CountingMethod method{};
  /// Unit in which values are shown; null: chosen to fit the values.
  const DisplayUnit* shown_in = nullptr;
  Role role = Role::Other;
  /// Index in EventSet::events of the event that the metric shows; else nullopt.
  std::optional<std::size_t> event{};
  bool is_part = false;  ///< true if the metric is another metric's part on one core kind
  std::optional<Percentile> percentile{};

  std::optional<double> percentile_share() const {
    return percentile ? std::optional(percentile->share) : std::nullopt;
  }
  /// Returns the metric's name; for a percentile, the name of the summarized metric.
  const std::string& source_metric() const {
    return percentile ? percentile->summarized_metric : name;
  }
};

/// True if equal values of the metric are exact. False for times and energies, whose equal values
/// may be due to a coarse clock.
constexpr bool can_be_exact(Unit unit) {
  return unit != Unit::Seconds && unit != Unit::Joules;
}

inline constexpr std::string_view kRegionTime = "region_time";

struct BuiltInMetric {
  std::string_view name;
  Unit unit;
  Shown shown;
  UsageFunction read;
  std::string_view meaning;
  Role role = Role::Other;
};

inline constexpr std::string_view kTreePeakMemory = "tree_peak_memory";

template <std::uint64_t Usage::*field>
constexpr double value_of(const Usage& usage) {
  return static_cast<double>(usage.*field);
}

inline constexpr auto kBuiltInMetrics = std::to_array<BuiltInMetric>({
    {"wall_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return to_seconds(u.wall_ns); }, "time from start to end",
     Role::WallTime},
    {"cpu_time", Unit::Seconds, Shown::Always,
     [](const Usage& u) { return to_seconds(u.user_ns + u.system_ns); },
     "user_time + system_time of the command and of the processes that it waited for",
     Role::CpuTime},
    {"user_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return to_seconds(u.user_ns); }, "CPU time in the program itself",
     Role::UserTime},
    {"system_time", Unit::Seconds, Shown::Verbose,
     [](const Usage& u) { return to_seconds(u.system_ns); },
     "CPU time in the kernel on the program's behalf", Role::SystemTime},
    {"peak_rss", Unit::Bytes, Shown::Always, value_of<&Usage::peak_rss_bytes>,
     "largest resident memory of one process", Role::PeakRss},
    {kTreePeakMemory, Unit::Bytes, Shown::Verbose,
     [](const Usage& u) {
       return u.tree_peak_bytes > 0 ? static_cast<double>(u.tree_peak_bytes)
                                    : std::numeric_limits<double>::quiet_NaN();
     },
     "largest memory that all processes of the command used together (cgroup v2)"},
    {"minor_faults", Unit::Count, Shown::Verbose, value_of<&Usage::minor_faults>,
     "page faults that were served from memory"},
    {"major_faults", Unit::Count, Shown::Verbose, value_of<&Usage::major_faults>,
     "page faults that had to read from a disk"},
    {"voluntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::voluntary_switches>,
     "how often the command waited for something", Role::VoluntarySwitches},
    {"involuntary_switches", Unit::Count, Shown::Verbose, value_of<&Usage::involuntary_switches>,
     "how often another program took the command's CPU", Role::InvoluntarySwitches},
    {"block_reads", Unit::Count, Shown::Verbose, value_of<&Usage::block_reads>,
     "disk reads, in blocks"},
    {"block_writes", Unit::Count, Shown::Verbose, value_of<&Usage::block_writes>,
     "disk writes, in blocks"},
});

/// Finds a built-in metric by its name; null if missing.
constexpr const BuiltInMetric* built_in_metric(std::string_view name) {
  for (const BuiltInMetric& metric : kBuiltInMetrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

/// True if a built-in metric shows `field`, or if `field` is peak_rss_floor_bytes.
constexpr bool is_shown(std::uint64_t Usage::*field) {
  Usage usage{};
  usage.*field = 1;
  return field == &Usage::peak_rss_floor_bytes ||
         std::ranges::any_of(kBuiltInMetrics,
                             [&](const BuiltInMetric& metric) { return metric.read(usage) > 0.0; });
}
static_assert(std::ranges::all_of(kUsageFields, is_shown), "kBuiltInMetrics lacks a field");

/// Returns the name of the first built-in metric with `role`; empty if missing.
constexpr std::string_view metric_name_of(Role role) {
  for (const BuiltInMetric& metric : kBuiltInMetrics)
    if (metric.role == role) return metric.name;
  return {};
}

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

/// Returns the index of the first element of `list` for which `is` is true; nullopt if missing.
template <typename T, typename Is>
std::optional<std::size_t> find_place_if(const std::vector<T>& list, const Is& is) {
  const auto found = std::ranges::find_if(list, is);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

/// Returns the index of the first metric with `role`; nullopt if missing. Leaves out metrics that
/// are parts (Metric::is_part).
inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics, Role role) {
  return find_place_if(
      metrics, [role](const Metric& metric) { return metric.role == role && !metric.is_part; });
}

inline std::optional<std::size_t> find_metric(const std::vector<Metric>& metrics,
                                              std::string_view name) {
  return find_place_if(metrics, [name](const Metric& metric) { return metric.name == name; });
}

/// Returns the index of the first metric that is Shown::Always; nullopt if missing.
inline std::optional<std::size_t> primary_metric(const std::vector<Metric>& metrics) {
  return find_place_if(metrics, [](const Metric& metric) { return metric.shown == Shown::Always; });
}

bool counts_all(const Pass& pass, const Formula& formula);

/// Returns the kind of the first pass that counts all events of `metric`; Timed if `metric` has no
/// events, or no pass counts all of them.
RoundKind kind_of(const Metric& metric, const EventSet& events);

/// Computes the values of one metric.
class MetricReader {
 public:
  MetricReader(const Metric& metric, const EventSet& events);

  /// Returns the metric's value in `run`, in base units; nullopt if the value is unknown, or if
  /// bound() returns a bound.
  std::optional<double> value(const RunRecord& run) const;

  /// Returns an upper bound of the metric's value in `run`, in base units, if only this bound is
  /// known; else nullopt.
  std::optional<double> bound(const RunRecord& run) const;

 private:
  struct Step {
    Formula::Term term;
    /// For each pass, the event's index in Pass::event_indices; nullopt if the pass lacks the
    /// event.
    std::vector<std::optional<std::size_t>> places{};
    std::size_t first_step = 0;  // first of the steps up to this one that compute its value
  };

  /// Returns the last step of an operation's left operand. The step before the operation is the
  /// last step of its right operand.
  std::size_t find_left_operand(std::size_t operation) const;

  static std::optional<double> read_operand(const RunRecord& run, const Step& step);
  std::optional<double> compute_value(const RunRecord& run) const;

  RoundKind kind_;
  bool may_be_bound_;
  std::vector<Step> steps_;
  mutable std::vector<double> values_{};  // of the steps, in compute_value()
};

enum class PrecisionEnd : unsigned char {
  Reached,
  MaxRuns,
  Duration,
  HooksPreventedRuns,  ///< a command needed more runs, but setup or cleanup hooks prevented them
  LostInGateRounds,    ///< the precision was reached, then lost in later rounds, made for gates
  Unfinished,
};

struct Precision {
  double wanted_half_width = 0.0;      ///< largest allowed half width of intervals, as a fraction
  std::optional<double> half_width{};  ///< half width of the widest interval, as a fraction;
                                       ///< nullopt if an interval is missing or has no bounds
  std::size_t fewest_values_of_command = 0;
  PrecisionEnd end = PrecisionEnd::Reached;
  std::string metric{metric_name_of(Role::WallTime)};
  /// Number of layouts to advise because more runs would not reach the precision; nullopt: no
  /// advice. Above kMaxLayouts: even kMaxLayouts layouts would not be enough.
  std::optional<std::size_t> layouts_to_reach{};
};

/// What a series needs to know of a run that can give a value of its metric.
struct RunOfSeries {
  std::optional<double> value{};
  std::optional<double> bound{};  ///< upper bound of the value, if only that is known
  std::uint32_t round = 0;
  std::uint32_t layout = 0;
  Ending ending = Ending::Unknown;
};

/// The values of one metric of one command, in the order of the runs. Includes values of failed
/// runs, which are shown, but not compared.
struct Series {
  std::vector<double> values;
  std::vector<std::uint32_t> rounds;  ///< round of each value, ascending; empty if not needed
  /// Largest upper bound among runs for which only a bound is known.
  std::optional<double> largest_bound{};
  std::size_t runs_with_bound = 0;
  std::vector<std::uint32_t> layouts_of_bounded_runs{};  ///< layout of each run with a bound
  std::vector<std::uint32_t> layouts{};                  ///< layout of each value; may be empty
  std::vector<std::uint32_t> failed_layouts{};
  std::vector<std::size_t> values_of_failed_runs{};  ///< indices into `values`, ascending
  /// Largest upper bound among failed runs for which only a bound is known.
  std::optional<double> largest_bound_of_failed_runs{};
  std::size_t runs_with_ending = 0;  ///< number of runs with a known ending, even without a value
  std::size_t failed_runs = 0;

  /// Adds a run that can give a value of the metric.
  void add(const RunOfSeries& run, bool has_layouts);

  /// True if there is a value, or a bound, of a run that did not fail.
  bool has_values_to_compare() const {
    return largest_bound || values.size() > values_of_failed_runs.size();
  }
  /// True if runs are known to have failed, and none to have succeeded.
  bool has_only_failed_runs() const { return failed_runs > 0 && failed_runs == runs_with_ending; }
};

struct Comparison {
  std::vector<double> reference;
  std::vector<double> candidate;
  /// True: reference[i] and candidate[i] form a pair, usually of the same round.
  bool paired = true;
  /// Layouts of the samples; may be empty.
  std::vector<std::uint32_t> reference_layouts{};
  std::vector<std::uint32_t> candidate_layouts{};

  bool is_empty() const { return reference.empty() || candidate.empty(); }
  bool has_layouts() const { return !candidate_layouts.empty(); }
};

/// Returns the samples to compare, without samples of failed runs, and of layouts in which either
/// command failed. `paired`: takes only rounds in which both commands have a value. The samples are
/// empty if the commands cannot be compared.
Comparison pair_samples(const Series& reference, const Series& candidate, bool paired);

}  // namespace lauka

#include "report/function_lines.h"

#include "core/pattern.h"
#include "core/text.h"
#include "report/format.h"
#include "report/function_name.h"
#include "report/paths.h"
#include "results/analyse.h"
#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kMaxLines = 3;
constexpr std::size_t kMaxFunctionWidth = 60;
constexpr std::string_view kCertainMark = " *";

std::string format_difference(const FunctionChange& change, const Metric& metric) {
  return difference_of_means(change.difference(), change.own.half_width, metric);
}

/// Returns what a reader should know of the two sides of a function: ", new".
std::string_view describe_pairing(const FunctionChange& change) {
  if (change.is_new) return ", new";
  if (change.is_gone) return ", gone";
  return change.paired_by == PairedBy::OrderAndCounts ? ", paired by order" : "";
}

/// Returns the other names that a programmer may have written: those of functions that the linker
/// folded into one, and aliases, but not the names that a library has for itself.
std::vector<std::string_view> other_names_to_show(const FunctionChange& change) {
  std::vector<std::string_view> names;
  if (change.paired_by != PairedBy::Name) return names;
  for (const std::string& name : change.other_names)
    if (!name.starts_with('_') && split_numbers(name).numbers.empty()) names.push_back(name);
  return names;
}

/// Returns a function's names on one line, in which long names are shortened.
std::string shorten_names(const FunctionChange& change) {
  const std::string name = one_line(change.name);
  const std::vector<std::string_view> others = other_names_to_show(change);
  if (others.empty()) return shortened_function(name, kMaxFunctionWidth);

  constexpr std::size_t width = kMaxFunctionWidth / 2;
  std::string text = fmt::format("{} = {}", shortened_function(name, width),
                                 shortened_function(one_line(others.front()), width));
  if (others.size() > 1) text += fmt::format(" and {} more", others.size() - 1);
  return text;
}

/// Returns all names of a function; empty if shorten_names() has them all.
std::string list_all_names(const FunctionChange& change) {
  std::string text = one_line(change.name);
  for (const std::string& name : change.other_names) text += " = " + one_line(name);
  return text == shorten_names(change) ? "" : text;
}

std::string write_function_line(const FunctionChange& change, const MetricByFunction& changes,
                                const Metric& metric) {
  const double reference = changes.mean_of_whole_reference;
  const std::string part =
      reference > 0.0 ? signed_rough_percent(change.difference() / reference) : std::string("n/a");
  const std::string callers = callers_with_most_of(change, changes.paths);
  return fmt::format("{} {} ({}{}{})", shorten_names(change), format_difference(change, metric),
                     part, describe_pairing(change),
                     callers.empty() ? "" : ", most of it in " + callers);
}

/// Returns the kMaxLines largest differences that are certain.
std::vector<const FunctionChange*> list_certain(const MetricByFunction& changes) {
  std::vector<const FunctionChange*> certain;
  for (const FunctionChange& change : changes.functions)
    if (change.is_certain() && certain.size() < kMaxLines) certain.push_back(&change);
  return certain;
}

double find_largest_difference(const MetricByFunction& changes) {
  double largest = 0.0;
  for (const FunctionChange& change : changes.functions)
    largest = std::max(largest, std::fabs(change.difference()));
  return largest;
}

bool is_told_below_gate(const Results& results, std::size_t metric, std::size_t candidate) {
  return std::ranges::any_of(results.findings.verdicts, [&](const gate::Verdict& verdict) {
    return verdict.answer == gate::Answer::Fail && verdict.metric == metric &&
           verdict.candidate == candidate;
  });
}

std::optional<std::size_t> find_first_changed_metric(const Results& results,
                                                     std::size_t candidate) {
  for (const std::size_t index : function_metrics(results)) {
    const MetricResult* row = metric_result_of(results.commands[candidate], index);
    const Metric& metric = results.session.metrics[index];
    if (metric.shown != Shown::Always || row == nullptr || !row->delta) continue;
    const MetricByFunction* changes = find_changes(results, index, candidate);
    const bool has_certain_function =
        changes != nullptr && std::ranges::any_of(changes->functions, &FunctionChange::is_certain);
    if (is_sampled_time(metric) ? has_certain_function : row->delta->is_significant()) return index;
  }
  return std::nullopt;
}

std::string write_no_certain_function_line(const Results& results, std::size_t candidate,
                                           std::string_view whose) {
  for (const std::size_t index : function_metrics(results)) {
    const Metric& metric = results.session.metrics[index];
    if (!is_sampled_time(metric) || metric.shown != Shown::Always) continue;
    if (const MetricByFunction* changes = find_changes(results, index, candidate))
      return fmt::format("{}{}: no function differs significantly in {}\n", one_line(metric.name),
                         whose, plural(changes->rounds, "sampled run"));
  }
  return "";
}

/// The sides that a table of functions compares, or lists if no commands are compared.
struct Columns {
  std::vector<const MetricByFunction*> sides{};
  /// Owner of the elements of `sides` if no commands are compared.
  std::vector<MetricByFunction> listed{};
  bool is_compared = true;
};

Columns find_columns(const Results& results, std::size_t metric) {
  Columns columns;
  for (const std::size_t c : find_candidates(results))
    if (const MetricByFunction* changes = find_changes(results, metric, c))
      columns.sides.push_back(changes);
  columns.is_compared = !columns.sides.empty();
  if (columns.is_compared || !find_candidates(results).empty()) return columns;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (auto functions = list_functions(results, metric, c))
      columns.listed.push_back(*std::move(functions));
  for (const MetricByFunction& functions : columns.listed) columns.sides.push_back(&functions);
  return columns;
}

/// A function's change on each of Columns::sides; null if the side lacks the function.
using FunctionByColumn = std::vector<const FunctionChange*>;

/// The functions that get a row of their own.
struct ChosenFunctions {
  std::vector<FunctionByColumn> rows{};
  std::size_t other_count = 0;  ///< functions with a value that share the last row
};

bool matches(const Pattern& pattern, std::string_view name) {
  const auto answer = pattern.matches(name, [] { return true; });
  return answer && *answer;
}

/// The rows of a table by the names of their functions.
using RowOfName = std::map<std::string_view, std::size_t>;

std::vector<std::string_view> list_names(const FunctionChange& function) {
  std::vector<std::string_view> names = {function.name};
  names.insert(names.end(), function.other_names.begin(), function.other_names.end());
  return names;
}

/// Returns the row that a function of `column` joins: that of the first of its names that has one,
/// or else a new row. It cannot join a row in which another function of its column already stands.
std::size_t find_row_to_join(const std::vector<FunctionByColumn>& rows,
                             const RowOfName& row_of_name,
                             const std::vector<std::string_view>& names, std::size_t column) {
  for (const std::string_view name : names) {
    const auto named_row = row_of_name.find(name);
    if (named_row == row_of_name.end()) continue;
    const bool is_free = rows[named_row->second][column] == nullptr;
    if (is_free) return named_row->second;
  }
  return rows.size();
}

/// Returns the functions of all columns, one row for each. Two columns share a row if their
/// functions have a name in common: a function has other names if the linker folded equal functions
/// into one.
std::vector<FunctionByColumn> join_columns(const Columns& columns) {
  std::vector<FunctionByColumn> rows;
  RowOfName row_of_name;

  for (std::size_t column = 0; column < columns.sides.size(); ++column)
    for (const FunctionChange& function : columns.sides[column]->functions) {
      const std::vector<std::string_view> names = list_names(function);
      const std::size_t row = find_row_to_join(rows, row_of_name, names, column);
      const bool is_new_row = row == rows.size();
      if (is_new_row) rows.emplace_back(columns.sides.size());
      rows[row][column] = &function;
      // A name keeps the row that it already has.
      for (const std::string_view name : names) row_of_name.emplace(name, row);
    }

  return rows;
}

bool matches_any_name(const Pattern& pattern, const FunctionChange* change) {
  return change != nullptr &&
         (matches(pattern, change->name) ||
          std::ranges::any_of(change->other_names,
                              [&](const std::string& name) { return matches(pattern, name); }));
}

/// A function of all columns, with what decides its place in the table.
struct RankedFunction {
  double largest_difference = 0.0;
  bool is_certain = false;  ///< true: the difference is significant on at least one side
  bool has_own_value = false;
  std::string_view name{};
  FunctionByColumn columns{};
};

RankedFunction rank_function(FunctionByColumn columns) {
  RankedFunction ranked;
  for (const FunctionChange* change : columns) {
    if (change == nullptr) continue;
    ranked.has_own_value = ranked.has_own_value || change->has_own_value();
    ranked.largest_difference =
        std::max(ranked.largest_difference, std::fabs(change->difference()));
    ranked.is_certain = ranked.is_certain || change->is_certain();
    ranked.name = change->name;
  }
  ranked.columns = std::move(columns);
  return ranked;
}

/// Returns the pattern of the user; nullopt without one, or if it cannot be compiled.
std::optional<Pattern> compile_pattern(const FunctionChoice& wanted) {
  if (wanted.pattern.empty()) return std::nullopt;
  auto compiled = Pattern::compile(wanted.pattern, Pattern::Groups::NotNeeded);
  if (!compiled) return std::nullopt;
  return *std::move(compiled);
}

/// True if the function may get a row of its own: if it matches the pattern or, without a pattern,
/// if it differs.
bool is_eligible(const RankedFunction& function, const std::optional<Pattern>& pattern) {
  if (!pattern) return function.largest_difference != 0.0;
  return std::ranges::any_of(function.columns, [&](const FunctionChange* change) {
    return matches_any_name(*pattern, change);
  });
}

/// True if `a` stands above `b`. The largest difference comes first. Among equal ones, one that is
/// certain does, and then the name decides.
bool stands_above(const RankedFunction& a, const RankedFunction& b) {
  return std::tuple(-a.largest_difference, !a.is_certain, a.name) <
         std::tuple(-b.largest_difference, !b.is_certain, b.name);
}

/// Chooses the functions that get a row of their own: all that match the user's pattern or, without
/// a pattern, those with the largest differences. The others are counted, and share one row.
ChosenFunctions choose_functions(const Columns& columns, const FunctionChoice& wanted) {
  const std::optional<Pattern> pattern = compile_pattern(wanted);
  std::vector<RankedFunction> eligible;
  std::size_t count = 0;  // of the functions that are eligible or have a value
  for (FunctionByColumn& function : join_columns(columns)) {
    RankedFunction ranked = rank_function(std::move(function));
    const bool may_have_row = is_eligible(ranked, pattern);
    if (may_have_row || ranked.has_own_value) ++count;
    if (may_have_row) eligible.push_back(std::move(ranked));
  }
  std::ranges::stable_sort(eligible, stands_above);

  ChosenFunctions choice;
  const std::size_t rows = pattern ? eligible.size() : std::min(eligible.size(), wanted.most);
  for (std::size_t i = 0; i < rows; ++i) choice.rows.push_back(std::move(eligible[i].columns));
  choice.other_count = count - rows;
  return choice;
}

Ink choose_ink(const FunctionChange& change, Better better) {
  if (!change.is_certain()) return Ink::Dim;
  if (better == Better::Neither) return Ink::Plain;
  return (change.difference() > 0.0) == (better == Better::Less) ? Ink::Red : Ink::Green;
}

/// `marks_certain`: true: a difference that is certain has the mark kCertainMark.
Cell make_difference_cell(const FunctionChange& change, const Metric& metric, bool marks_certain) {
  Cell cell{.text = format_difference(change, metric),
            .ink = choose_ink(change, metric.better),
            .is_significant_delta = change.is_certain(),
            .sort_number = change.difference()};
  if (!change.own.half_width && change.own.certainty == Certainty::Unproven)
    cell.text += " (varies)";
  cell.text += describe_pairing(change);
  if (marks_certain && change.is_certain()) cell.text += kCertainMark;
  return cell;
}

std::string format_share(const FunctionChange& change, const MetricByFunction& side,
                         bool is_compared) {
  const double whole = is_compared ? side.mean_of_whole_reference : side.difference();
  if (whole == 0.0) return "";
  // Differences are not shares of the total's difference, which may be smaller than its noise, and
  // which, if it is negative, would give a function that grew a negative share.
  return is_compared ? signed_rough_percent(change.difference() / whole)
                     : fmt::format("{:.1f}%", 100.0 * change.difference() / whole);
}

/// A row below the functions. `totals`: one for each of Columns::sides.
struct TotalsRow {
  std::string name{};
  std::vector<FunctionChange> totals{};
};

/// Returns the metric of timed runs that covers what the samples do.
Role choose_comparable_time(const Metric& sampled) {
  const bool is_without_kernel =
      sampled.counted_privilege_levels == CountedPrivilegeLevels::UserOnly;
  return is_without_kernel ? Role::UserTime : Role::CpuTime;
}

/// Returns the total of one side in a metric of the timed runs; nullopt if it is unknown.
std::optional<FunctionChange> find_total_of_timed_runs(const Results& results,
                                                       const Columns& columns, std::size_t side,
                                                       std::size_t metric) {
  const std::size_t candidate = columns.sides[side]->candidate;
  const MetricResult* row = metric_result_of(results.commands[candidate], metric);
  if (row == nullptr || !row->mean()) return std::nullopt;
  FunctionChange total;
  total.own = {.candidate_mean = *row->mean(), .certainty = Certainty::Exact};
  if (!columns.is_compared) return total;

  const auto reference = result_of_reference(results, candidate, metric).mean();
  if (!reference) return std::nullopt;
  total.own.reference_mean = *reference;
  return total;
}

/// Returns the CPU time of the timed runs, which are not sampled. Sampling slows a program, so a
/// reader wants to compare this time with the total of the samples. Returns nullopt if the time of
/// any side is unknown.
std::optional<TotalsRow> collect_totals_of_timed_runs(const Results& results,
                                                      const Columns& columns,
                                                      const Metric& sampled) {
  const Role comparable_time = choose_comparable_time(sampled);
  const auto time_metric = find_metric(results.session.metrics, comparable_time);
  if (!time_metric) return std::nullopt;

  std::vector<FunctionChange> totals;
  for (std::size_t side = 0; side < columns.sides.size(); ++side) {
    auto total = find_total_of_timed_runs(results, columns, side, *time_metric);
    if (!total) return std::nullopt;
    totals.push_back(*std::move(total));
  }

  return TotalsRow{.name = fmt::format("({} of timed runs)", metric_name_of(comparable_time)),
                   .totals = std::move(totals)};
}

/// Returns the change of each side, which is empty if the side lacks the function. Not every side
/// has the function, so the first has the names of the last one that does.
std::vector<FunctionChange> list_changes(const FunctionByColumn& function) {
  std::vector<FunctionChange> changes;
  for (const FunctionChange* change : function) {
    changes.push_back(change != nullptr ? *change : FunctionChange{});
    if (change == nullptr) continue;
    changes.front().name = change->name;
    changes.front().other_names = change->other_names;
    changes.front().paired_by = change->paired_by;
  }
  return changes;
}

class TableMaker {
 public:
  /// Sets up the columns: the function, and for each side its reference and candidate and their
  /// difference or, if no commands are compared, its command.
  TableMaker(const Results& results, const Columns& columns, const Metric& metric)
      : results_(results), columns_(columns), metric_(metric) {
    table_.columns = {{.heading = {"function"},
                       .cell_content = CellContent::Code,
                       .is_left_aligned = true,
                       .cut = Cut::Middle}};
    // In a narrow terminal, the table first moves its columns together and cuts the names of the
    // functions, then gives up the values, and only then cuts the names further.
    table_.steps = {{.gap = 3, .min_cut_width = 60},
                    {.min_cut_width = 40},
                    {.last_omitted_part = OmittedPart::Values, .min_cut_width = 40},
                    {.last_omitted_part = OmittedPart::Values, .min_cut_width = 20}};
    table_.heading_ink = Ink::Bold;

    for (std::size_t i = 0; i < columns.sides.size(); ++i) {
      largest_differences_.push_back(find_largest_difference(*columns.sides[i]));
      add_columns_of(i);
    }
  }

  /// Makes the rows: the chosen functions, all others together, and the total. Also sets
  /// marks_certain(). May be called once.
  Table make(const ChosenFunctions& choice) {
    marks_certain_ = has_certain_and_uncertain(choice);
    for (const FunctionByColumn& function : choice.rows) add_function(function);

    const std::vector<FunctionChange> totals = list_totals();
    if (choice.other_count > 0)
      add_last(fmt::format("({})", plural(choice.other_count, "other function")),
               list_rests(totals, choice));
    add_last("(total)", totals);
    if (is_sampled_time(metric_))
      if (const auto timed = collect_totals_of_timed_runs(results_, columns_, metric_))
        add_last(timed->name, timed->totals);

    return std::move(table_);
  }

  /// True if the table marks the differences that are certain, because others are not.
  bool marks_certain() const { return marks_certain_; }

 private:
  bool has_certain_and_uncertain(const ChosenFunctions& choice) const {
    bool has_certain = false;
    bool has_uncertain = false;
    const auto note_certainty = [&](const auto& change) {
      if (change.difference() != 0.0) (change.is_certain() ? has_certain : has_uncertain) = true;
    };
    for (const FunctionByColumn& function : choice.rows)
      for (const FunctionChange* change : function) {
        if (change == nullptr) continue;
        note_certainty(*change);
        if (change->total) note_certainty(*change->total);
      }
    return columns_.is_compared && has_certain && has_uncertain;
  }

  /// Returns the whole of each side.
  std::vector<FunctionChange> list_totals() const {
    std::vector<FunctionChange> totals;
    for (const MetricByFunction* side : columns_.sides)
      totals.push_back({.own = {.reference_mean = side->mean_of_whole_reference,
                                .candidate_mean = side->mean_of_whole_candidate,
                                .certainty = Certainty::Exact}});
    return totals;
  }

  /// Returns what is left of the totals without the chosen functions.
  static std::vector<FunctionChange> list_rests(const std::vector<FunctionChange>& totals,
                                                const ChosenFunctions& choice) {
    std::vector<FunctionChange> rests = totals;
    for (const FunctionByColumn& function : choice.rows)
      for (std::size_t i = 0; i < function.size(); ++i) {
        if (function[i] == nullptr) continue;
        rests[i].own.reference_mean -= function[i]->own.reference_mean;
        rests[i].own.candidate_mean -= function[i]->own.candidate_mean;
      }
    for (std::size_t i = 0; i < rests.size(); ++i) drop_rounding_errors(totals[i], rests[i]);
    return rests;
  }

  bool has_totals(std::size_t side) const { return !columns_.sides[side]->paths.empty(); }

  /// Returns the cell with the share of a side. Its bar shows the difference in relation to the
  /// largest one of this side. That of a rest of functions may be larger.
  Cell make_share_cell(const FunctionChange& change, std::size_t side) const {
    Cell cell{.text = format_share(change, *columns_.sides[side], columns_.is_compared),
              .sort_number = change.difference()};
    if (largest_differences_[side] > 0.0)
      cell.bar_share = std::min(std::fabs(change.difference() / largest_differences_[side]), 1.0);
    return cell;
  }

  /// The time of a function with what it called, or the difference of the times.
  Cell make_total_cell(const FunctionChange& change, bool marks_certain) const {
    if (!change.total) return {};
    const MeanChange& total = *change.total;
    if (!columns_.is_compared)
      return {.text = quantity(total.candidate_mean, metric_), .sort_number = total.candidate_mean};
    return make_difference_cell({.own = total}, metric_, marks_certain);
  }

  const Command& reference_of(std::size_t side) const {
    return results_.reference_of(columns_.sides[side]->candidate);
  }

  bool has_reference(std::size_t side) const {
    return columns_.is_compared && (side == 0 || &reference_of(side) != &reference_of(side - 1));
  }

  static void drop_rounding_error(double total, double& rest) {
    if (stats::is_rounding_error(std::fabs(rest), std::fabs(total))) rest = 0.0;
  }

  /// Sets to 0 what should be 0, but is not because `rest` is what many subtractions left of
  /// `total`.
  static void drop_rounding_errors(const FunctionChange& total, FunctionChange& rest) {
    drop_rounding_error(total.own.reference_mean, rest.own.reference_mean);
    drop_rounding_error(total.own.candidate_mean, rest.own.candidate_mean);

    // The difference of two such rests may be a rounding error of the totals, too.
    double difference = rest.difference();
    drop_rounding_error(total.own.reference_mean, difference);
    if (difference == 0.0) rest.own.candidate_mean = rest.own.reference_mean;
  }

  void add_column(const std::string& name) {
    const std::string whole = one_line(name);
    const std::string shown = cut_middle(whole, kMaxFunctionWidth);
    table_.columns.push_back({.heading = {.text = shown, .whole_text = shown == whole ? "" : whole},
                              .cell_content = CellContent::Number,
                              .dropped_when_omitting = OmittedPart::Values,
                              .cut = Cut::Middle});
  }

  /// Adds the columns of one side.
  void add_columns_of(std::size_t side) {
    // Neighbouring sides with the same reference share its column.
    if (has_reference(side)) add_column(reference_of(side).name);
    add_column(results_.session.commands[columns_.sides[side]->candidate].name);
    const bool is_compared = columns_.is_compared;
    if (is_compared)
      table_.columns.push_back({.heading = {"difference"}, .cell_content = CellContent::Delta});
    table_.columns.push_back({.heading = {is_compared ? "of the reference" : "share"}});
    // Only sampled time has totals, which are the times of functions with what they called.
    if (has_totals(side))
      table_.columns.push_back(
          {.heading = {std::string(kTotalTime)},
           .cell_content = is_compared ? CellContent::Delta : CellContent::Number,
           .dropped_when_omitting = OmittedPart::Values});
  }

  /// Adds the row of a function. The cell has short names, and its tooltip has all of them.
  void add_function(const FunctionByColumn& function) {
    const std::vector<FunctionChange> changes = list_changes(function);
    Cell& name = add_row(shorten_names(changes.front()), changes, marks_certain_).front();
    name.whole_text = list_all_names(changes.front());
  }

  /// Adds a row with the cells of all columns, and returns it. `changes`: one for each side.
  TableRow& add_row(const std::string& name, std::span<const FunctionChange> changes,
                    bool marks_certain) {
    TableRow& row = table_.rows.emplace_back(TableRow{{name}});
    const auto add_value = [&](double value) {
      row.push_back({.text = quantity(value, metric_), .sort_number = value});
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const FunctionChange& change = changes[i];
      if (has_reference(i)) add_value(change.own.reference_mean);
      add_value(change.own.candidate_mean);
      if (columns_.is_compared) row.push_back(make_difference_cell(change, metric_, marks_certain));

      row.push_back(make_share_cell(change, i));
      if (has_totals(i)) row.push_back(make_total_cell(change, marks_certain));
    }
    return row;
  }

  /// Adds a row that stays at the end when a page sorts its rows.
  void add_last(const std::string& name, std::span<const FunctionChange> changes) {
    for (Cell& cell : add_row(name, changes, false)) {
      cell.sort_number.reset();
      cell.bar_share = 0.0;
      cell.is_significant_delta = false;
      cell.ink = Ink::Plain;
    }
  }

  const Results& results_;
  const Columns& columns_;
  const Metric& metric_;
  std::vector<double> largest_differences_{};  // of each side; the largest has the longest bar
  bool marks_certain_ = false;
  Table table_{};
};

/// Returns the label of the line of the largest certain difference, which says whether it explains
/// most of the whole change.
std::string_view label_largest_certain(const MetricByFunction& changes,
                                       const FunctionChange& largest_certain) {
  const double whole = changes.difference();
  const double share_of_whole = whole == 0.0 ? 0.0 : largest_certain.difference() / whole;
  if (share_of_whole >= 0.5) return "most of it";
  return changes.functions.front().is_certain() ? "the largest" : "certain";
}

/// A line about a function, and the function's difference as a share of the whole reference.
struct WeighedLine {
  double share_of_reference = 0.0;
  std::string text{};
};

/// Returns the lines about a candidate of a suite. The functions of one metric are enough to say
/// where a candidate changed.
std::vector<WeighedLine> weigh_function_lines(const Results& results, std::size_t candidate) {
  const auto metric_index = find_first_changed_metric(results, candidate);
  if (!metric_index) return {};
  const MetricByFunction* changes = find_changes(results, *metric_index, candidate);
  if (changes == nullptr || changes->mean_of_whole_reference <= 0.0) return {};

  const Metric& metric = results.session.metrics[*metric_index];
  std::vector<WeighedLine> lines;
  for (const FunctionChange* change : list_certain(*changes)) {
    const double size = std::fabs(change->difference());
    lines.push_back(
        {.share_of_reference = size / changes->mean_of_whole_reference,
         .text = fmt::format("{}: {} of {}", one_line(results.benchmark), one_line(metric.name),
                             write_function_line(*change, *changes, metric))});
  }
  return lines;
}

/// True if there are metrics with values by function, but --metrics has hidden all of them.
bool are_hidden(const Results& results, const std::vector<std::size_t>& metrics) {
  return !metrics.empty() && std::ranges::none_of(metrics, [&](std::size_t metric) {
    return results.session.metrics[metric].shown == Shown::Always;
  });
}

/// Returns which file of results has no functions, and what to do; empty if none is used.
std::string describe_file_without_functions(const Recording& session) {
  // If this session has functions, the session that it is compared with lacks them.
  const std::string* baseline = earlier_file(session);
  std::string file;
  if (baseline != nullptr && !session.function_tables.empty())
    file = "the baseline " + cited(*baseline);
  else if (!session.file.empty())
    file = cited(session.file);
  if (file.empty()) return "";

  return fmt::format(
      "there is no table of functions, because {} has none; measure it with --engine cachegrind "
      "or --profile",
      file);
}

}  // namespace

/// Explains a change of the metric by the functions that changed most, with a line for each. Only
/// functions whose difference is certain (significant) explain it, so there are no lines without
/// such a function.
std::string function_lines(const Results& results, std::size_t metric_index,
                           std::size_t candidate) {
  const MetricByFunction* changes = find_changes(results, metric_index, candidate);
  if (changes == nullptr) return "";
  const std::vector<const FunctionChange*> certain_changes = list_certain(*changes);
  if (certain_changes.empty()) return "";

  const Metric& metric = results.session.metrics[metric_index];
  std::string lines;
  const auto add_line = [&](std::string_view label, const FunctionChange& change) {
    lines += fmt::format("  {}: {}\n", label, write_function_line(change, *changes, metric));
  };

  // The functions are sorted by their differences. The first is named even if it is not certain, so
  // that nobody takes a smaller difference for the largest.
  const FunctionChange& largest = changes->functions.front();
  if (!largest.is_certain()) add_line("the largest, but not certain", largest);

  const FunctionChange& largest_certain = *certain_changes.front();
  add_line(label_largest_certain(*changes, largest_certain), largest_certain);
  for (const FunctionChange* change : std::span(certain_changes).subspan(1))
    add_line("also", *change);

  return lines;
}

std::string functions_of_failed_gate(const Results& results, const gate::Verdict& verdict) {
  if (verdict.answer != gate::Answer::Fail) return "";
  return function_lines(results, verdict.metric, verdict.candidate);
}

std::string function_summary(const Results& results) {
  if (function_metrics(results).empty()) return "";
  std::string text;
  const std::vector<std::size_t> candidates = find_candidates(results);
  for (const std::size_t candidate : candidates) {
    const std::string whose =
        candidates.size() > 1 ? " of " + one_line(results.session.commands[candidate].name) : "";
    const auto metric = find_first_changed_metric(results, candidate);
    if (!metric) text += write_no_certain_function_line(results, candidate, whose);
    if (!metric || is_told_below_gate(results, *metric, candidate)) continue;
    const std::string lines = function_lines(results, *metric, candidate);
    if (lines.empty()) continue;
    const MetricResult& row = *metric_result_of(results.commands[candidate], *metric);
    text += fmt::format("{}{} {}:\n{}", one_line(results.session.metrics[*metric].name), whose,
                        delta_text(*row.delta), lines);
  }
  return text;
}

/// Only functions whose difference is certain (significant) have a line. Benchmarks of a suite may
/// take very different times, so a difference is weighed as a share of the whole reference.
std::string largest_function_change_lines(const Report& suite) {
  std::vector<WeighedLine> weighed_lines;
  for (const Results& results : suite.benchmarks)
    for (const std::size_t candidate : find_candidates(results))
      std::ranges::move(weigh_function_lines(results, candidate),
                        std::back_inserter(weighed_lines));

  std::ranges::stable_sort(weighed_lines, std::greater<>(), &WeighedLine::share_of_reference);
  std::string lines;
  for (std::size_t i = 0; i < std::min(kMaxLines, weighed_lines.size()); ++i)
    lines += weighed_lines[i].text + "\n";
  return lines;
}

std::vector<FunctionSection> function_sections(const Results& results) {
  std::vector<FunctionSection> sections;
  const auto& wanted = results.presentation.functions;
  if (!wanted) return sections;
  for (const std::size_t m : function_metrics(results)) {
    const Metric& metric = results.session.metrics[m];
    if (metric.shown != Shown::Always) continue;
    const Columns columns = find_columns(results, m);
    if (columns.sides.empty()) continue;
    TableMaker maker(results, columns, metric);
    Table table = maker.make(choose_functions(columns, *wanted));
    const std::string_view legend = maker.marks_certain() ? " (*: certain)" : "";
    sections.push_back(
        {fmt::format("{} by function{}", one_line(metric.name), legend), std::move(table)});
    if (!results.presentation.compact_shows_all_metrics) break;
  }
  return sections;
}

/// Tells a user who asked for a table of functions (--functions) why there is none, and what to do
/// to get one. Gives the first reason that applies. Empty if the user did not ask.
std::string why_no_functions(const Results& results) {
  if (!results.presentation.functions) return "";

  const std::vector<std::size_t> metrics_with_functions = function_metrics(results);
  if (are_hidden(results, metrics_with_functions))
    return fmt::format("there is no table of functions, because --metrics leaves out {}",
                       results.session.metrics[metrics_with_functions.front()].name);

  const auto is_left_out_for_failures = [&](std::size_t metric) {
    return are_left_out_for_failures(results, metric);
  };
  if (std::ranges::any_of(metrics_with_functions, is_left_out_for_failures))
    return "there is no table of functions, because some runs failed, and functions of failed runs "
           "are not compared";

  if (std::string text = describe_file_without_functions(results.session); !text.empty())
    return text;
  return "there is no table of functions, because no simulated or sampled run has functions for "
         "both sides";
}

std::string function_text(const Results& results, const Style& style) {
  const std::vector<FunctionSection> sections = function_sections(results);
  std::string text;
  for (const FunctionSection& section : sections)
    text += "\n" + inked(section.title, Ink::Bold, style.color) + "\n" +
            terminal_text(section.table, style);
  const std::string why_not = sections.empty() ? why_no_functions(results) : "";
  return why_not.empty() ? text : "\n" + dim_note(why_not, style);
}

}  // namespace lauka::report

#pragma once

#include "core/record.h"
#include "core/session.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::report {

/// Returns "wall_time > 10%", "ipc < -5%", "peak_rss > 64MiB" or "keep if wall_time < -1%".
std::string condition_text(const Condition& condition);

std::pair<std::string_view, Ink> verdict_word(gate::Decision decision);

/// Returns the cell of a verdict: its answer, and usually its limit or what keeps the gate from
/// deciding.
Cell verdict_cell(const Results& results, const gate::Verdict& verdict);

/// Text that follows the line of an inconclusive verdict if the exit status is 0 in spite of it.
inline constexpr std::string_view kToleratedVerdictNote =
    " (exit status 0; --fail-if-inconclusive makes it 4)";

/// Returns the lines that explain a verdict below its own line: functions_of_failed_gate, or a note
/// about risen_wall_time; empty if there is nothing to explain.
std::string lines_below_gate(const Results& results, const gate::Verdict& verdict);

/// Returns a line for each verdict, with lines_below_gate. Many equal lines are one.
std::string gate_lines(const Results& results, bool color);

/// Returns the line about the session's place in its series (--series); empty without one.
std::string series_line(const Results& results);

/// Returns a line for each verdict, which begins with the benchmark's name, with lines_below_gate.
/// Many equal lines are one. `all`: false: leaves out gates that pass without
/// lines below.
std::string suite_gate_lines(const Report& suite, bool all, bool color);

/// Returns a line for each gated candidate that failed in every run.
std::vector<std::string> all_runs_failed_lines(const Report& report);

/// Returns the line of a verdict. `answer`: the answer in words; empty: the line has no answer.
std::string gate_line(const Results& results, const gate::Verdict& verdict,
                      const std::string& answer);

/// Returns lines about the effect of code placement as measured by --layouts; empty without
/// --layouts.
std::string layout_lines(const Results& results);

/// Returns the layout_lines of each benchmark, which begin with its name.
std::string suite_layout_lines(const Report& suite);

/// Returns advice to use --layouts, if a session without --layouts has a significant change of a
/// time that is small enough to come from code placement; else empty.
std::string layouts_advice_line(const Results& results);

/// True if the delta of the first layout differs from the delta of all layouts in direction or
/// significance, and would probably do so with as many runs as all layouts have.
bool is_misled_by_one_layout(const MetricResult& row);

/// Returns "more runs would not do, about 40 layouts would", or another text if `layouts` exceeds
/// kMaxLayouts.
std::string more_layouts_advice(std::size_t layouts);

/// Returns a line with the precision that was reached; empty without --precision.
std::string precision_line(const Results& results);

stats::Change to_change(const TunedChange& change);

std::string tuning_line(const std::vector<TunedComparison>& compared);

/// Returns lines with the time that the shell takes to start; empty if it was not measured.
std::string shell_start_time_lines(const Results& results);

/// The options that end runs which do not end by themselves, as far as a session may have them.
enum class AdviceToEndRuns : unsigned char {
  None,            ///< a timed run has ended, or the session has an option that ends its runs
  Timeout,         ///< --timeout
  TimeoutOrUntil,  ///< --timeout or --until
};

/// Returns lines for standard error on what ended a session early, with the last output of the run
/// or hook that failed. `advice`: for interrupted sessions. `width`: width in cells to
/// which messages are wrapped; 0: no limit.
std::string early_end_lines(const Session& session, const std::vector<std::string>& names,
                            AdviceToEndRuns advice, std::size_t width = 0);

std::string failed_build_lines(std::string_view what, const Outcome& outcome,
                               const std::string& output_end, std::size_t width = 0);

std::string counter_loss_line(const Command& command, const CounterLossFile& file);

/// Describes how a run ended: "exited with status 3", "was killed by SIGSEGV (core dumped)".
std::string outcome_text(const Outcome& outcome);

/// Explains in one line why a candidate is faster or slower: "7.50 ± 0.04x faster: 5.60 ± 0.02x
/// fewer instructions, the same clock (3.82 GHz)".
std::string why_text(const Results& results, const WallTimeExplanation& why);

std::string why_lines(const Results& results);

struct WhyTable {
  Table table{};
  std::vector<std::string> remarks{};
};

/// Returns a table with the explanations of several candidates; empty for a single candidate, or if
/// neither instructions nor cycles were counted.
WhyTable why_table(const Results& results);

/// Returns up to three lines with functions that certainly differ in a metric: "  most of it: parse
/// +34.2M (+2.9%)". Empty if there is no such function.
std::string function_lines(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns function_lines for a failed gate; empty for another answer.
std::string functions_of_failed_gate(const Results& results, const gate::Verdict& verdict);

/// Returns lines about the functions of each candidate, except lines that are already below a
/// failed gate.
std::string function_summary(const Results& results);

struct FunctionSection {
  std::string title;
  Table table;
};

/// Returns the tables of --functions; empty without --functions or without functions.
std::vector<FunctionSection> function_sections(const Results& results);

/// Returns up to three lines with the functions of a suite that certainly changed. The largest
/// changes, as a share of the reference's total, come first.
std::string largest_function_change_lines(const Report& suite);

/// Returns why --functions has no table; empty without --functions. Requires that there is no
/// table.
std::string why_no_functions(const Results& results);

/// Returns the tables of --functions as text, or why there is no table; empty without --functions.
std::string function_text(const Results& results, const Style& style);

struct WarningText {
  std::string_view kind;  ///< kind of warning, as a word for programs: "first_run_slow"
  std::string text;
  std::string advice;
  /// Form of `text` that fits all commands with the same warning.
  std::string text_for_all_commands{};
  /// Numbers of the command that text_for_all_commands lacks; may be empty.
  std::string command_figures{};
  /// Words that fit all warnings of the kind, if their text_for_all_commands or advice differ.
  struct OfKind {
    std::string text{};
    std::string advice{};
    std::string figures{};
  };
  OfKind of_kind{};
  std::string event{};        ///< event that the warning is about; usually empty
  bool has_own_line = false;  ///< true: never shares a line with other warnings of its kind
  std::optional<std::size_t> command_index{};  ///< index of the command; nullopt: several commands,
                                               ///< or the session
};

/// The side of a comparison that a message is about.
enum class DifferenceSide : unsigned char { Reference, Candidate };

/// Returns a difference as a predicate of `subject`: "nice value '5' instead of '0'", in which '5'
/// is the value of `subject`. Of a list, names at most one entry more than `most_entries`.
std::string difference_text(const SettingDifference& difference, DifferenceSide subject,
                            std::size_t most_entries = 5);

/// Returns all warnings in words, in the order of Results::warnings.
std::vector<WarningText> worded_warnings(const Results& results);

struct WarningLine {
  std::string text;
  std::string text_without_names;
  /// Kind of the warning, if benchmarks with warnings of this kind share a line; else empty.
  std::string_view kind{};
  std::string text_of_kind{};  ///< text that fits all warnings of the kind
};

/// AsFound: the order of Results::warnings. ByWeight: warnings about deltas come first.
enum class WarningOrder : unsigned char { AsFound, ByWeight };

/// Returns the warnings that `style` shows. Commands with warnings of one kind share a line.
std::vector<WarningLine> warning_lines(const Results& results, const Style& style,
                                       WarningOrder order);

}  // namespace lauka::report

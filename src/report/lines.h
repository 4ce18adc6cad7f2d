#pragma once

#include "core/condition.h"
#include "core/record.h"
#include "core/session.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <cstddef>
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

enum class ListedGates : unsigned char {
  All,
  AllButPlainPasses,  ///< leaves out gates that pass without lines below
};

/// Returns a line for each verdict, which begins with the benchmark's name, with lines_below_gate.
/// Many equal lines are one.
std::string suite_gate_lines(const Report& suite, ListedGates which, bool color);

/// Returns a line for each gated candidate that failed in every run.
std::vector<std::string> all_runs_failed_lines(const Report& report);

/// Returns the line of a verdict. `answer`: the answer in words; empty: the line has no answer.
std::string gate_line(const Results& results, const gate::Verdict& verdict,
                      const std::string& answer);

/// Returns the layout_lines of each benchmark, which begin with its name.
std::string suite_layout_lines(const Report& suite);

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

}  // namespace lauka::report

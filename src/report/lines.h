#pragma once

#include "core/record.h"
#include "report/style.h"
#include "report/table.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Lines of their own, below the tables and on standard error.

namespace lauka::report {

/// "wall_time > 10%", "ipc < -5%", "peak_rss > 64MiB".
std::string condition_text(const Condition& condition);

/// Returns a verdict in one word, and its ink.
std::pair<std::string_view, Ink> verdict_word(gate::Answer answer);

/// "fail: +10.6%, limit 2%": a gate's answer, measured value and limit, or what keeps it from
/// deciding; the answer alone if nothing could be measured.
Cell verdict_cell(const Results& results, const gate::Verdict& verdict);

/// Returns one line per verdict: condition, answer ("pass", "fail" or "inconclusive"), the delta
/// (of a bound, the value) and the rounds it rests on, and what would decide. The mean's change is
/// first if it decided or contradicts the typical round. With several candidates each line begins
/// with the candidate's name. Never cut: programs read these lines too.
std::string gate_lines(const Results& results, bool color);

/// Returns the last inconclusive verdict if the exit status is 0 in spite of it; null if not.
const gate::Verdict* last_passed_over(std::span<const Results> benchmarks);

/// Appended to the line of the verdict that last_passed_over returns.
inline constexpr std::string_view kPassedOver =
    " (exit status 0; --fail-if-inconclusive makes it 4)";

/// Returns a line for each gated command whose every run failed: why the exit status is 1.
std::vector<std::string> ruined_lines(const Report& report);

/// Returns one of them, with `answer` in words; without it if that is empty.
std::string gate_line(const Results& results, const gate::Verdict& verdict,
                      const std::string& answer);

/// Returns lines about the layouts of --layouts: the scatter that placement makes, what one layout
/// alone would have said if that is another answer, and the layouts left out. Empty without.
std::string layout_lines(const Results& results);

/// Returns a line if a significant change of times is so small that placement of code alone may be
/// its cause, as one build of each command cannot tell; else empty.
std::string placement_line(const Results& results);

/// True if the first layout alone would have been judged differently.
bool is_misled_by_one_layout(const MetricResult& row);

/// Says that more runs of the present layouts do not give an answer, and how many layouts would.
std::string more_layouts(std::size_t layouts);

/// Returns in one line the precision reached, or how far it came and what ended it. Empty if no
/// precision was requested.
std::string precision_line(const Results& results);

/// Returns a change found by --tune=compare, for display.
stats::Change to_change(const TunedChange& change);

/// Returns one line about tuning's changes; of several commands the geometric means.
std::string tuning_line(const std::vector<TunedComparison>& compared);

/// Returns a line for each time of the shell's start, which is subtracted; empty without a shell.
std::string shell_lines(const Results& results);

/// Returns why a session ended early, as a line for standard error, and below it, indented, the end
/// of a failed run's or hook's output; the same for hooks that failed after that. Empty if all went
/// well. `names`: of the commands. `has_run`: at least one run is in the results. lauka's own words
/// are broken at `width` cells (0: no limit).
std::string ending_lines(const Session& session, const std::vector<std::string>& names,
                         bool has_run, std::size_t width = 0);

/// Returns the line that a build (--build) failed, and below it, indented, the end of its output.
std::string failed_build_lines(std::string_view what, const Outcome& outcome,
                               const std::string& output_end, std::size_t width = 0);

/// Explains in one line, before its first run, why a command will have no counts.
std::string uncounted_line(const Command& command, const UncountedFile& file);

/// Describes how a run ended, as a predicate of the run: "exited with status 3", "was killed by
/// SIGSEGV (core dumped)".
std::string describe(const Outcome& outcome);

/// Returns the name of its runs: "warm-up", "counting", ...; empty: timed.
std::string_view kind_word(RoundKind kind);

/// Explains in one line why a candidate is faster or slower: "7.5x faster: 5.6x fewer instructions,
/// 1.35x more of them per cycle, the same clock (3.82 GHz), CPU busy 99% → 98%". Factors have their
/// intervals; those that may be 1 are left out.
std::string why_text(const Results& results, const Why& why);

/// Returns a line for each candidate, with its name if there are several; empty without factors.
std::string why_lines(const Results& results);

/// The explanations of several candidates: a row for each, and a column for each factor. Without
/// counts there is no table, only a remark.
struct WhyTable {
  Table table{};
  std::vector<std::string> remarks{};  ///< limits to what the counts mean, each once
};

/// Empty for a single candidate: its line is enough.
WhyTable why_table(const Results& results);

/// A warning in words, for the JSON and the lines below.
struct WordedWarning {
  std::string_view kind;  ///< kind for programs: "first_run_slow"
  std::string text;       ///< the observation, with numbers; no full stop
  std::string advice;     ///< advice to the user; no full stop
  std::string general{};  ///< text that all commands of this warning share; empty: the text itself
  std::string figure{};   ///< figures of one command, after `general`
  std::optional<std::size_t> command{};  ///< index of the command; nullopt: all commands
};

/// All of them, in the order of Results::warnings; also those of rows that the table leaves out.
std::vector<WordedWarning> worded_warnings(const Results& results);

/// A line about all commands that have the same kind of warning. `general` is its part that does
/// not name them, which other benchmarks may share.
struct WarningLine {
  std::string text;
  std::string general;
};

/// ByWeight: those about deltas and gates first.
enum class WarningOrder : unsigned char { AsFound, ByWeight };

/// Returns the warnings about what `style` shows.
std::vector<WarningLine> warning_lines(const Results& results, const Style& style,
                                       WarningOrder order);

}  // namespace lauka::report

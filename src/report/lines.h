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

// Single lines below the tables and on standard error.

namespace lauka::report {

/// Returns "wall_time > 10%", "ipc < -5%" or "peak_rss > 64MiB".
std::string condition_text(const Condition& condition);

/// Returns an answer in one word, and the ink of the word.
std::pair<std::string_view, Ink> verdict_word(gate::Answer answer);

/// Returns the cell of a verdict: "fail, limit 2%", or what keeps the gate from deciding; with the
/// measured value if it is not the row's delta; the answer alone if nothing could be measured.
Cell verdict_cell(const Results& results, const gate::Verdict& verdict);

/// Returns one line per verdict: condition, answer ("pass", "fail" or "inconclusive"), the delta
/// (or the value, if the limit is a value), the number of rounds, and what would decide. The mean's
/// change comes first if it decided, or contradicts the typical round. If there are several
/// candidates, each line begins with the candidate's name. functions_below follow a failed gate.
/// Lines are never cut, because programs read them, too.
std::string gate_lines(const Results& results, bool color);

/// Returns the last inconclusive verdict if the exit status is 0 in spite of it; else null.
const gate::Verdict* last_passed_over(std::span<const Results> benchmarks);

/// Text that is added to the line of the verdict from last_passed_over.
inline constexpr std::string_view kPassedOver =
    " (exit status 0; --fail-if-inconclusive makes it 4)";

/// Returns a line for each gated command that failed in every run, which makes the exit status 1.
std::vector<std::string> ruined_lines(const Report& report);

/// Returns a verdict's line with `answer` in words; without an answer if `answer` is empty.
std::string gate_line(const Results& results, const gate::Verdict& verdict,
                      const std::string& answer);

/// Returns lines about the layouts of --layouts: the scatter that placement causes, the answer that
/// the first layout alone would have given if it differs, and layouts that were left out. Empty
/// without layouts.
std::string layout_lines(const Results& results);

/// Returns a line if a significant change of times is so small that placement of code alone may
/// cause it, which one build of each command cannot exclude; else empty.
std::string placement_line(const Results& results);

/// True if the first layout alone would have given another answer.
bool is_misled_by_one_layout(const MetricResult& row);

/// Returns the advice that more runs of the present layouts give no answer, but `layouts` layouts
/// would; if that is too many, that not even the most would.
std::string more_layouts(std::size_t layouts);

/// Returns a line with the precision that was reached, or how far it came and what ended the
/// session. Empty if no precision was requested.
std::string precision_line(const Results& results);

/// Converts a change found by --tune=compare, for display.
stats::Change to_change(const TunedChange& change);

/// Returns a line about the changes that tuning made; for several commands, their geometric means.
std::string tuning_line(const std::vector<TunedComparison>& compared);

/// Returns a line for each time of the shell's start, which is subtracted; empty without a shell.
std::string shell_lines(const Results& results);

/// Returns lines for standard error on why a session ended early, with the end of a failed run's or
/// hook's output below, indented; then the same for hooks that failed afterwards. Empty if the
/// session did not end early. `names` are the commands'. `has_run`: the results have at least one
/// run. lauka's own words are broken at `width` cells (0: no limit).
std::string ending_lines(const Session& session, const std::vector<std::string>& names,
                         bool has_run, std::size_t width = 0);

/// Returns the line that a build (--build) failed, with the end of its output below, indented.
std::string failed_build_lines(std::string_view what, const Outcome& outcome,
                               const std::string& output_end, std::size_t width = 0);

/// Returns a line, shown before the first run, on why a command will have no counts.
std::string uncounted_line(const Command& command, const UncountedFile& file);

/// Describes how a run ended, as a predicate of the run: "exited with status 3", "was killed by
/// SIGSEGV (core dumped)".
std::string describe(const Outcome& outcome);

/// Returns a word for runs of this kind: "warm-up", "counting", ...; empty for timed runs.
std::string_view kind_word(RoundKind kind);

/// Explains in one line why a candidate is faster or slower: "7.5x faster: 5.6x fewer instructions,
/// 1.35x more of them per cycle, the same clock (3.82 GHz), CPU busy 99% → 98%". Shows factors with
/// their intervals; leaves out factors that may be 1, except the clock. Limits to what the counts
/// mean come last.
std::string why_text(const Results& results, const Why& why);

/// Returns why_text for each candidate, with its name if there are several; empty without
/// explanations.
std::string why_lines(const Results& results);

/// The explanations of several candidates: a row for each candidate, and a column for each factor.
/// Without counts both parts are empty.
struct WhyTable {
  Table table{};
  std::vector<std::string> remarks{};  ///< limits to what the counts mean, without duplicates
};

/// Returns the table; empty for a single candidate, for which why_lines is enough.
WhyTable why_table(const Results& results);

/// A warning in words, for the JSON and for warning_lines.
struct WordedWarning {
  std::string_view kind;  ///< kind for programs: "first_run_slow"
  std::string text;       ///< observation with its numbers, without a full stop
  std::string advice;     ///< advice to the user, without a full stop
  std::string general{};  ///< part of the text that all commands with this warning share; all of
                          ///< `text` unless it is given
  std::string figure{};   ///< numbers of one command, which follow `general`; may be empty
  std::optional<std::size_t> command{};  ///< index of the command; nullopt: all commands
};

/// Returns all warnings in words, in the order of Results::warnings; includes those about rows that
/// tables hide.
std::vector<WordedWarning> worded_warnings(const Results& results);

/// A line about all commands with the same kind of warning. `general` is the part that does not
/// name commands, so that other benchmarks may share it.
struct WarningLine {
  std::string text;
  std::string general;
};

/// AsFound: the order of Results::warnings. ByWeight: warnings about deltas and gates come first.
enum class WarningOrder : unsigned char { AsFound, ByWeight };

/// Returns the warnings about the rows that `style` shows.
std::vector<WarningLine> warning_lines(const Results& results, const Style& style,
                                       WarningOrder order);

}  // namespace lauka::report

#pragma once

#include "core/command.h"
#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

std::string counter_loss_line(const Command& command, const CounterLossFile& file);

/// A warning in words. Which of its texts is shown depends on the other warnings on its line.
struct WarningText {
  std::string_view kind;  ///< kind of warning, as a word for programs: "first_run_slow"

  /// Text of a line with this warning only: "the first run took 3.0 times the median of the
  /// others".
  std::string text;
  std::string advice;

  /// Replaces `text` on a line that several commands share if advice and this text are equal for
  /// all of them, so it has no figures: "the first run took longer than the other runs".
  std::string text_for_all_commands{};
  /// Shown beside the command's name on such a line: "3.0 times the median". May be empty.
  std::string command_figures{};

  /// What a shared line shows if its warnings have one kind, but different texts or advice: one
  /// command rose, another fell.
  struct OfKind {
    std::string text{};
    std::string advice{};
    std::string figures{};  ///< beside each command's name
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
std::vector<WarningText> make_warning_texts(const Results& results);

struct WarningLine {
  std::string text;
  std::string text_without_names;  ///< fits benchmarks whose lines differ in names or figures
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

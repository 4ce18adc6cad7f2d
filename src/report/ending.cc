#include "core/foreign_text.h"
#include "os/signals.h"
#include "report/describe.h"
#include "report/lines.h"
#include "report/width.h"

#include <array>
#include <sstream>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace lauka::report {
namespace {

std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines += "  | " + one_line(line) + "\n";
  return lines;
}

/// "run 3", "warm-up run 1".
std::string run_of(const Step& step) {
  const std::string_view kind = word_of(step.kind);
  return fmt::format("{}{}run {}", kind, kind.empty() ? "" : " ", step.round + 1);
}

/// What a program says with an exit status that is no failure.
struct Answer {
  std::string_view program;
  int status;
  std::string_view meaning;
};

constexpr auto kAnswers = std::to_array<Answer>({
    {"grep", 1, "no match"},
    {"egrep", 1, "no match"},
    {"fgrep", 1, "no match"},
    {"rg", 1, "no match"},
    {"diff", 1, "that the files differ"},
    {"cmp", 1, "that the files differ"},
});

/// "use -i to ignore failures", or what the status means to the program that `name` begins with.
std::string how_to_ignore(std::string_view name, const Outcome& outcome) {
  const std::string_view word = name.substr(0, name.find(' '));
  const std::string_view program = word.substr(word.rfind('/') + 1);
  const auto* const exited = std::get_if<Exited>(&outcome);
  for (const Answer& answer : kAnswers)
    if (exited != nullptr && answer.program == program && answer.status == exited->status)
      return fmt::format("{} means {} for {}: use -i={}", answer.status, answer.meaning,
                         answer.program, answer.status);
  return "use -i to ignore failures";
}

struct EndingWords {
  const std::vector<std::string>& names;
  std::size_t width;
  bool has_run;  ///< at least one run ended

  std::string message(const std::string& text) const { return wrapped_message(text, width); }

  std::string operator()(const RunFailed& failed) const {
    if (!failed.awaited.empty()) {
      return message(fmt::format("{} of {} {} before a line of its output matched --until {}{}",
                                 run_of(failed.step), cited(names.at(failed.step.command)),
                                 describe(failed.outcome), cited(failed.awaited),
                                 failed.error_output_end.empty() ? "; it wrote nothing"
                                                                 : "; what it wrote last:")) +
             indented(failed.error_output_end);
    }
    return message(
               fmt::format("{} of {} {}{}{}", run_of(failed.step),
                           cited(names.at(failed.step.command)), describe(failed.outcome),
                           failed.step.kind == RoundKind::Simulated
                               ? " under Valgrind; try it without --engine cachegrind"
                               : "",
                           can_be_ignored(failed.outcome)
                               ? "; " + how_to_ignore(names.at(failed.step.command), failed.outcome)
                               : std::string())) +
           indented(failed.error_output_end);
  }

  std::string operator()(const HookFailed& failed) const {
    std::string run;
    if (failed.step) {
      run = fmt::format(" ({} {})", row_of(failed.kind).undoes() ? "after" : "before",
                        run_of(*failed.step));
    }
    return message(fmt::format(
               "--{} of {}{} {}{}", row_of(failed.kind).name, cited(names.at(failed.command)), run,
               describe(failed.outcome),
               can_be_ignored(failed.outcome) ? "; append '|| true' to ignore that" : "")) +
           indented(failed.output_end);
  }

  std::string operator()(const Interrupted& interrupted) const {
    const std::string by = "interrupted by " + os::signal_name(interrupted.signal);
    if (has_run) return message(by);
    return message(fmt::format("{}; no timed run{} ended: use --timeout or --until", by,
                               names.size() == 1 ? " of " + cited(names.front()) : ""));
  }

  std::string operator()(const Error& error) const { return message(error.line()); }
};

}  // namespace

std::string ending_lines(const Session& session, const std::vector<std::string>& names,
                         std::size_t width) {
  const EndingWords words{names, width, !session.runs.empty()};
  std::string lines;
  if (session.cut_short) lines += std::visit(words, *session.cut_short);
  for (const HookFailed& failed : session.also_failed) lines += words(failed);
  return lines;
}

}  // namespace lauka::report

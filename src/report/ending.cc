#include "report/ending.h"

#include "report/describe.h"

#include <sstream>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace lauka::report {
namespace {

std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines += "  | " + line + "\n";
  return lines;
}

/// -i goes on after a run that ended by itself or was killed, not after one that never began or
/// would never end.
bool could_be_ignored(const Outcome& outcome) {
  return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome) ||
         std::holds_alternative<TimedOut>(outcome);
}

std::string_view kind_of(const RunFailed& failed) {
  if (failed.simulated) return "simulated ";
  return failed.step.warmup ? "warm-up " : "";
}

std::string_view name_of(HookKind kind) {
  switch (kind) {
    case HookKind::Setup:
      return "setup";
    case HookKind::Prepare:
      return "prepare";
    case HookKind::Conclude:
      return "conclude";
    case HookKind::Cleanup:
      break;
  }
  return "cleanup";
}

struct Teller {
  const std::vector<std::string>& names;

  std::string operator()(const RunFailed& failed) const {
    return fmt::format(
        "lauka: {}run {} of '{}' {}{}{}\n{}", kind_of(failed), failed.step.round + 1,
        names.at(failed.step.command), describe(failed.outcome),
        failed.simulated ? " under Valgrind; try it without --engine cachegrind" : "",
        could_be_ignored(failed.outcome) ? "; -i goes on all the same" : "",
        indented(failed.error_output_end));
  }

  std::string operator()(const HookFailed& failed) const {
    std::string run;
    if (failed.step) {
      run = fmt::format(" ({} {}run {})", failed.kind == HookKind::Prepare ? "before" : "after",
                        failed.step->warmup ? "warm-up " : "", failed.step->round + 1);
    }
    return fmt::format("lauka: --{} of '{}'{} {}{}\n{}", name_of(failed.kind),
                       names.at(failed.command), run, describe(failed.outcome),
                       could_be_ignored(failed.outcome)
                           ? "; where that is all right, write '|| true' behind it"
                           : "",
                       indented(failed.output_end));
  }

  std::string operator()(const Interrupted& interrupted) const {
    return fmt::format("lauka: interrupted by {}\n", signal_name(interrupted.signal));
  }

  std::string operator()(const Error& error) const {
    return fmt::format("lauka: {}\n", error.line());
  }
};

}  // namespace

std::string ending_lines(const Session& session, const std::vector<std::string>& names) {
  const Teller teller{names};
  std::string lines;
  if (session.cut_short) lines += std::visit(teller, *session.cut_short);
  for (const HookFailed& failed : session.also_failed) lines += teller(failed);
  return lines;
}

}  // namespace lauka::report

#include "report/describe.h"

#include "core/numbers.h"
#include "os/signals.h"
#include "report/format.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace lauka::report {

namespace {

std::string_view trouble_with(LaunchStep step) {
  switch (step) {
    case LaunchStep::OpenInput:
      return "its input cannot be opened: ";
    case LaunchStep::OpenOutput:
      return "its output cannot be opened: ";
    case LaunchStep::Fork:
      return "no process can be created: ";
    case LaunchStep::Prepare:
      return "its process cannot be set up: ";
    case LaunchStep::BecomeUser:
      return "it cannot be run as the user who called sudo: ";
    case LaunchStep::EnterFolder:
      return "its folder (--cwd) cannot be entered: ";
    case LaunchStep::Ask:
    case LaunchStep::Execute:
      break;
  }
  return "";
}

std::string killed(int survivor) {
  if (survivor == 0) return "was killed";
  return fmt::format("could not be killed: its process {} lives on", survivor);
}

struct OutcomeWords {
  std::string operator()(const Exited& end) const {
    return fmt::format("exited with status {}", end.status);
  }

  std::string operator()(const Signalled& end) const {
    return fmt::format("was killed by {}{}", os::signal_name(end.signal),
                       end.core_dumped ? " (core dumped)" : "");
  }

  std::string operator()(const TimedOut& end) const {
    const std::string limit = exact_duration(end.limit);
    if (!end.began) return fmt::format("waited longer than {} for the other end of a pipe", limit);
    return fmt::format("took longer than {} and {}", limit, killed(end.survivor));
  }

  std::string operator()(const Stopped& end) const {
    const bool terminal = end.signal == SIGTTIN || end.signal == SIGTTOU;
    return fmt::format("was stopped by {}: {}", os::signal_name(end.signal),
                       terminal ? "it wants the terminal, which commands run by lauka do not have"
                                : "nothing would have resumed it, so it " + killed(end.survivor));
  }

  std::string operator()(const NotStarted& end) const {
    if (end.step == LaunchStep::Ask) return "could not be started";
    const bool no_format = end.step == LaunchStep::Execute && end.error == ENOEXEC;
    return fmt::format(
        "could not be started: {}{}{}", trouble_with(end.step),
        std::generic_category().message(end.error),
        no_format ? "; a script needs a first line such as #!/bin/sh, or use -S" : "");
  }

  std::string operator()(const Cancelled& /*end*/) const {
    return "was killed because lauka was interrupted";
  }
};

}  // namespace

std::string_view word_of(RoundKind kind) {
  constexpr std::array<std::string_view, 5> names = {"warm-up", "", "counting", "simulated",
                                                     "settling"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string describe(const Outcome& outcome) {
  return std::visit(OutcomeWords{}, outcome);
}

}  // namespace lauka::report

#include "core/record.h"

#include <algorithm>

namespace lauka {
std::optional<int> shell_status(const Outcome& outcome) {
  constexpr int signal_base = 128;
  constexpr int sigkill = 9;
  if (std::holds_alternative<NotStarted>(outcome)) return std::nullopt;
  if (const auto* end = std::get_if<Exited>(&outcome)) return end->status;
  if (const auto* end = std::get_if<Signalled>(&outcome)) return signal_base + end->signal;
  if (const auto* end = std::get_if<Stopped>(&outcome)) return signal_base + end->signal;
  return signal_base + sigkill;  // TimedOut and Cancelled
}

bool is_listed_status(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored) {
  return ignored && has_exited_or_signalled(outcome) &&
         std::ranges::find(ignored->statuses, *shell_status(outcome)) != ignored->statuses.end();
}

Ending ending_of(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored) {
  if (succeeded(outcome) || is_listed_status(outcome, ignored)) return Ending::Succeeded;
  if (std::holds_alternative<Exited>(outcome)) return Ending::Failed;
  if (std::holds_alternative<TimedOut>(outcome)) return Ending::TimedOut;
  if (std::holds_alternative<Stopped>(outcome)) return Ending::Stopped;
  return std::holds_alternative<NotStarted>(outcome) ? Ending::NotStarted : Ending::Signalled;
}

}  // namespace lauka

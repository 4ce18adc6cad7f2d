#include "engine/valgrind/processes.h"

#include "core/numbers.h"
#include "core/text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine::valgrind {

namespace {

constexpr double kDoubtAllowed = 0.01;

constexpr std::size_t kMaxBytes = 40'000'000;
constexpr std::size_t kBytesOfNode = 64;

std::optional<std::uint64_t> parent_in(LineReader& log) {
  static constexpr std::string_view kLabel = "Parent PID: ";
  while (const auto line = log.next()) {
    const std::size_t at = line->find(kLabel);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line->substr(at + kLabel.size());
    return parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> value_of(const TotalsOfProcess& totals, const SimulatedEvent& event) {
  std::uint64_t sum = 0;
  for (const std::string_view part : event.tool_counts) {
    if (part.empty()) continue;
    const auto found = totals.values.find(part);
    if (found == totals.values.end()) return std::nullopt;
    sum += found->second;
  }
  return sum;
}

}  // namespace

ProcessCounts::ProcessCounts(Tool tool, std::span<const WantedEvent> wanted)
    : tool_(tool), wanted_(wanted) {
  for (const WantedEvent& count : wanted) {
    const auto found = std::ranges::find(events_, count.event);
    event_index_of_wanted_.push_back(static_cast<std::size_t>(found - events_.begin()));
    if (found == events_.end()) events_.push_back(count.event);
  }
}

void ProcessCounts::add(std::string_view name, Pieces pieces) {
  const auto parts = split(name, '.');
  const auto pid = parts.size() == 3 ? parse_number(parts[1]) : std::nullopt;
  if (!pid) return;
  Process& process = processes_[*pid];
  if (parts[0] == "log") {
    LineReader log(std::move(pieces));
    // If execve started the process's program, the log is the process's first file.
    process.was_started_by_execve = process.was_started_by_execve || parts[2] == "1";
    if (!log.next()) process.is_complete = false;
    if (const auto parent = parent_in(log)) process.parent = parent;
    return;
  }
  if (auto totals = read_counts(std::move(pieces)))
    process.totals.push_back(*std::move(totals));
  else
    process.is_complete = false;
}

std::optional<TotalsOfProcess> ProcessCounts::read_counts(Pieces pieces) {
  if (tool_ == Tool::Dhat) return read_dhat(std::move(pieces));
  last_counts_ = nullptr;
  return read_cachegrind(
      std::move(pieces),
      [this](const std::vector<std::string>& events) {
        events_of_tool_count_.assign(events.size(), {});
        for (std::size_t i = 0; i < events.size(); ++i)
          for (std::size_t e = 0; e < events_.size(); ++e)
            if (std::ranges::find(events_[e]->tool_counts, events[i]) !=
                events_[e]->tool_counts.end())
              events_of_tool_count_[i].push_back(e);
      },
      [this](std::string_view function, const std::vector<std::uint64_t>& counts) {
        add_line(function, counts);
      });
}

void ProcessCounts::add_line(std::string_view function, const std::vector<std::uint64_t>& counts) {
  if (has_too_many_functions()) return;
  if (last_counts_ == nullptr || function != last_function_) {
    last_function_ = function;
    auto [entry, is_new] = functions_.try_emplace(normalized_function(function), events_.size());
    last_counts_ = &entry->second;
    if (is_new)
      functions_bytes_ += kBytesOfNode + entry->first.size() + sizeof(*entry) +
                          events_.size() * sizeof(std::uint64_t);
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const std::size_t place : events_of_tool_count_[i]) (*last_counts_)[place] += counts[i];
}

/// Returns an upper bound for the part of a forked process's count that the parent counted, too.
std::uint64_t ProcessCounts::inherited_at_most(const TotalsOfProcess& totals,
                                               const Process& process,
                                               const SimulatedEvent& event) const {
  const std::uint64_t own = value_of(totals, event).value_or(0);
  const auto parent = process.parent ? processes_.find(*process.parent) : processes_.end();
  if (parent == processes_.end() || parent->second.totals.size() != 1) return own;
  const TotalsOfProcess& before = parent->second.totals.front();
  return before.command == totals.command ? std::min(own, value_of(before, event).value_or(own))
                                          : own;
}

ProcessCounts::Sum ProcessCounts::sum(const SimulatedEvent& event) const {
  Sum sum;
  for (const auto& [pid, process] : processes_) {
    for (const TotalsOfProcess& totals : process.totals) {
      const auto value = value_of(totals, event);
      sum.is_known = sum.is_known && value.has_value();
      sum.counted += value.value_or(0);
      if (!process.was_started_by_execve)
        sum.inherited += inherited_at_most(totals, process, event);
    }
  }
  return sum;
}

/// Returns the count of the process with the largest heap.
std::optional<std::uint64_t> ProcessCounts::count_in_largest_process(
    const SimulatedEvent& event) const {
  const TotalsOfProcess* largest = nullptr;
  const auto bytes = [](const TotalsOfProcess& totals) { return totals.values.find("gb")->second; };
  for (const auto& [pid, process] : processes_)
    for (const TotalsOfProcess& totals : process.totals)
      if (largest == nullptr || bytes(totals) > bytes(*largest)) largest = &totals;
  return largest == nullptr ? std::nullopt : value_of(*largest, event);
}

const TotalsOfProcess* ProcessCounts::process_without_allocations() const {
  if (tool_ != Tool::Dhat) return nullptr;
  for (const auto& [pid, process] : processes_)
    for (const TotalsOfProcess& totals : process.totals)
      if (totals.values.find("tbk")->second == 0) return &totals;
  return nullptr;
}

std::optional<Error> ProcessCounts::why_missing() const {
  const bool lost = std::ranges::any_of(
      processes_, [](const auto& entry) { return entry.second.totals.empty(); });
  if (processes_.empty() || lost)
    return Error{
        "not simulated to its end: a process was killed, still ran, or left Valgrind (as setuid "
        "programs do)",
        ""};
  if (const TotalsOfProcess* process = process_without_allocations())
    return Error{fmt::format("DHAT saw no allocation in the process {}: it makes none, or it has "
                             "an allocator that Valgrind does not replace (a static program's, or "
                             "one of its own)",
                             cited(process->command)),
                 "link it with the C library's shared allocator"};
  return std::nullopt;
}

void ProcessCounts::enter_count(std::size_t event, CountsOfRun& counted) const {
  std::optional<std::uint64_t> value;
  if (events_[event]->is_of_largest_process) {
    value = count_in_largest_process(*events_[event]);
  } else {
    const Sum sum = this->sum(*events_[event]);
    const double doubt = static_cast<double>(sum.inherited) / static_cast<double>(sum.counted);
    if (!sum.is_known) {
      counted.why_missing_counts =
          Error{"this version of Valgrind does not report all that is needed", ""};
      return;
    }
    if (sum.inherited > 0 && doubt > kDoubtAllowed) {
      counted.why_missing_counts = Error{
          "it works on in forked processes that never call execve, in which Valgrind counts again "
          "what their parent had counted",
          "measure them as commands of their own"};
      return;
    }
    value = sum.counted;
    if (sum.inherited > 0)
      counted.note = Note{NoteKind::SimulationInexact,
                          "simulated counts may be up to 1% too high: in forked processes Valgrind "
                          "counts again what their parent had counted"};
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    if (event_index_of_wanted_[i] == event)
      counted.counts[i] = wanted_[i].function.empty() ? value : 0;
}

void ProcessCounts::enter_wanted_functions(CountsOfRun& counted) const {
  std::vector<std::string> names;
  for (const WantedEvent& wanted : wanted_) names.push_back(wanted.function);
  const WantedFunctions wanted(names);
  for (const auto& [name, counts] : functions_)
    for (const std::size_t i : wanted.find(name))
      if (counted.counts[i]) *counted.counts[i] += counts[event_index_of_wanted_[i]];
  for (std::size_t i = 0; i < wanted_.size() && has_too_many_functions(); ++i)
    if (!names[i].empty()) counted.counts[i].reset();
}

void ProcessCounts::enter_functions(CountsOfRun& counted) {
  if (has_too_many_functions()) {
    counted.note = Note{NoteKind::FunctionsLeftOut, "has too many functions to count each"};
    return;
  }
  counted.functions.reserve(functions_.size());
  while (!functions_.empty()) {
    auto node = functions_.extract(functions_.begin());
    FunctionCounts function{std::move(node.key()), {}};
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (wanted_[i].function.empty())
        function.counts.push_back(node.mapped()[event_index_of_wanted_[i]]);
    counted.functions.push_back(std::move(function));
  }
}

bool ProcessCounts::has_too_many_functions() const {
  return functions_bytes_ > kMaxBytes;
}

CountsOfRun ProcessCounts::finish() {
  CountsOfRun counted{std::vector<std::optional<std::uint64_t>>(wanted_.size())};
  if (std::ranges::any_of(processes_,
                          [](const auto& entry) { return !entry.second.is_complete; })) {
    counted.session_error =
        Error{"Valgrind's output for a simulated run ends too early, or is malformed",
              "if the folder for temporary files is full, make room or set TMPDIR to another"};
    return counted;
  }
  counted.why_missing_counts = why_missing();
  if (counted.why_missing_counts) return counted;
  for (std::size_t e = 0; e < events_.size(); ++e) enter_count(e, counted);
  enter_wanted_functions(counted);
  if (!counted.why_missing_counts) enter_functions(counted);
  return counted;
}

}  // namespace lauka::engine::valgrind

#include "engine/cachegrind/cachegrind_engine.h"

#include "core/text.h"
#include "os/files.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine::cachegrind {

namespace {

constexpr std::array<SimulatedEvent, 6> kEvents = {{
    {"instructions", "instructions executed in user space", {"Ir", "", ""}, Model::Instructions},
    {"branches",
     "conditional and indirect branches in user space",
     {"Bc", "Bi", ""},
     Model::Branches},
    {"branch-misses",
     "branches that a simple predictor gets wrong",
     {"Bcm", "Bim", ""},
     Model::Branches},
    {"l1d-cache-misses",
     "data reads and writes that miss a first-level cache of 32 KiB, 8 ways, lines of 64 bytes",
     {"D1mr", "D1mw", ""},
     Model::Caches},
    {"l1i-cache-misses",
     "instruction reads that miss a first-level cache of the same size",
     {"I1mr", "", ""},
     Model::Caches},
    {"cache-misses",
     "reads and writes that miss a last-level cache of 8 MiB, 16 ways, lines of 64 bytes",
     {"ILmr", "DLmr", "DLmw"},
     Model::Caches},
}};

/// Counts that may be in a sum twice, as a part of it.
constexpr double kDoubtAllowed = 0.01;

/// Cachegrind's counts of one process, under its own names.
struct Counts {
  std::string command;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

struct Process {
  std::vector<Counts> counts;  ///< more than one only where its number was used again
  bool began_program = false;  ///< by execve
  bool is_complete = true;     ///< every file could be read to its end
  std::optional<std::uint64_t> parent{};
};

using Processes = std::map<std::uint64_t, Process>;

/// Returns nullopt if the file ends before its summary.
std::optional<Counts> counts_in(std::string_view text) {
  auto command = find_value(text, "cmd", ':');
  const auto names = find_value(text, "events", ':');
  // The last line. Searched from the end, since thousands of lines go before it.
  const std::size_t at = text.rfind("\nsummary:");
  if (!command || !names || at == std::string_view::npos) return std::nullopt;
  const auto totals = find_value(text.substr(at + 1), "summary", ':');
  const auto events = blank_separated(*names);
  const auto numbers = blank_separated(*totals);
  if (events.size() != numbers.size()) return std::nullopt;
  Counts counts{*std::move(command), {}};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto value = parse_number(numbers[i]);
    if (!value) return std::nullopt;
    counts.values.emplace(events[i], *value);
  }
  return counts;
}

/// "==12== Parent PID: 11".
std::optional<std::uint64_t> parent_in(std::string_view log) {
  static constexpr std::string_view kLabel = "Parent PID: ";
  const std::size_t at = log.find(kLabel);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = log.substr(at + kLabel.size());
  return parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
}

void enter(const OutputFile& file, Processes& processes) {
  const auto parts = split(file.name, '.');
  const auto pid = parts.size() == 3 ? parse_number(parts[1]) : std::nullopt;
  if (!pid) return;
  Process& process = processes[*pid];
  if (parts[0] == "log") {
    process.began_program = process.began_program || parts[2] == "1";
    if (file.text.empty()) process.is_complete = false;  // it begins before the program does
    if (const auto parent = parent_in(file.text)) process.parent = parent;
    return;
  }
  auto counts = counts_in(file.text);
  if (counts) {
    process.counts.push_back(*std::move(counts));
  } else {
    process.is_complete = false;
  }
}

/// Returns nullopt if Cachegrind did not write one of its parts.
std::optional<std::uint64_t> value_of(const Counts& counts, const SimulatedEvent& event) {
  std::uint64_t sum = 0;
  for (const std::string_view part : event.parts) {
    if (part.empty()) continue;
    const auto found = counts.values.find(part);
    if (found == counts.values.end()) return std::nullopt;
    sum += found->second;
  }
  return sum;
}

/// Returns how much of `counts` can be inherited: at most the parent's count if both ran the same
/// program, else all of it.
std::uint64_t inherited_at_most(const Counts& counts, const Process& process,
                                const Processes& processes, const SimulatedEvent& event) {
  const std::uint64_t own = value_of(counts, event).value_or(0);
  const auto parent = process.parent ? processes.find(*process.parent) : processes.end();
  if (parent == processes.end() || parent->second.counts.size() != 1) return own;
  const Counts& before = parent->second.counts.front();
  return before.command == counts.command ? std::min(own, value_of(before, event).value_or(own))
                                          : own;
}

struct Sum {
  std::uint64_t counted = 0;
  std::uint64_t inherited = 0;  ///< at most so much of it a second time
  bool is_known = true;
};

Sum sum_counts(const SimulatedEvent& event, const Processes& processes) {
  Sum sum;
  for (const auto& [pid, process] : processes) {
    for (const Counts& counts : process.counts) {
      const auto value = value_of(counts, event);
      sum.is_known = sum.is_known && value.has_value();
      sum.counted += value.value_or(0);
      if (!process.began_program)
        sum.inherited += inherited_at_most(counts, process, processes, event);
    }
  }
  return sum;
}

constexpr std::array<std::string_view, 3> kCaches = {"--I1=32768,8,64", "--D1=32768,8,64",
                                                     "--LL=8388608,16,64"};

/// Escapes %, which begins a pattern in the name of a file.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

class Simulating final : public Counting {
 public:
  Simulating(std::string valgrind, std::vector<const SimulatedEvent*> events,
             os::PrivateFolder folder)
      : valgrind_(std::move(valgrind)), events_(std::move(events)), folder_(std::move(folder)) {}

  std::size_t runs_at_once() const override { return 1; }

  std::vector<std::string> launched_as(const std::vector<std::string>& words) const override {
    return valgrind_words(valgrind_, folder_.path(), events_, words);
  }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    std::vector<OutputFile> files;
    for (const std::string& name : folder_.names()) {
      if (auto text = folder_.read(name)) files.push_back({name, *std::move(text)});
    }
    folder_.clear();
    if (!std::holds_alternative<Exited>(ended.outcome) &&
        !std::holds_alternative<Signalled>(ended.outcome)) {
      return {std::vector<std::optional<std::uint64_t>>(events_.size()),
              Error{"a simulated run did not end by itself", ""}};
    }
    return sum_counts(files, events_);
  }

 private:
  std::string valgrind_;
  std::vector<const SimulatedEvent*> events_;
  os::PrivateFolder folder_;
};

class CachegrindEngine final : public CounterEngine {
 public:
  CachegrindEngine(std::string valgrind, std::optional<User> user)
      : valgrind_(std::move(valgrind)), user_(std::move(user)) {}

  std::string_view name() const override { return row_of(EngineChoice::Cachegrind).name; }

  Catalog catalog() const override {
    Catalog catalog;
    for (const SimulatedEvent& event : simulated_events())
      catalog.push_back({std::string(event.name), std::string(event.name), "simulated",
                         std::string(event.meaning)});
    for (const AccountedEvent& event : accounted_events())
      catalog.push_back(make_catalog_entry(event));
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    simulated_.clear();
    accounted_.clear();
    std::vector<std::string> all;
    for (const SimulatedEvent& event : simulated_events()) all.emplace_back(event.name);
    EventSet set;
    set.passes.assign(
        {Pass{}, Pass{{}, RoundKind::Simulated}});  // the timed runs, and the simulated ones
    for (const std::string& name : wanted.names.empty() ? all : wanted.names) {
      if (const SimulatedEvent* simulated = find_simulated(name))
        add(*simulated, set);
      else if (const AccountedEvent* accounted = find_accounted(name))
        add_accounted(*accounted, name, accounted_, set);
      else
        return Error{fmt::format("'{}' cannot be simulated", name),
                     fmt::format("--engine cachegrind counts {}", listed(all))};
    }
    if (simulated_.empty()) set.passes.pop_back();
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (pass == 0) return count_free(accounted_);
    auto folder = os::PrivateFolder::create(user_);
    if (!folder) return folder.error();
    return std::unique_ptr<Counting>(
        std::make_unique<Simulating>(valgrind_, simulated_, *std::move(folder)));
  }

 private:
  void add(const SimulatedEvent& event, EventSet& set) {
    if (std::ranges::find(simulated_, &event) != simulated_.end()) return;
    simulated_.push_back(&event);
    set.passes[1].events.push_back(set.events.size());
    set.events.push_back({.name = std::string(event.name),
                          .meaning = fmt::format("{}, simulated by Cachegrind", event.meaning),
                          .simulated = true,
                          .levels = CountedLevels::UserOnly,
                          .role = role_of_event(event.name)});
  }

  std::string valgrind_;
  std::optional<User> user_;                      ///< owner of the simulation's files
  std::vector<const SimulatedEvent*> simulated_;  ///< the last selection
  std::vector<const AccountedEvent*> accounted_;
};

}  // namespace

std::span<const SimulatedEvent> simulated_events() {
  return kEvents;
}

const SimulatedEvent* find_simulated(std::string_view name) {
  for (const SimulatedEvent& event : kEvents)
    if (same_ignoring_case(name, event.name)) return &event;
  return nullptr;
}

Counted sum_counts(std::span<const OutputFile> files,
                   std::span<const SimulatedEvent* const> events) {
  Processes processes;
  for (const OutputFile& file : files) enter(file, processes);
  Counted counted{std::vector<std::optional<std::uint64_t>>(events.size())};
  const bool lost =
      std::ranges::any_of(processes, [](const auto& entry) { return entry.second.counts.empty(); });
  if (std::ranges::any_of(processes, [](const auto& entry) { return !entry.second.is_complete; })) {
    counted.failure =
        Error{"Valgrind's output for a simulated run is incomplete",
              "make room in the folder for temporary files, or set TMPDIR to another"};
    return counted;
  }
  if (processes.empty() || lost) {
    counted.missing = Error{
        "not simulated to its end: a process was killed, still ran, or left Valgrind (as setuid "
        "programs do)",
        ""};
    return counted;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Sum sum = sum_counts(*events[i], processes);
    const double doubt = static_cast<double>(sum.inherited) / static_cast<double>(sum.counted);
    if (!sum.is_known) {
      counted.missing = Error{"this version of Valgrind does not report all that is needed", ""};
    } else if (sum.inherited > 0 && doubt > kDoubtAllowed) {
      counted.missing = Error{
          "it works on in forked processes that never call execve, in which Cachegrind counts "
          "again what their parent had counted",
          "measure them as commands of their own"};
    } else {
      counted.counts[i] = sum.counted;
      if (sum.inherited > 0)
        counted.note = Note{NoteKind::SimulationInexact,
                            "simulated counts may be up to 1% too high: in forked processes "
                            "Cachegrind counts again what their parent had counted"};
    }
  }
  return counted;
}

std::unique_ptr<CounterEngine> make_cachegrind_engine(std::string valgrind,
                                                      std::optional<User> user) {
  return std::make_unique<CachegrindEngine>(std::move(valgrind), std::move(user));
}

std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const SimulatedEvent* const> events,
                                        const std::vector<std::string>& words) {
  const auto needs = [&](Model model) {
    return std::ranges::any_of(
        events, [model](const SimulatedEvent* event) { return event->model == model; });
  };
  const bool caches = needs(Model::Caches);
  // The user's ~/.valgrindrc and VALGRIND_OPTS are not meant for these runs.
  std::vector<std::string> all = {valgrind, "--command-line-only=yes", "--tool=cachegrind",
                                  "--trace-children=yes", "--vgdb=no"};
  all.emplace_back(caches ? "--cache-sim=yes" : "--cache-sim=no");
  if (caches) all.insert(all.end(), kCaches.begin(), kCaches.end());
  all.emplace_back(needs(Model::Branches) ? "--branch-sim=yes" : "--branch-sim=no");
  all.push_back(fmt::format("--log-file={}/{}", escaped(folder), kLogName));
  all.push_back(fmt::format("--cachegrind-out-file={}/{}", escaped(folder), kCountsName));
  all.emplace_back("--");
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace lauka::engine::cachegrind

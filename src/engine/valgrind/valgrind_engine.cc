#include "engine/valgrind/valgrind_engine.h"

#include "core/text.h"
#include "os/files.h"
#include "os/symbols.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lauka::engine::valgrind {

namespace {

constexpr std::array<SimulatedEvent, 10> kSimulatedEvents = {{
    {"instructions", "instructions executed in user space", Tool::Cachegrind, "Ir"},
    {"branches", "conditional and indirect branches in user space", Tool::Cachegrind, "Bc Bi",
     SimulatedPart::Branches},
    {"branch-misses", "branches that a simple predictor gets wrong", Tool::Cachegrind, "Bcm Bim",
     SimulatedPart::Branches},
    {"l1d-cache-misses",
     "data reads and writes that miss a first-level cache of 32 KiB, 8 ways, lines of 64 bytes",
     Tool::Cachegrind, "D1mr D1mw", SimulatedPart::Caches},
    {"l1i-cache-misses", "instruction reads that miss a first-level cache of the same size",
     Tool::Cachegrind, "I1mr", SimulatedPart::Caches},
    {"cache-misses",
     "reads and writes that miss a last-level cache of 8 MiB, 16 ways, lines of 64 bytes",
     Tool::Cachegrind, "ILmr DLmr DLmw", SimulatedPart::Caches},
    {"allocations", "blocks of the heap that were allocated; a realloc counts as one, too",
     Tool::Dhat, "tbk"},
    {"allocated_bytes", "total size of the allocated blocks, in bytes", Tool::Dhat, "tb",
     SimulatedPart::None, true},
    {"peak_heap", "the most bytes that the heap of one process held at any time", Tool::Dhat, "gb",
     SimulatedPart::None, true, true},
    {"peak_heap_blocks", "blocks at the moment of peak_heap", Tool::Dhat, "gbk",
     SimulatedPart::None, false, true},
}};

struct ToolRow {
  Tool tool;
  std::string_view name;
  std::string_view title;
  std::string_view output_option;
};

constexpr std::array<ToolRow, 2> kTools = {{
    {Tool::Cachegrind, "cachegrind", "Cachegrind", "--cachegrind-out-file"},
    {Tool::Dhat, "dhat", "DHAT", "--dhat-out-file"},
}};

const ToolRow& row_of(Tool tool) {
  return kTools.at(static_cast<std::size_t>(tool));
}

std::vector<Tool> list_tools(EngineChoice choice) {
  if (choice == EngineChoice::Cachegrind) return {Tool::Cachegrind};
  if (choice == EngineChoice::Dhat) return {Tool::Dhat};
  return {Tool::Cachegrind, Tool::Dhat};
}

// Fixed sizes make the counts of different machines comparable.
constexpr std::array<std::string_view, 3> kCacheOptions = {"--I1=32768,8,64", "--D1=32768,8,64",
                                                           "--LL=8388608,16,64"};

std::string escape_percent(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

Pieces read_file_in_pieces(os::Descriptor file) {
  constexpr std::size_t piece_bytes = 65536;
  auto kept_file = std::make_shared<os::Descriptor>(std::move(file));
  return [kept_file = std::move(kept_file), from = std::uint64_t{0},
          bytes = std::vector<char>(piece_bytes)]() mutable -> std::string_view {
    const std::size_t count = os::read_at(kept_file->get(), from, bytes);
    from += count;
    return {bytes.data(), count};
  };
}

class SimulatedPass final : public ArmedPass {
 public:
  /// `wanted`: not empty, all of one tool.
  SimulatedPass(std::string valgrind, std::vector<WantedEvent> wanted, os::PrivateFolder folder,
                std::optional<User> user)
      : valgrind_(std::move(valgrind)),
        wanted_(std::move(wanted)),
        folder_(std::move(folder)),
        user_(std::move(user)) {}

  std::size_t max_batch_size() const override { return 1; }

  std::vector<std::string> launched_as(const std::vector<std::string>& words) const override {
    return make_valgrind_words(valgrind_, folder_.path(), wanted_, words);
  }

  CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
    if (!has_exited_or_signalled(ended.outcome)) {
      folder_.clear();
      return {std::vector<std::optional<std::uint64_t>>(wanted_.size()),
              Error{"a simulated run did not end by itself", ""}};
    }
    ProcessCounts processes(wanted_.front().event->tool, wanted_, user_);
    for (const std::string& name : folder_.names())
      if (os::Descriptor file = folder_.open_file(name))
        processes.add_file(name, read_file_in_pieces(std::move(file)));
    folder_.clear();
    return processes.finish();
  }

 private:
  std::string valgrind_;
  std::vector<WantedEvent> wanted_;
  os::PrivateFolder folder_;
  std::optional<User> user_;
};

class ValgrindEngine final : public CounterEngine {
 public:
  ValgrindEngine(EngineChoice choice, std::string valgrind, std::optional<User> user)
      : choice_(choice),
        tools_(list_tools(choice)),
        valgrind_(std::move(valgrind)),
        user_(std::move(user)) {}

  std::string_view name() const override { return lauka::row_of(choice_).name; }

  Catalog catalog() const override {
    Catalog catalog;
    for (const SimulatedEvent& event : simulated_events())
      if (has_tool_of(event))
        catalog.push_back({std::string(event.name), std::string(event.name), "simulated",
                           std::string(event.meaning)});
    add_to_catalog(accounted_events(), catalog);
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    wanted_.clear();
    accounted_.clear();
    std::vector<std::string> all;
    for (const SimulatedEvent& event : simulated_events())
      if (has_tool_of(event)) all.emplace_back(event.name);
    EventSet set;
    set.passes.emplace_back();  // pass of the timed runs
    for (const std::string& name : wanted.names.empty() ? all : wanted.names)
      if (auto added = add_event(name, all, set); !added) return added.error();
    wanted_by_pass_.clear();
    for (const Tool tool : tools_) add_pass(tool, set);
    return set;
  }

  Result<OwnedPass> arm(std::size_t pass) override {
    if (pass == 0) return make_accounting_pass(accounted_);
    auto folder = os::PrivateFolder::create(user_);
    if (!folder) return folder.error();
    return OwnedPass(std::make_unique<SimulatedPass>(valgrind_, wanted_by_pass_.at(pass - 1),
                                                     *std::move(folder), user_));
  }

 private:
  bool has_tool_of(const SimulatedEvent& event) const {
    return std::ranges::find(tools_, event.tool) != tools_.end();
  }

  Result<void> add_event(const std::string& name, const std::vector<std::string>& all,
                         EventSet& set) {
    const std::size_t at = name.find(kFunctionSeparator);
    const SimulatedEvent* simulated = find_simulated(name.substr(0, at));
    if (simulated != nullptr && has_tool_of(*simulated) && at == std::string::npos) {
      add_simulated({simulated}, set);
    } else if (simulated != nullptr && simulated->tool == Tool::Cachegrind &&
               has_tool_of(*simulated) && at + 1 < name.size()) {
      add_simulated({simulated, name.substr(at + 1)}, set);
    } else if (const AccountedEvent* accounted = find_accounted(name)) {
      if (add_accounted(*accounted, name, accounted_, set) != nullptr) wanted_.push_back({nullptr});
    } else {
      return Error{fmt::format("{} cannot be simulated", cited(name)),
                   fmt::format("--engine {} counts {}", this->name(), listed(all))};
    }
    return {};
  }

  void add_simulated(WantedEvent wanted, EventSet& set) {
    const SimulatedEvent& event = *wanted.event;
    Event added{
        .name = std::string(event.name),
        .meaning = fmt::format("{}, simulated by {}", event.meaning, row_of(event.tool).title),
        .simulated = true,
        .is_bytes = event.is_bytes,
        .privilege_levels = CountedPrivilegeLevels::UserOnly};
    if (wanted.function.empty()) {
      added.role = role_of_event(event.name);
    } else {
      added.name += kFunctionSeparator + wanted.function;
      added.meaning = fmt::format("in the function {}: {}", wanted.function, added.meaning);
      added.only_function = wanted.function = normalized_function(wanted.function);
    }
    if (std::ranges::find(set.events, added.name, &Event::name) != set.events.end()) return;
    set.events.push_back(std::move(added));
    wanted_.push_back(std::move(wanted));
  }

  void add_pass(Tool tool, EventSet& set) {
    Pass pass{{}, RoundKind::Simulated};
    std::vector<WantedEvent> wanted;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].event == nullptr || wanted_[i].event->tool != tool) continue;
      pass.event_indices.push_back(i);
      wanted.push_back(wanted_[i]);
    }
    if (wanted.empty()) return;
    set.passes.push_back(std::move(pass));
    wanted_by_pass_.push_back(std::move(wanted));
  }

  EngineChoice choice_;
  std::vector<Tool> tools_;
  std::string valgrind_;
  std::optional<User> user_;
  std::vector<WantedEvent> wanted_;
  std::vector<std::vector<WantedEvent>> wanted_by_pass_;  ///< by index of the simulated pass
  std::vector<const AccountedEvent*> accounted_;
};

}  // namespace

std::span<const SimulatedEvent> simulated_events() {
  return kSimulatedEvents;
}

const SimulatedEvent* find_simulated(std::string_view name) {
  for (const SimulatedEvent& event : kSimulatedEvents)
    if (same_ignoring_case(name, event.name)) return &event;
  return nullptr;
}

OwnedEngine make_valgrind_engine(EngineChoice choice, std::string valgrind,
                                 std::optional<User> user) {
  return std::make_unique<ValgrindEngine>(choice, std::move(valgrind), std::move(user));
}

namespace {

/// Returns the options of Cachegrind that let it simulate what the wanted events need.
std::vector<std::string> make_cachegrind_options(std::span<const WantedEvent> wanted) {
  const auto does_any_need = [&wanted](SimulatedPart part) {
    return std::ranges::any_of(wanted, [part](const WantedEvent& selected) {
      return selected.event->simulated_part == part;
    });
  };

  // Each part makes runs slower.
  const bool needs_caches = does_any_need(SimulatedPart::Caches);
  const bool needs_branches = does_any_need(SimulatedPart::Branches);
  std::vector<std::string> options = {needs_caches ? "--cache-sim=yes" : "--cache-sim=no"};
  if (needs_caches) options.insert(options.end(), kCacheOptions.begin(), kCacheOptions.end());
  options.emplace_back(needs_branches ? "--branch-sim=yes" : "--branch-sim=no");

  // If lauka can read symbols, it finds all names of a function itself. For this, it needs the
  // symbols as they are in the files, and the names of these files, which -v adds to the log.
  if (os::can_read_symbols()) options.insert(options.end(), {"--demangle=no", "-v"});
  return options;
}

}  // namespace

/// Makes the words of the command line by which a tool of Valgrind simulates `command`, and counts
/// the wanted events.
std::vector<std::string> make_valgrind_words(const std::string& valgrind, const std::string& folder,
                                             std::span<const WantedEvent> wanted,
                                             const std::vector<std::string>& command) {
  // All wanted events are of one tool.
  const ToolRow& tool = row_of(wanted.front().event->tool);

  // The user's own settings in ~/.valgrindrc and VALGRIND_OPTS are not meant for these runs, so
  // only this command line counts. No debugger will ask for Valgrind's server (vgdb).
  std::vector<std::string> words = {valgrind, "--command-line-only=yes",
                                    fmt::format("--tool={}", tool.name), "--trace-children=yes",
                                    "--vgdb=no"};
  if (tool.tool == Tool::Cachegrind) {
    const std::vector<std::string> options = make_cachegrind_options(wanted);
    words.insert(words.end(), options.begin(), options.end());
  }

  // In these options, Valgrind gives a meaning to %, so it is escaped in the folder's name.
  words.push_back(fmt::format("--log-file={}/{}", escape_percent(folder), kLogName));
  words.push_back(fmt::format("{}={}/{}", tool.output_option, escape_percent(folder), kCountsName));

  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace lauka::engine::valgrind

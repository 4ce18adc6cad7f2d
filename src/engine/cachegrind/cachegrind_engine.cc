#include "engine/cachegrind/cachegrind_engine.h"

#include "core/text.h"
#include "engine/accounting.h"
#include "engine/cachegrind/output_files.h"
#include "os/files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine::cachegrind {
namespace {

constexpr std::array<std::string_view, 3> kCaches = {"--I1=32768,8,64", "--D1=32768,8,64",
                                                     "--LL=8388608,16,64"};

/// In the name of a file Valgrind takes % for the beginning of a pattern.
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
    return sum_of(files, events_);
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
      catalog.push_back(catalog_entry_of(event));
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override;

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (pass == 0) {
      std::vector<FreeReader> readers;
      for (const AccountedEvent* event : accounted_) readers.push_back(reader_of(event->read));
      return count_free(std::move(readers));
    }
    auto folder = os::PrivateFolder::create(user_);
    if (!folder) return folder.error();
    return std::unique_ptr<Counting>(
        std::make_unique<Simulating>(valgrind_, simulated_, *std::move(folder)));
  }

 private:
  Result<void> take(const std::string& name, EventSet& set);
  void add(const SimulatedEvent& event, EventSet& set);

  std::string valgrind_;
  std::optional<User> user_;                      ///< whose files the simulation writes
  std::vector<const SimulatedEvent*> simulated_;  ///< what was selected last
  std::vector<const AccountedEvent*> accounted_;
};

void CachegrindEngine::add(const SimulatedEvent& event, EventSet& set) {
  simulated_.push_back(&event);
  set.passes[1].events.push_back(set.events.size());
  set.events.push_back({.name = std::string(event.name),
                        .meaning = fmt::format("{}, simulated by Cachegrind", event.meaning),
                        .simulated = true,
                        .role = role_of_event(event.name)});
}

Result<void> CachegrindEngine::take(const std::string& name, EventSet& set) {
  const auto is_new = [](const auto& taken, const auto* event) {
    return std::ranges::find(taken, event) == taken.end();
  };
  if (const SimulatedEvent* event = find_simulated(name)) {
    if (is_new(simulated_, event)) add(*event, set);
    return {};
  }
  if (const AccountedEvent* event = find_accounted(name)) {
    if (!is_new(accounted_, event)) return {};
    accounted_.push_back(event);
    set.passes[0].events.push_back(set.events.size());
    set.events.push_back({lower_case(name), std::string(event->meaning)});
    return {};
  }
  std::vector<std::string> names;
  for (const SimulatedEvent& event : simulated_events()) names.emplace_back(event.name);
  return Error{fmt::format("'{}' cannot be simulated", name),
               fmt::format("--engine cachegrind counts {}", listed(names))};
}

Result<EventSet> CachegrindEngine::select(const EventRequest& wanted) {
  simulated_.clear();
  accounted_.clear();
  EventSet set;
  set.passes.assign(
      {Pass{}, Pass{{}, RoundKind::Simulated}});  // the timed runs, and the simulated ones
  for (const std::string& name : wanted.names) {
    if (auto taken = take(name, set); !taken) return taken.error();
  }
  if (wanted.names.empty()) {
    for (const SimulatedEvent& event : simulated_events()) add(event, set);
  }
  if (simulated_.empty()) set.passes.pop_back();
  return set;
}

}  // namespace

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
  // What the user keeps in ~/.valgrindrc and VALGRIND_OPTS is not meant for these runs.
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

#include "core/text.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/selection.h"
#include "engine/perf/resolve.h"
#include "engine/valgrind/processes.h"
#include "engine/valgrind/valgrind_engine.h"
#include "fakes/fake_perf.h"
#include "fuzz/targets.h"
#include "os/sysfs.h"

#include <algorithm>
#include <string>

// Texts of the kernel, Apple and Valgrind about events and counts.

namespace lauka::fuzz {

void events(std::string_view bytes) {
  fakes::FakePerf perf;
  add_usual_terms(perf);
  const os::Sysfs sysfs(perf.calls());
  const auto resolved = engine::perf::resolve(bytes, sysfs);
  if (!resolved) return require(!resolved.error().what.empty());
  require(!resolved->name.empty() && !resolved->events_on_pmus.empty());
}

void sysfs(std::string_view bytes) {
  const auto parts = parts_of(bytes);
  if (parts.size() < 5) return;
  fakes::FakePerf perf;
  add_usual_terms(perf);
  const std::string folder = "/sys/bus/event_source/devices/cpu/";
  perf.files[folder + "type"] = parts[0];
  perf.files[folder + "cpus"] = parts[1];
  perf.files[folder + "format/term"] = parts[2];
  perf.files[folder + "events/it"] = parts[3];
  const os::Sysfs described(perf.calls());
  for (const auto& pmu : described.all_pmus())
    for (const std::string& event : described.events(pmu))
      static_cast<void>(described.encode(pmu, event));
  const auto pmu = described.find("cpu");
  if (!pmu) return;
  static_cast<void>(described.read_terms(*pmu, parts[4]));
  static_cast<void>(described.encode(*pmu, parts[4]));
  if (const auto format = os::parse_format(parts[2])) {
    for (const auto& bits : format->bits) require(bits.low <= bits.high && bits.high < 64);
    os::EventCode code;
    static_cast<void>(put(code, *format, ~std::uint64_t{0}));
    require(put(code, *format, 0));
  }
}

void plist(std::string_view bytes) {
  const auto root = engine::kperf::read_plist(bytes);
  if (!root) return require(!root.error().what.empty());
  const auto database = engine::kperf::kpep_from(*root);
  if (!database) return require(!database.error().what.empty());
  constexpr engine::kperf::CounterMask all = 0x3fc;
  static_cast<void>(engine::kperf::select_events(*database, {}, {all}));
  EventRequest wanted;
  for (std::size_t i = 0; i < std::min<std::size_t>(database->events.size(), 8); ++i)
    wanted.names.push_back(database->events[i].name);
  static_cast<void>(engine::kperf::select_events(*database, wanted, {all}));
}

namespace {

/// Reads the files of a run of `tool`: parts of `bytes`, a name and a text each.
void read_run(engine::valgrind::Tool tool, std::string_view bytes) {
  using namespace engine::valgrind;
  std::vector<WantedEvent> wanted;
  for (const SimulatedEvent& event : simulated_events())
    if (event.tool == tool) wanted.push_back({&event});
  if (tool == Tool::Cachegrind) wanted.push_back({find_simulated("instructions"), "main"});
  ProcessCounts processes(tool, wanted);
  const auto parts = parts_of(bytes);
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
    processes.add_file(parts[i], pieces_of(std::string(parts[i + 1])));
  const auto counted = processes.finish();
  require(counted.counts.size() == wanted.size());
  const bool complete = std::all_of(counted.counts.begin(), counted.counts.end(),
                                    [](const auto& count) { return count.has_value(); });
  require(complete || counted.why_missing_counts || counted.session_error || counted.redo);
  std::uint64_t sum = 0;
  if (!counted.functions) return;
  for (const FunctionCounts& function : *counted.functions) sum += function.counts.at(0);
  // An event that could not be counted has no table of functions.
  require(counted.functions->empty() || !counted.counts[0] || sum == counted.counts[0]);
}

}  // namespace

void cachegrind(std::string_view bytes) {
  read_run(engine::valgrind::Tool::Cachegrind, bytes);
}

void dhat(std::string_view bytes) {
  read_run(engine::valgrind::Tool::Dhat, bytes);
}

}  // namespace lauka::fuzz

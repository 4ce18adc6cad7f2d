#include "engine/perf/catalog.h"

#include "engine/perf/known_events.h"
#include "os/perf_abi.h"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace lauka::engine::perf {
namespace {

std::string described(const Resolved& resolved, const Source& source) {
  if (source.accounted != nullptr) return source.event.meaning;
  std::string text = resolved.description;
  if (resolved.known != nullptr && resolved.parts.size() == 1 &&
      !resolved.parts.front().encoding.empty())
    text += fmt::format(" ({})", resolved.parts.front().encoding);
  return text;
}

void add(Catalog& catalog, const std::string& name, const Sysfs& sysfs, const Prober& prober) {
  const auto resolved = resolve(name, sysfs);
  if (!resolved) return;
  const auto source = prober.probe(*resolved);
  if (!source) return;
  const std::string alias = resolved->known != nullptr ? resolved->known->alias : "";
  catalog.push_back(
      {resolved->own_name, alias, counters_in_words(*source), described(*resolved, *source)});
}

void add_known(Catalog& catalog, bool software, const Sysfs& sysfs, const Prober& prober) {
  for (const KnownEvent& event : known_events())
    if (event.alias.empty() && (event.type == os::kPerfTypeSoftware) == software)
      add(catalog, event.name, sysfs, prober);
}

}  // namespace

std::string counters_in_words(const Source& source) {
  std::string words;
  for (const Counter& counter : source.counters) words += (words.empty() ? "" : ", ") + counter.pmu;
  return words.empty() ? "accounting" : words;
}

Catalog catalog_of(const Sysfs& sysfs, const Prober& prober) {
  Catalog catalog;
  for (const KnownEvent& event : known_events())
    if (!event.alias.empty()) add(catalog, event.alias, sysfs, prober);
  add_known(catalog, false, sysfs, prober);
  for (const Pmu& pmu : sysfs.all_pmus()) {
    if (pmu.kind == PmuKind::PerPackage) continue;
    for (const std::string& event : sysfs.events(pmu))
      add(catalog, fmt::format("{}/{}/", pmu.name, event), sysfs, prober);
  }
  add_known(catalog, true, sysfs, prober);
  return catalog;
}

}  // namespace lauka::engine::perf

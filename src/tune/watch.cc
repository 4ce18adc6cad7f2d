#include "tune/watch.h"

#include "core/machine.h"
#include "core/text.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lauka::tune {
namespace {

/// "cpu1 user nice system idle iowait irq softirq steal ...", in ticks.
void add_ticks(std::string_view line, Vitals& vitals) {
  constexpr std::size_t steal = 8;
  const auto words = blank_separated(line);
  if (words.size() <= steal) return;
  for (std::size_t i = 1; i <= steal; ++i)
    vitals.ticks = vitals.ticks.value_or(0) + parse_number(words[i]).value_or(0);
  vitals.stolen_ticks = vitals.stolen_ticks.value_or(0) + parse_number(words[steal]).value_or(0);
}

}  // namespace

Vitals read_vitals(os::SettingFiles& files, std::vector<std::uint32_t> cpus) {
  constexpr double per_degree = 1000.0;
  const std::string folder = "/sys/devices/system/cpu/";
  const auto number_in = [&](const std::string& path) {
    const auto text = files.read(path);
    return text ? parse_number(trimmed(*text)) : std::nullopt;
  };
  if (cpus.empty())
    cpus = parse_cpu_list(files.read(folder + "online").value_or("")).value_or(cpus);
  Vitals vitals;
  const std::string stat = files.read("/proc/stat").value_or("");
  const auto lines = split(stat, '\n');
  for (const std::uint32_t cpu : cpus) {
    for (const char* const of : {"core", "package"})
      if (const auto count =
              number_in(fmt::format("{}cpu{}/thermal_throttle/{}_throttle_count", folder, cpu, of)))
        vitals.throttles = vitals.throttles.value_or(0) + *count;
    const std::string name = fmt::format("cpu{} ", cpu);
    const auto line =
        std::ranges::find_if(lines, [&](std::string_view one) { return one.starts_with(name); });
    if (line != lines.end()) add_ticks(*line, vitals);
  }
  const std::string zones = "/sys/devices/virtual/thermal";
  for (const std::string& zone : files.list(zones)) {
    if (!zone.starts_with("thermal_zone")) continue;
    const auto millidegrees = number_in(fmt::format("{}/{}/temp", zones, zone));
    if (millidegrees)
      vitals.celsius =
          std::max(vitals.celsius.value_or(0.0), static_cast<double>(*millidegrees) / per_degree);
  }
  return vitals;
}

}  // namespace lauka::tune

#include "core/foreign_text.h"
#include "core/metric.h"
#include "core/text.h"
#include "report/format.h"
#include "report/lines.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

bool are_equal(const ShellOverhead& a, const ShellOverhead& b) {
  return a.wall_ns == b.wall_ns && a.user_ns == b.user_ns && a.system_ns == b.system_ns;
}

std::string time(std::uint64_t nanoseconds) {
  return quantity(static_cast<double>(nanoseconds) * 1e-9, Unit::Seconds);
}

}  // namespace

std::string shell_lines(const Results& results) {
  std::string lines;
  for (std::size_t i = 0; i < results.overheads.size(); ++i) {
    const ShellOverhead& overhead = results.overheads[i];
    bool is_told = false;
    bool is_common = true;
    for (std::size_t k = 0; k < results.overheads.size(); ++k) {
      const bool equal = are_equal(results.overheads[k], overhead);
      is_told = is_told || (equal && k < i);
      is_common = is_common && equal;
    }
    if (is_told) continue;
    const std::string whose = is_common ? "" : " for " + cited(results.commands[i].name);
    lines +=
        fmt::format("starting {}{} takes {} (CPU time {}), which is subtracted from all times{}\n",
                    one_line(shell_quoted(results.shell)), whose, time(overhead.wall_ns),
                    time(overhead.user_ns + overhead.system_ns),
                    results.setting.region ? fmt::format(" but {}", kRegionTime) : "");
  }
  return lines;
}

}  // namespace lauka::report

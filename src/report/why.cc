#include "report/why.h"

#include "core/foreign_text.h"
#include "report/format.h"

#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {
namespace {

/// "1.35 ± 0.02x", "1.37x (1.19 … 1.73)".
std::string times(const stats::RelativeSpeed& ratio) {
  std::string text = ratio_text(ratio);
  const std::size_t bracket = text.find(" (");
  text.insert(bracket == std::string::npos ? text.size() : bracket, "x");
  return text;
}

bool is_factor_shown(const WallFactor& factor) {
  return factor.change.is_significant() && stats::relative_speed(factor.change).has_value();
}

/// "380%": of one CPU.
std::string busy(double share) {
  return fmt::format("{:.{}f}%", 100.0 * share, share < 0.1 ? 1 : 0);
}

std::string gigahertz(double cycles_per_second) {
  return fmt::format("{:.2f} GHz", cycles_per_second / 1e9);
}

/// "3.40 → 3.82 GHz", in parentheses; empty where it is not known.
std::string clocks_of(const WallFactor& clock) {
  if (!clock.candidate) return "";
  if (!clock.reference || !is_factor_shown(clock))
    return fmt::format(" ({})", gigahertz(*clock.candidate));
  return fmt::format(" ({:.2f} → {})", *clock.reference / 1e9, gigahertz(*clock.candidate));
}

/// What a clock that stayed the same is worth: where it is known.
std::string unchanged(const WallFactor& factor) {
  if (factor.part != WallPart::Clock || !factor.change.bounds || !factor.candidate) return "";
  return "the same clock" + clocks_of(factor);
}

/// A factor that was told from 1. `has_instructions`: the line has spoken of them before.
std::string changed(const WallFactor& factor, bool has_instructions) {
  const stats::RelativeSpeed ratio = *stats::relative_speed(factor.change);
  const bool is_less = ratio.faster;
  const std::string by = times(ratio);
  const std::string_view fewer = is_less ? "fewer" : "more";
  const std::string_view less = is_less ? "less" : "more";
  switch (factor.part) {
    case WallPart::Instructions:
      return fmt::format("{} {} instructions", by, fewer);
    case WallPart::InstructionsPerCycle:
      return fmt::format("{} {} {} per cycle", by, fewer,
                         has_instructions ? "of them" : "instructions");
    case WallPart::Cycles:
      return fmt::format("{} {} cycles", by, fewer);
    case WallPart::Clock:
      return fmt::format("a {} {} clock{}", by, is_less ? "lower" : "higher", clocks_of(factor));
    case WallPart::CpuTimePerCycle:
      return fmt::format("{} {} CPU time for each cycle that was counted", by, less);
    case WallPart::CpuTimePerInstruction:
      return fmt::format("{} {} CPU time for each {}", by, less,
                         has_instructions ? "of them" : "instruction");
    case WallPart::CpuTime:
      return fmt::format("{} {} CPU time", by, less);
    case WallPart::Utilisation:
      break;
  }
  std::string text = fmt::format("CPU {} {}", by, is_less ? "less busy" : "busier");
  if (factor.reference && factor.candidate)
    text += fmt::format(" ({} → {})", busy(*factor.reference), busy(*factor.candidate));
  return text;
}

/// What the reader has to know of the counts, if anything.
std::vector<std::string> remarks_of(const Why& why) {
  std::vector<std::string> remarks;
  if (why.lacks_instructions && why.lacks_cycles)
    remarks.emplace_back("instructions and cycles were not counted");
  else if (why.lacks_instructions)
    remarks.emplace_back("instructions were not counted");
  else if (why.lacks_cycles)
    remarks.emplace_back("cycles were not counted");
  if (why.is_simulated) remarks.emplace_back("instructions are simulated");
  if (why.is_user_only) remarks.emplace_back("counts are of user space, times of all");
  if (why.has_shell) remarks.emplace_back("counts have the shell in them, times have not");
  if (why.is_of_all_kinds) remarks.emplace_back("cycles are those of all kinds of core");
  return remarks;
}

std::string headline(const Results& results, const Why& why) {
  const MetricResult* wall = row_of(results, why.command, Role::WallTime);
  const auto speed = stats::relative_speed(*wall->delta);
  if (!wall->delta->is_significant() || !speed) return "no significant difference in wall time";
  return times(*speed) + (speed->faster ? " faster" : " slower");
}

}  // namespace

std::string why_text(const Results& results, const Why& why) {
  std::string factors;
  bool has_instructions = false;
  for (const WallFactor& factor : why.factors) {
    const std::string said =
        is_factor_shown(factor) ? changed(factor, has_instructions) : unchanged(factor);
    if (said.empty()) continue;
    factors += (factors.empty() ? "" : ", ") + said;
    has_instructions = has_instructions || factor.part == WallPart::Instructions;
  }
  std::string text = headline(results, why) + ": " +
                     (factors.empty() ? "nothing that makes it up can be told from 1" : factors);
  for (const std::string& remark : remarks_of(why)) text += "; " + remark;
  return text;
}

std::string why_lines(const Results& results) {
  const bool several = results.commands.size() > (results.reference.baseline ? 1 : 2);
  std::string lines;
  for (const Why& why : results.whys) {
    const std::string name =
        several ? one_line(results.commands[why.command].name) + ": " : std::string();
    lines += "why: " + name + why_text(results, why) + "\n";
  }
  return lines;
}

}  // namespace lauka::report

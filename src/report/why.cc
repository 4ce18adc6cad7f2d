#include "core/text.h"
#include "report/format.h"
#include "report/lines.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {
namespace {

/// The words for a factor, in the order of WallPart; {} stands for the instructions.
struct PartWords {
  std::string_view column, before, less, more, after;
};
constexpr std::array<PartWords, 8> kPartWords = {{
    {"instructions", "", "fewer", "more", " instructions"},
    {"instructions per cycle", "", "fewer", "more", " {} per cycle"},
    {"cycles", "", "fewer", "more", " cycles"},
    {"clock", "a ", "lower", "higher", " clock"},
    {"CPU time per cycle", "", "less", "more", " CPU time for each cycle that was counted"},
    {"CPU time per instruction", "", "less", "more", " CPU time for each {}"},
    {"CPU time", "", "less", "more", " CPU time"},
    {"CPU use", "CPU ", "less busy", "busier", ""},
}};

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

/// "3.40 → 3.82 GHz", in parentheses; empty if it is not known.
std::string clocks_of(const WallFactor& clock) {
  if (!clock.candidate) return "";
  if (!clock.reference || !is_factor_shown(clock))
    return fmt::format(" ({})", gigahertz(*clock.candidate));
  return fmt::format(" ({:.2f} → {})", *clock.reference / 1e9, gigahertz(*clock.candidate));
}

/// Returns the words for an unchanged clock, if it is known.
std::string unchanged(const WallFactor& factor) {
  if (factor.part != WallPart::Clock || !factor.change.bounds || !factor.candidate) return "";
  return "the same clock" + clocks_of(factor);
}

/// Describes a factor: "1.35 ± 0.02x more of them per cycle". `noun` replaces {}.
std::string in_words(const WallFactor& factor, const stats::RelativeSpeed& ratio,
                     std::string_view noun) {
  const PartWords& words = kPartWords[static_cast<std::size_t>(factor.part)];
  std::string text = fmt::format("{}{} {}{}", words.before, times(ratio),
                                 ratio.faster ? words.less : words.more, words.after);
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, noun);
  if (factor.part == WallPart::Clock) return text + clocks_of(factor);
  if (factor.part == WallPart::Utilisation && factor.reference && factor.candidate)
    text += fmt::format(" ({} → {})", busy(*factor.reference), busy(*factor.candidate));
  return text;
}

/// A significant factor. `has_instructions`: the line has mentioned them before.
std::string changed(const WallFactor& factor, bool has_instructions) {
  const bool is_each = factor.part == WallPart::CpuTimePerInstruction;
  return in_words(factor, *stats::relative_speed(factor.change),
                  has_instructions ? "of them"
                  : is_each        ? "instruction"
                                   : "instructions");
}

/// Returns a factor for a table whose columns name them.
Cell factor_cell(const WallFactor& factor) {
  const auto ratio = stats::relative_speed(factor.change);
  if (!ratio) return {"n/a", Ink::Dim};
  if (!is_factor_shown(factor)) return {times(*ratio), Ink::Dim};
  const PartWords& words = kPartWords[static_cast<std::size_t>(factor.part)];
  const std::string figures = factor.part == WallPart::Clock ? clocks_of(factor) : "";
  return {times(*ratio) + " " + std::string(ratio->faster ? words.less : words.more) + figures,
          factor.log_of_wall_time() < 0 ? Ink::Green : Ink::Red};
}

/// Returns limits on the meaning of the counts; mostly empty.
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
  if (why.is_of_all_kinds) remarks.emplace_back("cycles are summed over all kinds of core");
  return remarks;
}

std::string wall_time_in_words(const Results& results, const Why& why) {
  const MetricResult* wall = row_of(results, why.command, Role::WallTime);
  const auto speed = stats::relative_speed(*wall->delta);
  if (!wall->delta->is_significant() || !speed) return "no significant difference";
  return times(*speed) + (speed->faster ? " faster" : " slower");
}

std::string headline(const Results& results, const Why& why) {
  const std::string text = wall_time_in_words(results, why);
  return text.starts_with("no ") ? text + " in wall time" : text;
}

bool is_counted(const Why& why) {
  return !why.lacks_instructions || !why.lacks_cycles;
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
                     (factors.empty() ? "no factor differs significantly from 1" : factors);
  for (const std::string& remark : remarks_of(why)) text += "; " + remark;
  return text;
}

std::string why_lines(const Results& results) {
  const bool several = results.commands.size() > (results.reference.baseline ? 1 : 2);
  std::string lines;
  for (const Why& why : results.explanations) {
    const std::string name =
        several ? one_line(results.commands[why.command].name) + ": " : std::string();
    lines += "why: " + name + why_text(results, why) + "\n";
  }
  return lines;
}

WhyTable why_table(const Results& results) {
  WhyTable all;
  if (results.explanations.size() < 2) return all;
  if (std::ranges::none_of(results.explanations, is_counted)) {
    all.remarks = {"why: unknown, as instructions and cycles were not counted"};
    return all;
  }
  std::set<WallPart> parts;
  for (const Why& why : results.explanations)
    for (const WallFactor& factor : why.factors) parts.insert(factor.part);
  all.table.columns = {{.heading = {"command"}, .holds = Holds::Code},
                       {.heading = {"wall time"}, .holds = Holds::Delta}};
  for (const WallPart part : parts)
    all.table.columns.push_back(
        {.heading = {std::string(kPartWords[static_cast<std::size_t>(part)].column)},
         .holds = Holds::Delta});
  for (const Why& why : results.explanations) {
    TableRow& row = all.table.rows.emplace_back(
        TableRow{{results.commands[why.command].name}, {wall_time_in_words(results, why)}});
    for (const WallPart part : parts) {
      const auto factor = std::ranges::find(why.factors, part, &WallFactor::part);
      row.push_back(factor == why.factors.end() ? Cell{} : factor_cell(*factor));
    }
    for (std::string& remark : remarks_of(why))
      if (std::ranges::find(all.remarks, remark) == all.remarks.end())
        all.remarks.push_back(std::move(remark));
  }
  return all;
}

}  // namespace lauka::report

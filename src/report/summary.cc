#include "core/foreign_text.h"
#include "report/ansi.h"
#include "report/cells.h"
#include "report/compact.h"
#include "report/format.h"
#include "report/table.h"
#include "report/width.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// What is said of a candidate, with the two names left open.
struct Sentence {
  std::string between;  ///< the candidate's and the reference's name
  std::string after;
};

/// A difference with its interval, or that there is no significant one. Wall time is what a program
/// runs in; of any other metric one has more.
Sentence sentence_of(const Ranking& ranking, const Metric& metric) {
  if (!ranking.significant)
    return {": no significant difference from ", " in " + spoken(one_line(metric.name))};
  const std::string ratio = ratio_text(ranking.speed);
  const bool faster = ranking.speed.faster;
  if (metric.role == Role::WallTime)
    return {fmt::format(" ran {} times {} than ", ratio, faster ? "faster" : "slower"), ""};
  return {fmt::format(": {} is {} times {} than in ", spoken(one_line(metric.name)), ratio,
                      faster ? "lower" : "higher"),
          ""};
}

// Stands for the blanks of a name, between which no line is broken.
constexpr char kNameBlank = '\x1f';

/// A name in bold, in a line of its own at most: of a longer one the middle is left out.
std::string bold(const std::string& name, const Style& style) {
  constexpr std::size_t beside = 3;  // an indent of two, and a colon
  std::string shown =
      style.width > 0 ? cut_middle(name, style.width - std::min(style.width, beside)) : name;
  std::replace(shown.begin(), shown.end(), ' ', kNameBlank);
  return inked(shown, Ink::Bold, style.color);
}

std::string in_lines(const std::string& sentence, const Style& style) {
  std::string lines = wrapped(style.ascii ? ascii_of(sentence) : sentence, style.width) + "\n";
  std::replace(lines.begin(), lines.end(), kNameBlank, ' ');
  return lines;
}

/// What a command's delta is taken from, by name.
std::string reference_of(const Results& results, std::size_t command) {
  const std::string& name = results.reference_of(command);
  if (!results.reference.baseline) return name;
  const bool is_itself = name == results.commands[command].name;
  return (is_itself ? "itself" : name) + " in " + results.reference.baseline->file;
}

/// The more, the less the candidate has.
double gain_of(const Ranking& ranking) {
  return ranking.speed.faster ? ranking.speed.ratio : 1 / ranking.speed.ratio;
}

std::string line_of(const Results& results, const Ranking& ranking, const Style& style) {
  const Sentence sentence = sentence_of(ranking, results.metrics[ranking.metric]);
  const std::string candidate = one_line(results.commands[ranking.command].name);
  const std::string reference = one_line(reference_of(results, ranking.command));
  return in_lines(
      bold(candidate, style) + sentence.between + bold(reference, style) + sentence.after, style);
}

/// Of many commands the best alone: the table has the others. `rankings`: the largest gain first.
std::string headline(const Results& results, const std::vector<Ranking>& rankings,
                     const Style& style) {
  const auto best = std::find_if(rankings.begin(), rankings.end(), [](const Ranking& ranking) {
    return ranking.significant && ranking.speed.faster;
  });
  if (best != rankings.end()) return line_of(results, *best, style);
  if (rankings.size() == 1 || results.reference.baseline)
    return line_of(results, rankings[0], style);
  const Metric& metric = results.metrics[rankings[0].metric];
  const bool is_time = metric.role == Role::WallTime;
  const bool any = std::any_of(rankings.begin(), rankings.end(),
                               [](const Ranking& ranking) { return ranking.significant; });
  const std::string start = !any      ? "no command differs significantly from "
                            : is_time ? "no command is significantly faster than "
                                      : "no command is significantly below ";
  const std::string end = any && is_time ? "" : " in " + spoken(one_line(metric.name));
  const std::string& reference = results.commands[results.reference.command].name;
  return in_lines(start + bold(one_line(reference), style) + end, style);
}

}  // namespace

std::string summary_lines(const Results& results, const Style& style) {
  std::vector<Ranking> rankings = results.rankings;
  std::stable_sort(rankings.begin(), rankings.end(),
                   [](const Ranking& a, const Ranking& b) { return gain_of(a) > gain_of(b); });
  // One run each, or a reference that is all noise.
  std::erase_if(rankings, [](const Ranking& ranking) { return !ranking.speed.bounds; });
  if (rankings.empty()) return "";
  if (is_compact(results)) return headline(results, rankings, style);
  std::string text;
  for (const Ranking& ranking : rankings) text += line_of(results, ranking, style);
  return text;
}

}  // namespace lauka::report

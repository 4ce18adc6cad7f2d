#include "report/ansi.h"
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

/// Three kinds of lines: a significant difference with its interval; one that has no interval (one
/// run each, or a reference that is all noise), which may be chance; and an interval that holds 0.
Sentence sentence_of(const Ranking& ranking) {
  const std::string faster =
      fmt::format(" ran {} times {} than ", ratio_text(ranking.ratio, ranking.half_width),
                  ranking.faster ? "faster" : "slower");
  if (ranking.significant) return {faster, ""};
  if (!ranking.half_width) return {faster, " (may be chance)"};
  return {": no difference in wall time from ", " can be told"};
}

/// Shares `room` cells among two names; what the shorter one leaves goes to the longer one.
void shorten(std::string& first, std::string& second, std::size_t room) {
  const std::size_t half = room / 2;
  const std::size_t shorter = std::min(display_width(first), display_width(second));
  const std::size_t most = shorter < half ? room - shorter : room - half;
  const bool first_is_longer = display_width(first) >= display_width(second);
  first = cut_middle(first, first_is_longer ? most : std::min(half, most));
  second = cut_middle(second, first_is_longer ? std::min(half, most) : most);
}

/// What a command's delta is taken from, by name.
std::string reference_of(const Results& results, std::size_t command) {
  if (!results.baseline) return results.commands.front().name;
  const std::string& name = results.baseline->names[command];
  const bool is_itself = name == results.commands[command].name;
  return (is_itself ? "itself" : name) + " in " + results.baseline->file;
}

/// Wall times per second of the reference's: the larger, the faster.
double speed_of(const Ranking& ranking) {
  return ranking.faster ? ranking.ratio : 1 / ranking.ratio;
}

}  // namespace

std::string summary_lines(const Results& results, const Style& style) {
  std::vector<Ranking> rankings = results.rankings;
  std::stable_sort(rankings.begin(), rankings.end(),
                   [](const Ranking& a, const Ranking& b) { return speed_of(a) > speed_of(b); });
  std::string text;
  for (const Ranking& ranking : rankings) {
    const Sentence sentence = sentence_of(ranking);
    std::string candidate = one_line(results.commands[ranking.command].name);
    std::string reference = one_line(reference_of(results, ranking.command));
    const std::size_t fixed = display_width(sentence.between + sentence.after);
    const std::size_t names = display_width(candidate) + display_width(reference);
    if (style.width > fixed && fixed + names > style.width) {
      shorten(candidate, reference, style.width - fixed);
    }
    text += inked(candidate, Ink::Bold, style.color) + sentence.between +
            inked(reference, Ink::Bold, style.color) + sentence.after + "\n";
  }
  return text;
}

}  // namespace lauka::report

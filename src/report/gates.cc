#include "report/gates.h"

#include "report/ansi.h"
#include "report/format.h"
#include "report/width.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace lauka::report {

namespace {

struct Word {
  std::string_view text;
  Ink ink;
};

Word word_for(gate::Answer answer) {
  switch (answer) {
    case gate::Answer::Pass:
      return {"pass", Ink::Green};
    case gate::Answer::Fail:
      return {"fail", Ink::Red};
    case gate::Answer::Inconclusive:
      break;
  }
  return {"inconclusive", Ink::Bold};
}

std::string delta_of(const stats::Delta& delta) {
  const std::string text = delta_text(delta);
  return delta.change ? text : text + ", as the reference's mean is 0,";
}

std::string typical_of(const gate::Typical& typical) {
  const int decimals = percent_decimals((typical.high - typical.low) / 2);
  return fmt::format(" (typical round {}, between {} and {})",
                     signed_percent(typical.change, decimals),
                     signed_percent(typical.low, decimals), signed_percent(typical.high, decimals));
}

/// "about 3 times as many would decide".
std::string more_rounds(double times) {
  if (times < 1.05) return "a few more would decide";
  const bool small = std::round(times * 10) < 20;
  return fmt::format("about {:.{}f} times as many would decide", times, small ? 1 : 0);
}

const MetricResult* row_named(const Results& results, std::size_t command, std::string_view name) {
  for (const MetricResult& row : results.commands[command].rows) {
    if (results.metrics[row.metric].name == name) return &row;
  }
  return nullptr;
}

/// On a loaded machine CPU time is up to 75 times less noisy than wall time (docs/statistics.md).
/// Below twice as good it is not worth a word.
std::string calmer_metric(const Results& results, const gate::Verdict& verdict) {
  if (verdict.condition.metric != "wall_time" || !verdict.delta.half_width) return "";
  const MetricResult* cpu = row_named(results, verdict.candidate, "cpu_time");
  if (cpu == nullptr || !cpu->delta || !cpu->delta->half_width) return "";
  if (*cpu->delta->half_width <= 0) return "";
  const double times = *verdict.delta.half_width / *cpu->delta->half_width;
  if (times < 2) return "";
  return fmt::format("gate cpu time, whose noise is {:.0f} times smaller", times);
}

std::string advice_of(const Results& results, const gate::Verdict& verdict) {
  std::string advice = verdict.times_as_many ? more_rounds(*verdict.times_as_many) : "";
  const std::string calmer = calmer_metric(results, verdict);
  if (!advice.empty() && !calmer.empty()) advice += ", or ";
  advice += calmer;
  return advice.empty() ? "" : "; " + advice;
}

std::string grounds_of(const Results& results, const gate::Verdict& verdict) {
  if (verdict.too_small)
    return fmt::format("that of '{}' is too small to be measured here (see its row)",
                       one_line(results.commands[*verdict.too_small].name));
  if (verdict.rounds == 0) return "no round has a value of both commands";
  std::string text = fmt::format("{} after {} round{}", delta_of(verdict.delta), verdict.rounds,
                                 verdict.rounds == 1 ? "" : "s");
  if (verdict.answer == gate::Answer::Inconclusive) return text + advice_of(results, verdict);
  return verdict.typical ? text + typical_of(*verdict.typical) : text;
}

}  // namespace

std::string gate_lines(const Results& results, bool color) {
  const bool several = results.commands.size() > (results.baseline ? 1 : 2);
  std::string text;
  for (const gate::Verdict& verdict : results.verdicts) {
    if (several) text += one_line(results.commands[verdict.candidate].name) + ": ";
    const Word word = word_for(verdict.answer);
    text += fmt::format("{} > {}%: {}: {}\n", verdict.condition.metric,
                        full_precision(verdict.condition.limit_percent),
                        inked(word.text, word.ink, color), grounds_of(results, verdict));
  }
  return text;
}

}  // namespace lauka::report

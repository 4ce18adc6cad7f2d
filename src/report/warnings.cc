#include "report/warnings.h"

#include "report/format.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace lauka::report {

namespace {

struct Words {
  std::string_view kind;
  std::string text;
  std::string advice;
};

std::string seconds(double value) {
  return quantity(value, Unit::Seconds);
}

std::string whole_percent(double fraction) {
  return fmt::format("{:.0f}%", fraction * 100.0);
}

std::string_view option_for_more(FewBecause because) {
  switch (because) {
    case FewBecause::Runs:
      return "use --runs 10 or more";
    case FewBecause::MaxRuns:
      return "use --max-runs 10 or more";
    case FewBecause::MinRuns:
      return "use --min-runs 10 or more";
    case FewBecause::Ended:
      break;
  }
  return "let it run to its end";
}

/// What is found in the order of the runs weakens mean and deviation always, deltas only where they
/// were not taken within rounds.
struct Teller {
  bool has_deltas;
  bool paired;

  std::string but_deltas() const {
    if (!has_deltas) return "";
    return paired ? "; deltas, taken within rounds, hold"
                  : "; --order random keeps it out of deltas";
  }

  Words operator()(const SlowFirstRun& warning) const {
    const auto& [first, rest, slow] = warning.seen;
    const std::string times =
        rest > 0.0 ? fmt::format("{:.{}f} times", first / rest, first < 1.95 * rest ? 2 : 1)
                   : "more than";
    return {"first_run_slow",
            fmt::format("the first run took {} the median of the rest ({}, {})", times,
                        seconds(first), seconds(rest)),
            warning.warmup == 0
                ? "use --warmup 1, unless cold starts are what you measure"
                : fmt::format("if that happens again, raise --warmup above {}", warning.warmup)};
  }

  Words operator()(const stats::Drift& seen) const {
    return {"drift",
            fmt::format("wall time {} by {:.1f}% from the first third of the runs to the last",
                        seen.change > 0.0 ? "rose" : "fell", std::abs(seen.change) * 100.0),
            (seen.change > 0.0 ? "let the machine cool down or finish its other work"
                               : "raise --warmup, or let the machine finish its other work") +
                but_deltas()};
  }

  Words operator()(const stats::TwoModes& seen) const {
    return {"two_modes",
            fmt::format("runs are of two kinds, of about {} and {}; the rarer are {} of them",
                        seconds(seen.low_mean), seconds(seen.high_mean),
                        whole_percent(seen.smaller_share)),
            "the mean stands for neither: look for kinds of core or clock frequencies, or at the "
            "single runs with --export-runs"};
  }

  Words operator()(const ManyOutliers& warning) const {
    return {"severe_outliers",
            fmt::format("{} of {} runs ({}) took far longer or shorter than the rest",
                        warning.seen.count, warning.runs, whole_percent(warning.seen.share)),
            "other programs may have been running: stop them, or go by cpu_time, which suffers "
            "less"};
  }

  Words operator()(const stats::SlowNoise& seen) const {
    return {"slow_noise",
            fmt::format("runs are like their neighbours (correlation {:.2f}): wall time comes in "
                        "slow waves",
                        seen.autocorrelation),
            "the mean will not repeat within its ±: measure longer with --duration" + but_deltas()};
  }

  Words operator()(const CoarseClock& warning) const {
    return {"coarse_clock",
            fmt::format("a run takes {}, and the clock here steps by {}",
                        seconds(warning.median_seconds), seconds(warning.step_seconds)),
            "give it more work in one run"};
  }

  Words operator()(const UncertainSplit& warning) const {
    return {"uncertain_split",
            fmt::format("user_time and system_time are guesses: {} of CPU time is less than 10 "
                        "ticks of {}",
                        seconds(warning.median_cpu_seconds), seconds(warning.tick_seconds)),
            "go by cpu_time, their sum, which is exact"};
  }

  Words operator()(const BelowShell& warning) const {
    return {"below_shell",
            fmt::format("{} of {} runs took no longer than the shell alone takes to start, so a "
                        "time of theirs is 0",
                        warning.below, warning.runs),
            "leave the shell out with -N, or give the command more work"};
  }

  Words operator()(const FewRuns& warning) const {
    const std::string_view plural = warning.runs == 1 ? "" : "s";
    return {"few_runs",
            warning.gated
                ? fmt::format("with {} round{} a gate can decide about large changes only",
                              warning.runs, plural)
                : fmt::format("{} run{} of a command say{} little about a delta", warning.runs,
                              plural, warning.runs == 1 ? "s" : ""),
            std::string(option_for_more(warning.because))};
  }

  Words operator()(const AgainstBaseline& warning) const {
    return {"baseline",
            fmt::format("deltas against a baseline carry all that changed on the machine since{}",
                        warning.gated ? ", and gates fail by chance more often than the confidence "
                                        "says"
                                      : ""),
            "run both in one call where you can, else go by cpu_time or instructions"};
  }

  Words operator()(const ForeignBaseline& warning) const {
    const std::string_view advice = "measure the baseline again, here";
    if (!warning.told) {
      return {"foreign_baseline", "the baseline does not tell which machine it was measured on",
              "make sure that it was this one, or make it with lauka --export-json"};
    }
    std::string text = "the baseline is not from here: ";
    for (const Difference& difference : warning.differences) {
      if (&difference != &warning.differences.front()) text += ", ";
      text += fmt::format("{} '{}', not '{}'", difference.what, difference.then, difference.now);
    }
    return {"foreign_baseline", text, std::string(advice)};
  }

  Words operator()(const SequentialRuns& warning) const {
    return {
        "sequential_order",
        fmt::format(
            "the order was sequential{}, so deltas carry the machine's drift{}{}",
            warning.for_hooks ? ", as one command's --setup or --cleanup may undo another's" : "",
            warning.gated ? " and gates fail by chance more often than the confidence "
                            "says"
                          : "",
            warning.gated && warning.for_hooks ? ", and look once" : ""),
        warning.for_hooks ? "--order random is better where they do not disturb each other"
                          : "--order random compares within rounds"};
  }

  Words operator()(const OtherCores& warning) const {
    std::string text = fmt::format(
        "{} is {}, that of the reference {}: the delta of times is not one of code alone",
        warning.metric, quantity(warning.candidate, Unit::Fraction),
        quantity(warning.reference, Unit::Fraction));
    for (const OtherCores::Cycles& cycles : warning.cycles) {
      text +=
          fmt::format(", {} {} against {}", cycles.event, quantity(cycles.candidate, Unit::Count),
                      quantity(cycles.reference, Unit::Count));
    }
    return {"other_cores", std::move(text), "--cores p or e keeps all on one kind of core"};
  }

  Words operator()(const LowShare& warning) const {
    return {"low_share",
            fmt::format("{} of {} runs kept a {} below {}, though run again", warning.runs,
                        warning.of, warning.metric, quantity(warning.least, Unit::Fraction)),
            "--cores p keeps runs on performance cores, or ask for less"};
  }

  Words operator()(const LowCoverage& warning) const {
    return {"low_coverage",
            fmt::format("only {:.1f}% of its instructions, as the kernel accounts them, were seen "
                        "by the counters",
                        warning.median * 100.0),
            "the counts are too low by about as much: trust their times, not their size"};
  }

  Words operator()(const NeverCounted& warning) const {
    return {"not_counted",
            fmt::format("{} is 0 in every run, though instructions ran: its counter may not count "
                        "it on this processor",
                        warning.event),
            "ask for it with other events, which may place it on another counter "
            "(--explain-events)"};
  }
};

/// "'old': "; where another command has the same name, with the number that the table gives it.
std::string subject_of(const Results& results, std::size_t command) {
  const std::string& name = results.commands[command].name;
  const auto namesakes =
      std::count_if(results.commands.begin(), results.commands.end(),
                    [&name](const CommandResult& other) { return other.name == name; });
  return namesakes > 1 ? fmt::format("benchmark {}, '{}': ", command + 1, name)
                       : fmt::format("'{}': ", name);
}

}  // namespace

std::vector<WordedWarning> worded_warnings(const Results& results) {
  const Teller teller{!results.rankings.empty() && !results.baseline, results.paired};
  std::vector<WordedWarning> all;
  all.reserve(results.warnings.size());
  for (const Warning& warning : results.warnings) {
    auto [kind, text, advice] = std::visit(teller, warning.finding);
    all.push_back({warning.command, kind, std::move(text), std::move(advice)});
  }
  return all;
}

std::vector<std::string> warning_texts(const Results& results, const Style& style) {
  const std::vector<WordedWarning> all = worded_warnings(results);
  std::vector<const WordedWarning*> shown;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (results.warnings[i].shown == Shown::Always || style.verbose) shown.push_back(&all[i]);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const WordedWarning& warning = *shown[i];
    std::string text = warning.command ? subject_of(results, *warning.command) : "";
    text += warning.text;
    const bool repeated = i + 1 < shown.size() && shown[i + 1]->kind == warning.kind &&
                          shown[i + 1]->advice == warning.advice;
    if (!repeated) text += "; " + warning.advice;
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string warning_lines(const Results& results, const Style& style) {
  std::string lines;
  for (const std::string& text : warning_texts(results, style)) {
    lines += "lauka: warning: " + text + "\n";
  }
  return lines;
}

}  // namespace lauka::report

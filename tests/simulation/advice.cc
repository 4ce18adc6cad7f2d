#include "simulation/advice.h"

#include "core/command.h"
#include "gate/schedule.h"
#include "gate/verdict.h"
#include "stats/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace lauka::simulation {

namespace {

constexpr double kLimit = 0.05;
constexpr std::size_t kPart = 10;  // of the gates: a new session may take fifty times the rounds

/// A place of the truth, as a multiple of the gate's limit. Anywhere: uniform from 0 to 2.
struct Truth {
  const char* name;
  std::optional<double> of_limit;
};
constexpr std::array<Truth, 5> kTruths{{{"equal programs", 0.0},
                                        {"half way to the limit", 0.5},
                                        {"half beyond the limit", 1.5},
                                        {"twice the limit", 2.0},
                                        {"anywhere from 0 to twice", std::nullopt}}};

double draw_ratio(const Truth& truth, noise::Source& source) {
  return 1.0 + kLimit * truth.of_limit.value_or(2.0 * source.uniform());
}

/// Samples, with layouts if `layouts` is not empty.
struct Samples {
  Measured measured{};
  std::vector<std::uint32_t> layouts{};

  gate::Evidence evidence() const {
    return {.reference = measured.reference,
            .candidate = measured.candidate,
            .reference_layouts = layouts,
            .candidate_layouts = layouts};
  }
  Comparison comparison() const {
    return {.reference = measured.reference,
            .candidate = measured.candidate,
            .paired = true,
            .reference_layouts = layouts,
            .candidate_layouts = layouts};
  }
};

gate::Verdict verdict_on(const Samples& samples) {
  gate::Verdict verdict{
      .condition = {.metric = "wall_time", .limit = GateLimit::of_change(100.0 * kLimit)}};
  gate::decide_at_look(verdict, {.samples = samples.comparison()},
                       gate::errors_of_only_look(0.95, 1), {1, true});
  return verdict;
}

bool has_answer(const Samples& samples) {
  const gate::Judgement judgement = gate::judge(
      samples.evidence(),
      {.limit = kLimit, .levels = gate::errors_of_only_look(0.95, 1), .is_last_look = true});
  return judgement.answer != gate::Answer::Inconclusive;
}

Advice advice_about_rounds(const Series& series, const Truth& truth, std::size_t rounds,
                           const Options& options) {
  Advice advice{.name = series.name + ", " + std::to_string(rounds) + " rounds, " + truth.name};
  noise::Source source(20261128 + rounds);
  for (std::size_t i = 0; i < std::max<std::size_t>(options.gates / kPart, 100); ++i) {
    const double ratio = draw_ratio(truth, source);
    const gate::Verdict verdict =
        verdict_on({in_random_order(series.noise, source, rounds, ratio), {}});
    ++advice.sessions;
    if (verdict.answer != gate::Answer::Inconclusive) continue;
    ++advice.inconclusive;
    if (!verdict.rounds_factor) continue;

    ++advice.given;
    const auto more =
        static_cast<std::size_t>(std::ceil(*verdict.rounds_factor) * static_cast<double>(rounds));
    advice.held += has_answer({in_random_order(series.noise, source, more, ratio), {}}) ? 1 : 0;
  }
  return advice;
}

/// Sessions over layouts, whose placement and noise scatter by these fractions.
struct OverLayouts {
  std::size_t layouts = 8;
  std::size_t sweeps = 8;
  double placement = 0.04;
  double noise = 0.03;
};

Samples draw(const OverLayouts& session, double ratio, noise::Source& source) {
  const std::vector<double> of_reference = source.normals(session.layouts, 0.0, session.placement);
  const std::vector<double> of_candidate = source.normals(session.layouts, 0.0, session.placement);
  Samples samples;
  for (std::size_t round = 0; round < session.layouts * session.sweeps; ++round) {
    const std::size_t layout = round % session.layouts;
    const auto run = [&](const std::vector<double>& placed) {
      return std::exp(placed[layout] + session.noise * source.normal());
    };
    samples.measured.reference.push_back(run(of_reference));
    samples.measured.candidate.push_back(ratio * run(of_candidate));
    samples.layouts.push_back(static_cast<std::uint32_t>(layout));
  }
  return samples;
}

Advice advice_about_layouts(const OverLayouts& session, const Truth& truth,
                            const Options& options) {
  Advice advice{.name = std::to_string(session.layouts) + " layouts, " + truth.name};
  noise::Source source(20261129 + session.layouts);
  for (std::size_t i = 0; i < std::max<std::size_t>(options.gates / kPart, 100); ++i) {
    const double ratio = draw_ratio(truth, source);
    const gate::Verdict verdict = verdict_on(draw(session, ratio, source));
    ++advice.sessions;
    if (verdict.answer != gate::Answer::Inconclusive) continue;
    ++advice.inconclusive;
    if (!verdict.layouts_to_decide || *verdict.layouts_to_decide > kMaxLayouts) continue;

    ++advice.given;
    OverLayouts more = session;
    more.layouts = *verdict.layouts_to_decide;
    advice.held += has_answer(draw(more, ratio, source)) ? 1 : 0;
  }
  return advice;
}

}  // namespace

std::vector<Advice> simulate_advice(const std::vector<Series>& all, const Options& options) {
  constexpr double sigma = 0.08;  // of the logarithm of a round's ratio
  const Series plain{.name = "log-normal", .noise = lognormal(sigma / std::sqrt(2.0))};
  std::vector<Advice> advice;
  for (const std::size_t rounds : {10U, 20U, 57U})
    for (const Truth& truth : kTruths)
      advice.push_back(advice_about_rounds(plain, truth, rounds, options));
  for (const Series& series : all)
    advice.push_back(advice_about_rounds(series, kTruths.back(), 20, options));
  for (const std::size_t layouts : {4U, 6U, 8U, 12U})
    for (const Truth& truth : kTruths)
      advice.push_back(advice_about_layouts({.layouts = layouts}, truth, options));
  return advice;
}

void print_advice(const std::vector<Advice>& all) {
  std::printf(
      "\nAdvice of inconclusive gates of 5%%, in percent: inconclusive | of these with advice | "
      "of these held\n");
  for (const Advice& advice : all)
    std::printf("%-66s%6.1f%6.1f%6.1f\n", advice.name.c_str(),
                100 * advice.inconclusive / advice.sessions,
                advice.inconclusive > 0 ? 100 * advice.given / advice.inconclusive : 0.0,
                100 * advice.share_held());
}

}  // namespace lauka::simulation

#include "stats/layouts.h"

#include "core/command.h"
#include "stats/distributions.h"
#include "stats/noise.h"

#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

struct Sides {
  std::vector<double> reference{};
  std::vector<double> candidate{};
  std::vector<std::uint32_t> layouts{};

  LayoutSamples of_reference() const { return {reference, layouts}; }
  LayoutSamples of_candidate() const { return {candidate, layouts}; }
};

/// Log ratios of four layouts, three rounds each or, with four sweeps, the first one twice.
Sides four_layouts(std::uint32_t sweeps = 3) {
  const double ratios[4][3] = {{0.010, 0.014, 0.012},
                               {0.031, 0.027, 0.029},
                               {-0.006, -0.002, -0.001},
                               {0.020, 0.018, 0.025}};
  Sides sides;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::uint32_t layout = 0; layout < 4; ++layout) {
      sides.reference.push_back(2.0);
      sides.candidate.push_back(2.0 * std::exp(ratios[layout][sweep % 3]));
      sides.layouts.push_back(layout);
    }
  }
  return sides;
}

struct Session {
  std::size_t layouts = 8;
  std::size_t sweeps = 6;
  double scatter = 0.0;  ///< of each side's layouts
  double common = 0.0;   ///< autoregression of the noise of all rounds
  double noise = 0.01;
};

/// Equal programs.
Sides draw(const Session& session, noise::Source& source) {
  std::vector<double> placed[2];
  for (auto& side : placed) side = source.normals(session.layouts, 0.0, session.scatter);
  Sides sides;
  double lasting[2] = {source.normal(), source.normal()};
  for (std::size_t round = 0; round < session.layouts * session.sweeps; ++round) {
    const auto layout = static_cast<std::uint32_t>(round % session.layouts);
    double value[2];
    for (int side = 0; side < 2; ++side) {
      lasting[side] = session.common * lasting[side] +
                      std::sqrt(1.0 - session.common * session.common) * source.normal();
      value[side] = std::exp(placed[side][layout] + session.noise * lasting[side]);
    }
    sides.reference.push_back(value[0]);
    sides.candidate.push_back(value[1]);
    sides.layouts.push_back(layout);
  }
  return sides;
}

constexpr int kSessions = 2000;

/// Returns how many of the 95% intervals hold the truth, as a fraction.
double coverage(const Session& session) {
  noise::Source source(20261126);
  int held = 0;
  for (int i = 0; i < kSessions; ++i) {
    const Sides sides = draw(session, source);
    const Delta delta = delta_over_layouts(
        {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true}, {});
    held += delta.bounds && !delta.bounds->leave_out(0.0) ? 1 : 0;
  }
  return held / static_cast<double>(kSessions);
}

}  // namespace

// By hand: the layouts' means are 0.012, 0.029, -0.003 and 0.021; t(3, 97.5%) is 3.182446.
TEST_CASE(
    "the change over layouts is the mean of the layouts' log ratios, with Student's interval") {
  const Sides sides = four_layouts();
  const Delta delta = delta_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true}, {});
  CHECK(delta.basis == Basis::Layouts);
  CHECK(*delta.change == doctest::Approx(0.01485931806920496).epsilon(1e-9));
  CHECK(delta.bounds->low == doctest::Approx(-0.007057234256273832).epsilon(1e-9));
  CHECK(delta.bounds->high == doctest::Approx(0.03725961959192542).epsilon(1e-9));
}

TEST_CASE("the scatter of one side is what the layouts' means scatter beyond the noise of runs") {
  const Sides sides = four_layouts();
  const auto over = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
  CHECK(over->scatter->deviation == doctest::Approx(0.009641490202937164).epsilon(1e-9));
  CHECK(over->scatter->is_clear);
  CHECK(over->scatter->bounds->low < over->scatter->deviation);
  CHECK(over->scatter->bounds->high > over->scatter->deviation);
}

TEST_CASE("independent sides have a log ratio for each layout, to the reference's mean") {
  const Sides sides = four_layouts();
  const auto over = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = false});
  REQUIRE(over->layout_means.size() == 4);
  CHECK(over->layout_means[0].value == doctest::Approx(0.012));
  CHECK(over->layout_means[1].value == doctest::Approx(0.029));
  CHECK(over->value == doctest::Approx(0.01475));
}

TEST_CASE("more runs of the same layouts do not narrow what placement makes wide") {
  const Sides sides = four_layouts(4);
  const auto over = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
  CHECK(over->expected_half_width(0.025, 4, 0) > 0.02);
  const auto wanted = over->layouts_instead_of_runs(0.01, 0.025);
  REQUIRE(wanted);
  CHECK(*wanted == 32);  // F with 31 and 3 degrees exceeds 3.772 with a probability of 15%
  CHECK(over->expected_half_width(0.025, *wanted, 4) * std::sqrt(3.772) <= 0.01);
  CHECK(over->layouts_instead_of_runs(1e-9, 0.025) == kMaxLayouts + 1);
  CHECK_FALSE(over->layouts_instead_of_runs(0.1, 0.025));  // more runs do
}

TEST_CASE("layouts that decide about a limit are named from six on, if more runs would not do") {
  noise::Source source(11);
  const auto layouts_to_decide = [&](const Session& session, double limit) {
    const Sides sides = draw(session, source);
    return log_ratio_over_layouts({.reference = sides.of_reference(),
                                   .candidate = sides.of_candidate(),
                                   .paired = true})
        ->layouts_to_decide(limit, {.above = 0.05, .below = 0.05});
  };
  const auto eight = layouts_to_decide({.layouts = 8, .scatter = 0.05}, 0.01);
  REQUIRE(eight);
  CHECK(*eight > 8);
  CHECK_FALSE(layouts_to_decide({.layouts = 5, .scatter = 0.05}, 0.01));
  CHECK_FALSE(layouts_to_decide({.layouts = 8, .sweeps = 3, .scatter = 0.05}, 0.01));
  CHECK_FALSE(layouts_to_decide({.layouts = 8, .scatter = 0.01}, 0.5));  // it is decided
}

TEST_CASE("before four sweeps it is not known how many layouts would do") {
  const Sides sides = four_layouts(3);
  CHECK_FALSE(
      log_ratio_over_layouts(
          {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true})
          ->layouts_instead_of_runs(0.01, 0.025));
}

TEST_CASE("layouts that scatter less than the noise of their runs have a bound above zero") {
  Sides sides = four_layouts();
  for (std::size_t i = 0; i < sides.candidate.size(); ++i)
    sides.candidate[i] =
        2.0 + 0.1 * static_cast<double>(i / 4) + 0.001 * static_cast<double>(i % 2);
  const auto over = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
  CHECK_FALSE(over->scatter->is_clear);
  CHECK(over->scatter->deviation == 0.0);
  CHECK(over->scatter->bounds->high > 0.0);
}

TEST_CASE("the moments of layouts give the estimate that their samples give") {
  const Sides sides = four_layouts();
  const auto over = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
  std::vector<std::pair<std::uint32_t, Moments>> layouts;
  for (std::uint32_t layout = 0; layout < 4; ++layout) {
    std::vector<double> ratios = values_by_layout(sides.of_candidate())[layout];
    for (double& ratio : ratios) ratio = std::log(ratio / 2.0);
    layouts.emplace_back(layout, moments(ratios));
  }
  const auto same = mean_of_log_ratios(layouts);
  CHECK(same->value == doctest::Approx(over->value));
  CHECK(same->scatter->deviation == doctest::Approx(over->scatter->deviation));
}

TEST_CASE("fewer than four layouts say nothing about others") {
  Sides sides = four_layouts();
  for (std::uint32_t& layout : sides.layouts) layout %= 3;
  CHECK_FALSE(
      delta_over_layouts(
          {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true},
          {})
          .change);
  CHECK_FALSE(log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true}));
}

TEST_CASE("layouts that all differ by the same have an interval without width") {
  Sides sides = four_layouts();
  for (std::size_t i = 0; i < sides.candidate.size(); ++i) sides.candidate[i] = 2.2;
  const Delta delta = delta_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true}, {});
  CHECK(*delta.change == doctest::Approx(0.1));
  CHECK(delta.bounds->low == *delta.change);
}

TEST_CASE("values of 0 are compared by the means of the layouts") {
  Sides sides = four_layouts();
  sides.candidate[0] = 0.0;
  const Delta delta = delta_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true}, {});
  CHECK(delta.basis == Basis::Layouts);
  CHECK(delta.bounds);
}

TEST_CASE("layouts of two sessions are independent: their intervals are wider") {
  const Sides sides = four_layouts();
  const auto paired = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
  const auto apart = log_ratio_over_layouts(
      {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = false});
  CHECK(apart->value == doctest::Approx(paired->value));
  CHECK(apart->degrees == doctest::Approx(3.0));  // the reference does not scatter
}

TEST_CASE(
    "95% intervals over layouts hold the truth in 95% of sessions, with and without scatter") {
  const double allowed = 3.0 * std::sqrt(0.95 * 0.05 / kSessions);
  for (const double scatter : {0.0, 0.02}) {
    for (const Session& session : {Session{4, 12, scatter}, Session{6, 8, scatter},
                                   Session{8, 6, scatter}, Session{12, 4, scatter}}) {
      CAPTURE(session.layouts);
      CAPTURE(scatter);
      CHECK(std::abs(coverage(session) - 0.95) < allowed);
    }
  }
}

TEST_CASE("noise that lasts longer than a run is seen although the layouts share it") {
  CHECK(coverage({5, 12, 0.0, 0.6}) > 0.88);
}

TEST_CASE("the scatter shown is unbiased where placement has one") {
  noise::Source source(7);
  double sum = 0.0;
  for (int i = 0; i < kSessions; ++i) {
    const Sides sides = draw({8, 6, 0.02}, source);
    const auto over = log_ratio_over_layouts(
        {.reference = sides.of_reference(), .candidate = sides.of_candidate(), .paired = true});
    sum += over->scatter->deviation * over->scatter->deviation;
  }
  // The variance of one estimate is about 2 / 7 of its square.
  const double error = 3.0 * std::sqrt(2.0 / 7.0 / kSessions);
  CHECK(sum / kSessions == doctest::Approx(0.0004).epsilon(error));
}

TEST_CASE("equal programs exceed a limit of 1% falsely in at most 5% of sessions") {
  for (const double scatter : {0.0, 0.02, 0.05}) {
    noise::Source source(99);
    int fails = 0;
    for (int i = 0; i < kSessions; ++i) {
      const Sides sides = draw({8, 6, scatter}, source);
      fails += test_over_layouts({.reference = sides.of_reference(),
                                  .candidate = sides.of_candidate(),
                                  .paired = true},
                                 1.01)
                           .tails.above <= 0.05
                   ? 1
                   : 0;
    }
    CAPTURE(scatter);
    CHECK(fails <= 0.05 * kSessions + 3.0 * std::sqrt(0.05 * 0.95 * kSessions));
  }
}

}  // namespace lauka::stats

#include "report/example.h"
#include "report/lines.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

WallFactor factor(WallPart part, double change, double half_width,
                  std::optional<double> reference = {}, std::optional<double> candidate = {}) {
  return {part, changed(change, half_width), reference, candidate};
}

/// The candidate of the manual's example, 4.55 times faster, with these factors.
std::string line_of(Why why) {
  Results results = manual_example();
  why.command = 1;
  results.explanations = {std::move(why)};
  return why_lines(results);
}

}  // namespace

TEST_CASE("why: each factor that differs from 1 is named with its interval") {
  Why why;
  why.factors = {factor(WallPart::Instructions, 1 / 3.0 - 1, 0.001),
                 factor(WallPart::InstructionsPerCycle, 0.35, 0.02),
                 factor(WallPart::Clock, 0.001, 0.005, 3.81e9, 3.82e9),
                 factor(WallPart::Utilisation, -0.01, 0.002, 0.99, 0.98)};
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: 3.00 ± 0.01x fewer instructions, 1.35 ± 0.02x more of them "
        "per cycle, the same clock (3.82 GHz), CPU 1.010 ± 0.002x less busy (99% → 98%)\n");
}

TEST_CASE("why: what stays the same is left out, and what was not counted is said") {
  Why why;
  why.factors = {factor(WallPart::Instructions, 0.001, 0.002),
                 factor(WallPart::InstructionsPerCycle, 0.5, 0.02),
                 factor(WallPart::Clock, -0.2, 0.01, 4.0e9, 3.2e9),
                 factor(WallPart::Utilisation, 2.8, 0.1, 1.0, 3.8)};
  why.is_of_all_kinds = true;
  CHECK(
      line_of(why) ==
      "why: 4.55 ± 0.11x faster: 1.50 ± 0.02x more instructions per cycle, a 1.250 ± 0.016x lower "
      "clock (4.00 → 3.20 GHz), CPU 3.80 ± 0.10x busier (100% → 380%); cycles are summed over all "
      "kinds of core\n");
  why = {};
  why.factors = {factor(WallPart::CpuTime, 0.001, 0.002), factor(WallPart::Utilisation, 0.0, 0.1)};
  why.lacks_cycles = why.lacks_instructions = true;
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: no factor differs significantly from 1; instructions and "
        "cycles were not counted\n");
  why.factors = {factor(WallPart::Instructions, 1.0, 0.02),
                 factor(WallPart::CpuTimePerInstruction, -0.5, 0.01)};
  why.lacks_instructions = false;
  why.is_simulated = true;
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: 2.00 ± 0.02x more instructions, 2.00 ± 0.04x less CPU time for "
        "each of them; cycles were not counted; instructions are simulated\n");
}

}  // namespace lauka::report

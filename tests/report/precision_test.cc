#include "report/precision.h"

#include "report/example.h"
#include "report/screen.h"

#include <doctest/doctest.h>

namespace lauka::report {

namespace {

std::string line(Precision precision) {
  Results results;
  results.precision = precision;
  return precision_line(results);
}

}  // namespace

TEST_CASE("the precision reached is one line with three digits") {
  CHECK(line({0.01, 0.00934, 24, PrecisionEnd::Reached}) ==
        "precision: ±0.934% after 24 runs (asked for: 1%)\n");
  CHECK(line({0.25, 0.2, 10, PrecisionEnd::Reached}) ==
        "precision: ±20.0% after 10 runs (asked for: 25%)\n");
  CHECK(line({0.01, 0.0, 10, PrecisionEnd::Reached}) ==
        "precision: ±0.00% after 10 runs (asked for: 1%)\n");
}

TEST_CASE("a precision that was not reached names the limit that ended it") {
  CHECK(line({0.01, 0.0101, 812, PrecisionEnd::Duration}) ==
        "precision: ±1.01% after 812 runs, not 1%: --duration ended it first\n");
  CHECK(line({0.0001 / 100, 0.5, 10, PrecisionEnd::MaxRuns}).find(", not 0.0001%: ") !=
        std::string::npos);
  CHECK(line({0.005, 3.0, 20, PrecisionEnd::MaxRuns}) ==
        "precision: ±300% after 20 runs, not 0.5%: --max-runs ended it first\n");
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::ReferenceGone}) ==
        "precision: ±2.00% after 40 runs, not 1%: no command comes back after its cleanup; --order "
        "random takes turns\n");
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::Gates}) ==
        "precision: ±2.00% after 40 runs, not 1%: the rounds that the gates took are noisier\n");
  CHECK(line({0.01, {}, 1, PrecisionEnd::Unfinished}) ==
        "precision: no interval after 1 run, not 1%: the session was cut short\n");
}

TEST_CASE("the precision stands below the table, unless only gates are wanted") {
  Results results = manual_example();
  CHECK(screen(results, {}, false).find("precision") == std::string::npos);
  results.precision = Precision{0.01, 0.0101, 812, PrecisionEnd::Duration};
  CHECK(screen(results, {}, false).ends_with("\n\n" + precision_line(results)));
  CHECK(screen(results, {}, true).find("precision") == std::string::npos);
}

}  // namespace lauka::report

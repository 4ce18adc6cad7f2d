#include "report/example.h"
#include "report/lines.h"
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
        "precision of wall time: ±0.934% after 24 runs (asked for: ±1%)\n");
  CHECK(line({0.25, 0.2, 10, PrecisionEnd::Reached, "instructions"}) ==
        "precision of instructions: ±20.0% after 10 runs (asked for: ±25%)\n");
  CHECK(line({0.01, 0.0, 10, PrecisionEnd::Reached}) ==
        "precision of wall time: ±0.00% after 10 runs (asked for: ±1%)\n");
}

TEST_CASE("a precision that was not reached names the limit that ended it") {
  CHECK(line({0.01, 0.0101, 812, PrecisionEnd::Duration}) ==
        "precision of wall time: ±1.01% after 812 runs, short of the ±1% asked for: --duration was "
        "used up\n");
  CHECK(has(line({0.0001 / 100, 0.5, 10, PrecisionEnd::MaxRuns}), ", short of the ±0.0001% "));
  CHECK(line({0.005, 3.0, 20, PrecisionEnd::MaxRuns}).ends_with(": --max-runs was reached\n"));
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::ReferenceGone})
            .ends_with(": in sequential order no command is run again; --order random takes "
                       "turns\n"));
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::Gates})
            .ends_with(": the further rounds of the gates were noisier\n"));
  CHECK(line({0.01, {}, 1, PrecisionEnd::Unfinished}) ==
        "precision of wall time: no interval after 1 run, short of the ±1% asked for: the session "
        "was cut short\n");
}

TEST_CASE("the precision is below the table, unless only gates are wanted") {
  Results results = manual_example();
  CHECK_FALSE(has(screen(results, {}, false), "precision"));
  results.precision = Precision{0.01, 0.0101, 812, PrecisionEnd::Duration};
  CHECK(screen(results, {}, false).ends_with("\n\n" + precision_line(results)));
  CHECK_FALSE(has(screen(results, {}, true), "precision"));
}

}  // namespace lauka::report

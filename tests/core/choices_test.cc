#include "core/choices.h"

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("every engine is found in its own row") {
  for (const EngineRow& row : kEngines) {
    CAPTURE(row.name);
    CHECK(row_of(row.choice).name == row.name);
  }
  CHECK(row_of(EngineChoice::None).name == "none");
  CHECK(row_of(EngineChoice::Cachegrind).needs_installation);
  CHECK(runs_in_valgrind(EngineChoice::Dhat));
  CHECK_FALSE(runs_in_valgrind(EngineChoice::Perf));
}

}  // namespace lauka

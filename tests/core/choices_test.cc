#include "core/choices.h"

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("every engine is found in its own row") {
  for (const EngineRow& row : kEngines) {
    CAPTURE(row.name);
    CHECK(row_of(row.choice).name == row.name);
  }
  CHECK(row_of(EngineChoice::None).name == "none");
  CHECK(row_of(EngineChoice::Cachegrind).runs_in_valgrind);
  CHECK(row_of(EngineChoice::Dhat).runs_in_valgrind);
  CHECK_FALSE(row_of(EngineChoice::Perf).runs_in_valgrind);
}

}  // namespace lauka

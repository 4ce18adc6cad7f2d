#include "cli/parsed.h"

#include <doctest/doctest.h>

namespace lauka::cli {

TEST_CASE("--race has a limit of 1% unless another is given") {
  CHECK(parsed({"--race", "./a", "./b"})->run.race_limit == 0.01);
  CHECK(parsed({"--race=2.5", "./a", "./b"})->run.race_limit == 0.025);
  CHECK(parsed({"--race=0", "./a", "./b"})->run.race_limit == 0.0);
  CHECK_FALSE(parsed({"./a", "./b"})->run.race_limit);
}

TEST_CASE("--race refuses options that fit no race, with the reason") {
  const auto with = [](Words options) {
    options.insert(options.begin(), "--race");
    options.insert(options.end(), {"./a", "./b"});
    return answer_to(options);
  };
  CHECK(with({"--baseline", "b.json"}) ==
        "--race cannot be combined with --baseline, because a race compares the commands with each "
        "other in common rounds; add the earlier program to the commands");
  CHECK(with({"--fail-if-slower=2"}) ==
        "--race cannot be combined with --fail-if-slower, because a race drops commands before a "
        "gate on them could be decided; run the race first, and then measure its winner with the "
        "gate");
  CHECK(with({"--fail-if", "cpu_time > 2"})
            .starts_with("--race cannot be combined with --fail-if, because "));
  CHECK(with({"--precision", "1"})
            .starts_with("--race cannot be combined with --precision, because "));
  CHECK(with({"-r", "20"}) ==
        "--race cannot be combined with --runs, because commands leave a race after different "
        "numbers of runs; limit the rounds with --max-runs N");
  CHECK(with({"--order", "sequential"})
            .starts_with("--race cannot be combined with --order sequential, because "));
  CHECK(with({"--from", "b.json"}).starts_with("--from runs nothing, so --race has no effect"));
  CHECK(with({"-M", "20", "--layouts", "4", "--order", "interleaved"}) == "accepted");
}

}  // namespace lauka::cli

#include "cli/parsed.h"
#include "core/machine.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

std::string kinds(const char* value) {
  const auto options = parsed({"--core-kinds", value, "true"});
  if (!options) return options.error().line();
  std::string text;
  for (const CoreKind& kind : options->core_kinds)
    text += kind.name + "=" + cpu_list_text(kind.cpus) + " ";
  return text;
}

}  // namespace

TEST_CASE("kinds of core are named with their CPUs; a comma before a name begins the next") {
  CHECK(kinds("P=0-3,E=4-7") == "P=0-3 E=4-7 ");
  CHECK(kinds("P=0-3,8,E=4-7,9,LP=10") == "P=0-3,8 E=4-7,9 LP=10 ");
}

TEST_CASE("kinds of core that contradict themselves are refused in one line") {
  CHECK(kinds("P=0-3,E=3-7") ==
        "--core-kinds 'P=0-3,E=3-7' has CPU 3 in both P and E; put each CPU into one kind");
  CHECK(kinds("P=0,0,E=1") == "--core-kinds 'P=0,0,E=1' names CPU 0 twice; name each CPU once");
  CHECK(kinds("P=0,p=1") == "--core-kinds 'P=0,p=1' names p twice; put each CPU into one kind");
  CHECK(kinds("P=0-3") ==
        "--core-kinds 'P=0-3' names only one kind of core; write, for example, P=0-3,E=4-7");
  CHECK(kinds("P=0,cpu=1") ==
        "--core-kinds 'P=0,cpu=1' makes a metric cpu_time, which already exists; use another "
        "name");
  CHECK(kinds("P=,E=1") ==
        "--core-kinds 'P=,E=1' has no CPUs for P; write, for example, P=0-3,E=4-7");
  CHECK(kinds("0-3") ==
        "--core-kinds '0-3' has '0-3' where a kind is wanted; write, for example, P=0-3,E=4-7");
  CHECK_FALSE(parsed({"--core-kinds", "P=a,E=1", "true"}).has_value());
  CHECK_FALSE(parsed({"--core-kinds", "P x=0,E=1", "true"}).has_value());
}

TEST_CASE("a kind of core is preferred by its letter") {
  CHECK(parsed({"--cores", "p", "true"})->cores == CorePreference::Performance);
  CHECK(parsed({"--cores", "e", "true"})->cores == CorePreference::Efficiency);
  CHECK(parsed({"--cores", "any", "true"})->cores == CorePreference::Any);
  CHECK_FALSE(parsed({"--cores", "fast", "true"}).has_value());
}

TEST_CASE("the least share is a percentage above 0 and of at most 100") {
  CHECK(parsed({"--min-p-share", "95", "true"})->min_p_share == doctest::Approx(0.95));
  CHECK(answer_to({"--min-p-share", "101", "true"}) ==
        "--min-p-share '101' is out of range; write a number above 0 and at most 100");
  CHECK_FALSE(parsed({"--min-p-share", "0", "true"}).has_value());
}

TEST_CASE("--threads takes several processes with --interval, and each once") {
  const auto both = parsed({"--threads", "42,7,42", "--interval", "10ms", "-d", "2s"});
  REQUIRE(both.has_value());
  CHECK(both->inquiry->processes == std::vector<std::int32_t>{42, 7});
  CHECK(both->inquiry->interval == std::chrono::milliseconds(10));
  CHECK(both->inquiry->during == std::chrono::seconds(2));
  CHECK(answer_to({"--threads", "42,7"}) ==
        "--threads shows the table of one process; name one, or add --interval 10ms for a line of "
        "JSON per thread and interval");
  CHECK(answer_to({"--interval", "10ms", "true"}) ==
        "--interval without --threads; add --threads PID, or leave it out");
  CHECK(answer_to({"--threads", "42", "--interval", "10us"}) ==
        "--interval '10us' is not between 1ms and 1h; write, for example, 10ms");
  CHECK_FALSE(parsed({"--threads", "42,", "--interval", "10ms"}).has_value());
  CHECK_FALSE(parsed({"--threads", "42", "--interval", "2h"}).has_value());
}

TEST_CASE("--threads takes a process, and with -d how long to look") {
  const auto born = parsed({"--threads", "42"});
  REQUIRE(born.has_value());
  CHECK(born->inquiry->processes == std::vector<std::int32_t>{42});
  CHECK_FALSE(born->inquiry->during.has_value());
  const auto during = parsed({"--threads", "42", "-d", "2s"});
  REQUIRE(during.has_value());
  CHECK(during->inquiry->during == std::chrono::seconds(2));
  CHECK(answer_to({"--threads", "42", "true"}) ==
        "--threads runs nothing, so 'true' has no effect; leave it out");
  CHECK_FALSE(parsed({"--threads", "0"}).has_value());
  CHECK_FALSE(parsed({"--threads", "self"}).has_value());
}

}  // namespace lauka::cli

#include "confirm/confirm.h"

#include "darwin/launched.h"
#include "engine/kperf/kpep.h"
#include "must.h"
#include "places.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/wait.h>

// scripts/confirm-on-mac on the model: its report on a Mac that agrees with the facts, and on one
// that does not.

namespace lauka::confirm {
namespace {

using darwin::CallRules;
using darwin::machine;

std::string data(const std::string& name) {
  return std::string(places::kRepository) + "/tests/data/" + name;
}

struct OnModel : darwin::Launched {
  explicit OnModel(const std::string& chip, const CallRules& rules = {})
      : OnModel(chip, machine(chip), rules) {}
  OnModel(const std::string& chip, darwin::Setup setup, const CallRules& rules = {})
      : Launched(std::move(setup), rules),
        setting{driver.calls, *launcher,
                must(engine::kperf::load_kpep(data("kpep/" + chip + ".plist"))), data("confirm"),
                2} {}

  std::vector<Row> confirm() const { return must(lauka::confirm::confirm(setting)); }

  Setting setting;
};

std::vector<std::string> checks_that_fail(const std::vector<Row>& rows) {
  std::vector<std::string> failing;
  for (const Row& row : rows)
    if (!row.holds) failing.push_back(row.strategy + ": " + row.check + ": " + row.seen);
  return failing;
}

std::size_t count_of(const std::vector<Row>& rows, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.check.find(part) != std::string::npos;
  }));
}

TEST_CASE("a Mac that is as the facts have it confirms everything") {
  for (const std::string chip : {"m1", "m4"}) {
    CAPTURE(chip);
    const OnModel model(chip);
    const auto rows = model.confirm();
    const auto failing = checks_that_fail(rows);
    CHECK_MESSAGE(failing.empty(), (failing.empty() ? "" : failing.front()));
    CHECK(count_of(rows, "one thread, 200 ms") == 3);  // exit, pet, cpu
    CHECK(count_of(rows, "(mask 0x80) on PMC") == 8);
    CHECK(count_of(rows, chip == "m1" ? "(mask 0xe0) on PMC" : "(mask 0xfc) on PMC") == 8);
    CHECK(all_hold(rows));
    CHECK(table(rows).find("**no**") == std::string::npos);
  }
}

TEST_CASE(
    "a macOS that takes new words only when counting is switched on confirms everything too") {
  darwin::Setup setup = machine("m1");
  setup.pmu.words_at_start = true;
  const OnModel model("m1", setup);
  const auto rows = model.confirm();
  CHECK(checks_that_fail(rows).empty());
}

TEST_CASE("an event that counts nothing on its counter is reported") {
  darwin::Setup setup = machine("m1");
  setup.pmu.dead_mask = 0x80;
  const OnModel model("m1", setup);
  const auto rows = model.confirm();
  CHECK(checks_that_fail(rows) ==
        std::vector<std::string>{"exit: INST_ALL (mask 0x80) on PMC7: 0"});
  CHECK_FALSE(all_hold(rows));
  CHECK(table(rows).find(
            "| INST_ALL (mask 0x80) on PMC7 | exit | the event's count | 0 | **no** |\n") !=
        std::string::npos);
}

TEST_CASE(
    "a kernel that refuses the trigger at threads' ends is reported, and the others are tried") {
  CallRules rules;
  rules.failures["kperf.kdebug.action"] = {EINVAL};
  const OnModel model("m1", rules);
  const auto rows = model.confirm();
  const auto failing = checks_that_fail(rows);
  REQUIRE(failing.size() == 2);
  CHECK(failing.front().rfind("exit: strategy: ", 0) == 0);
  CHECK(count_of(rows, "one thread, 200 ms") == 2);
}

TEST_CASE("what only a Mac knows is asked, and everything is given back") {
  OnModel model("m4");
  model.setting.short_runs = 20;
  std::string text;
  for (const std::string& line : left_by_others(model.driver.calls)) text += line + "\n";
  for (const std::string& line : unknowns(model.setting)) text += line + "\n";
  for (const char* part :
       {"kperf.action.count before: ", "ktrace.state before: ", "events refused: ",
        "(errno 0) comes back as 0x2", "CPUs of 10 that answered, of 50 times each: 50 x 10",
        "CPUs and coprocessors: 10 of 10 CPUs", "cost of counting (exit), per thread: ",
        "cost of counting (pet), per process (fork, exec): ", "least coverage of 20 runs of 1 ms: ",
        "of these not counted: none",
        "call kpc.force_all_ctrs new 01000000 (4) room - -> 0 errno 0",
        "call 1.24.10 new - (0) room "}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(model.driver.host.still_held().empty());
}

TEST_CASE("counters that another process holds are a refusal") {
  darwin::Setup setup = machine("m1");
  setup.force_is_taken = true;
  const OnModel model("m1", setup);
  CHECK(lauka::confirm::confirm(model.setting).error().what.find("holds the counters") !=
        std::string::npos);
}

TEST_CASE("without root nothing is tried: status 2") {
  darwin::Setup setup = machine("m1");
  setup.is_root = false;
  const OnModel model("m1", setup);
  CHECK(run(model.driver.calls, engine::kperf::load_kpep(data("kpep/m1.plist")), data("confirm")) ==
        2);
}

TEST_CASE("on Linux the script says that it needs a Mac: status 2") {
  const std::string script = std::string(places::kRepository) + "/scripts/confirm-on-mac";
  const int status =
      std::system((script + " 2>/dev/null").c_str());  // NOLINT(concurrency-mt-unsafe)
  CHECK(WEXITSTATUS(status) == 2);
}

}  // namespace
}  // namespace lauka::confirm

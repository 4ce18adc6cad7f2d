#include "cli/accepted.h"

#include "has.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

const std::string kEntry =
    "[[accept]]\nbenchmark = 'parse'\ncondition = 'cpu_time > 5'\nreason = 'new parser'\nuntil = "
    "2027-03-01\n";

std::vector<AcceptedRegression> entries_of(const std::string& text) {
  auto accepted = read_accepted("a.toml", text);
  if (!accepted) FAIL(accepted.error().line());
  return *accepted;
}

/// Returns the refusal.
std::string refusal_of(const std::string& text) {
  const auto accepted = read_accepted("a.toml", text);
  return accepted ? "read" : accepted.error().line();
}

/// An entry for every benchmark.
std::string entry_for(const std::string& condition, const std::string& until = "2027-03-01") {
  return "[[accept]]\ncondition = '" + condition + "'\nreason = 'why'\nuntil = " + until + "\n";
}

/// A gate of `benchmark` on the 28th of November 2026, with what `text` accepts.
Condition accepted_by(const std::string& text, Condition gate,
                      const std::string& benchmark = "parse") {
  auto accepted = entries_of(text);
  std::vector<Condition> gates = {std::move(gate)};
  accept_regressions(accepted, benchmark, "2026-11-28", gates);
  return gates.front();
}

const Condition kTwoPercent{.metric = "cpu_time", .limit = GateLimit::of_change(2.0)};

}  // namespace

TEST_CASE("an entry has a benchmark, a condition, a reason and a last day") {
  const auto accepted = entries_of(kEntry);
  REQUIRE(accepted.size() == 1);
  CHECK(accepted[0].benchmark == "parse");
  CHECK(accepted[0].condition.metric == "cpu_time");
  CHECK(accepted[0].condition.limit == GateLimit::of_change(5.0));
  CHECK(accepted[0].reason == "new parser");
  CHECK(accepted[0].last_day == "2027-03-01");
  CHECK(accepted[0].entry == "a.toml:1");
  CHECK(entries_of("").empty());
  CHECK(entries_of("# nothing is accepted\n").empty());
}

TEST_CASE("a gate tests the accepted limit, and keeps its own for what is said") {
  const Condition gate = accepted_by(kEntry, kTwoPercent);
  CHECK(gate.limit == GateLimit::of_change(5.0));
  REQUIRE(gate.acceptance.has_value());
  CHECK(gate.acceptance->own_limit == GateLimit::of_change(2.0));
  CHECK(gate.acceptance->reason == "new parser");
  CHECK_FALSE(gate.acceptance->has_expired);
  CHECK(with_own_limit(gate) == kTwoPercent);

  const Condition of_time{.metric = "wall_time", .limit = GateLimit::of_value(0.2, "200ms")};
  const Condition longer = accepted_by(entry_for("wall_time > 250ms"), of_time);
  CHECK(longer.limit == GateLimit::of_value(0.25, "250ms"));
  CHECK(with_own_limit(longer) == of_time);
}

TEST_CASE("an entry is for gates on the same metric, in the same direction and kind of limit") {
  const auto applies = [](const std::string& condition, const Condition& gate) {
    return accepted_by(entry_for(condition), gate).acceptance.has_value();
  };
  CHECK(applies("cpu_time > 5", kTwoPercent));
  CHECK_FALSE(applies("wall_time > 5", kTwoPercent));
  CHECK_FALSE(applies("cpu_time < 5", kTwoPercent));
  CHECK_FALSE(applies("cpu_time > 5ms", kTwoPercent));

  const Condition drop{
      .metric = "ipc", .limit = GateLimit::of_change(-5.0), .fails_below_limit = true};
  CHECK(applies("ipc < -8", drop));
  CHECK_FALSE(applies("ipc < -4", drop));  // accepts less than the gate
}

TEST_CASE("an entry of the benchmark wins over an entry of every benchmark") {
  const std::string both = entry_for("cpu_time > 9") + kEntry;
  CHECK(accepted_by(both, kTwoPercent).limit == GateLimit::of_change(5.0));
  CHECK(accepted_by(both, kTwoPercent, "print").limit == GateLimit::of_change(9.0));
  CHECK(accepted_by(both, kTwoPercent, "").limit == GateLimit::of_change(9.0));
  CHECK_FALSE(accepted_by(kEntry, kTwoPercent, "print").acceptance);
}

TEST_CASE("an entry holds on its last day, and not on the next one") {
  const auto on = [](const std::string& day) {
    auto accepted = entries_of(entry_for("cpu_time > 5"));
    std::vector<Condition> gates = {kTwoPercent};
    accept_regressions(accepted, "", day, gates);
    return gates.front();
  };
  CHECK(on("2027-03-01").limit == GateLimit::of_change(5.0));
  CHECK(on("2027-03-02").limit == GateLimit::of_change(2.0));
  CHECK(on("2027-03-02").acceptance.value().has_expired);
  CHECK(with_own_limit(on("2027-03-02")) == kTwoPercent);
}

TEST_CASE("an entry that allows no more than the gate is named, and changes nothing") {
  auto accepted = entries_of(entry_for("cpu_time > 2"));
  std::vector<Condition> gates = {kTwoPercent};
  const auto notes = accept_regressions(accepted, "", "2026-11-28", gates);
  CHECK(gates.front() == kTwoPercent);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].text ==
        "a.toml:1 (why) is not needed, because the gate's own limit allows as much; remove the "
        "entry");
}

TEST_CASE("an entry knows if a gate was found for it") {
  auto accepted = entries_of(entry_for("cpu_time > 5") + entry_for("wall_time > 5"));
  std::vector<Condition> gates = {kTwoPercent};
  accept_regressions(accepted, "", "2026-11-28", gates);
  CHECK(accepted[0].has_gate);
  CHECK_FALSE(accepted[1].has_gate);
}

TEST_CASE("a file that cannot be used is refused with its line and a remedy") {
  CHECK(refusal_of("[[accept]]\ncondition = 'cpu_time > 5'\nuntil = 2027-03-01\n") ==
        "a.toml:1: an accepted regression has no reason; write reason = \"new parser\"");
  CHECK(has(refusal_of("[[accept]]\nreason = 'x'\nuntil = 2027-03-01\n"),
            "a.toml:1: an accepted regression has no condition; write condition = "));
  CHECK(has(refusal_of("[[accept]]\nreason = 'x'\ncondition = 'cpu_time > 5'\n"),
            "a.toml:1: an accepted regression has no until; write until = 2027-03-01"));
  CHECK(refusal_of(entry_for("cpu_time > 5", "'soon'")) ==
        "a.toml:4: until must be a date; write the last day without quotes, as in until = "
        "2027-03-01");
  CHECK(has(refusal_of(entry_for("cpu_time > 5", "2027-02-30")), "a.toml:4: is not valid TOML"));
  CHECK(has(refusal_of(entry_for("cpu_time")), "a.toml:2: "));
  CHECK(has(refusal_of(entry_for("cpu_time")), "is not of the form METRIC > LIMIT"));
  CHECK(refusal_of(entry_for("cpu_time > 5") + "reasn = 'y'\n") ==
        "a.toml:5: unknown key 'reasn'; did you mean reason?");
  CHECK(has(refusal_of("[[accept]]\nreason = ''\n"),
            "a.toml:2: reason must be a text that is not empty"));
  CHECK(has(refusal_of("[accept]\nreason = 'x'\n"),
            "a.toml:1: 'accept' has no meaning here; write [["));
  CHECK(
      has(refusal_of("[[benchmark]]\nname = 'x'\n"), "a.toml:1: 'benchmark' has no meaning here"));
  CHECK(has(refusal_of(entry_for("cpu_time > 5") + entry_for("cpu_time > 7")),
            "a.toml:5: a.toml:1 accepts a regression of the same gate; keep one"));
  CHECK(has(refusal_of("[[[\n"), "is not valid TOML"));
  CHECK(has(refusal_of("[[accept]]\nreason = new parser\n"),
            "put text in quotes: reason = \"new parser\""));
}

}  // namespace lauka::cli

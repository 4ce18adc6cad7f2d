#include "run/kept_rounds.h"

#include "core/seals.h"
#include "run/bench.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of_two() {
  Plan plan = plan_of({"old", "new"}, 5);
  plan.setting.order = Order::Random;
  plan.setting.seed = 7;
  return plan;
}

constexpr std::size_t kNever = 1000;

/// A session of two commands whose runs take longer and longer, and what it kept.
/// It is interrupted once `last` of them have ended, or while run `cancelled` is under way.
Session session_of(RoundKeeper& keeper, std::size_t& ran, std::size_t last = kNever,
                   std::size_t cancelled = kNever, const Plan& plan = plan_of_two(),
                   std::chrono::milliseconds time = std::chrono::milliseconds(1)) {
  Bench bench;
  std::size_t number = ran;
  bench.launcher.scripts.resize(2, {time});
  bench.launcher.adjust = [&](os::ProgramId, os::Ended& ended) {
    ended.usage.wall_ns = 1000 + 10 * ++number;
    if (number < cancelled) return;
    ended.outcome = Cancelled{};
    last = number;
  };
  RunContext context = bench.context();
  context.pending_interrupt = [&] { return number >= last ? 2 : 0; };
  const auto measured = carry_out({"", plan, bench.engine, nullptr, false, &keeper}, context);
  REQUIRE(measured);
  ran = bench.launcher.runs();
  return measured->session;
}

/// A session like that from its beginning, and the rounds that it kept.
struct KeptSession {
  std::vector<FinishedRounds> rounds{};
  std::size_t ran = 0;
  Session session;

  explicit KeptSession(std::size_t last = kNever, std::size_t cancelled = kNever,
                       const Plan& plan = plan_of_two())
      : session(session_with(last, cancelled, plan)) {}

 private:
  Session session_with(std::size_t last, std::size_t cancelled, const Plan& plan) {
    RoundKeeper keeper{{}, [this](const FinishedRounds& one) { rounds.push_back(one); }};
    return session_of(keeper, ran, last, cancelled, plan);
  }
};

}  // namespace

TEST_CASE("rounds come back from their line as they were") {
  FinishedRounds rounds{.first = {1, 2, 0, RoundKind::Counting}, .step_count = 4};
  rounds.time = std::chrono::nanoseconds(12345);
  RunRecord run{{1, 2, 0, RoundKind::Timed}, Signalled{9, true}, {}, {7, std::nullopt}, 0.5};
  run.usage.wall_ns = 18'446'744'073'709'551'615U;
  run.reported = {std::nullopt, 0.1};
  run.details.number_in_suite = 12;
  rounds.runs = {run};
  rounds.redone = {{run, RedoReason::CoreShare, "the trace lost records"}};
  rounds.paces = {{{3, 0.1}, {0, 0.0}, {2, 1.0 / 3.0}}};
  rounds.notes = {{"orphans", "a note\nof two \xff lines"}};
  rounds.uncounted = {{"", {"why", "remedy"}, 3, "cycles"}};
  rounds.discovered = {{.name = "rate", .unit = parse_own_unit("MiB"), .better = Better::More}};
  rounds.overheads = {{1, 2, 3}};
  const std::string line = to_line(5, rounds);
  CHECK(line.find('\n') == std::string::npos);
  const auto back = parse_rounds(line).value();
  CHECK(back.first == 5);
  CHECK(back.second.runs.at(0).usage.wall_ns == run.usage.wall_ns);
  CHECK(back.second.runs.at(0).details.number_in_suite == 12);
  CHECK(back.second.paces.at(0).wall_time_seconds.mean == 1.0 / 3.0);
  CHECK(back.second.discovered.at(0).unit.word == "MiB");
  CHECK(back.second.uncounted.at(0).events == "cycles");
  rounds.notes = back.second.notes;  // bytes that are no UTF-8 are replaced
  CHECK(to_line(5, rounds) == to_line(5, back.second));
}

TEST_CASE("a line with a value of another type does not count") {
  FinishedRounds rounds;
  rounds.runs.emplace_back().counts = {7, std::nullopt};
  const std::string line = to_line(0, rounds);
  const std::size_t counts = line.find("[7,null]");
  REQUIRE(counts != std::string::npos);
  REQUIRE(parse_rounds(line));
  CHECK_FALSE(parse_rounds(std::string(line).replace(counts, 8, R"([7,"x"])")));
}

TEST_CASE("a line that is incomplete or foreign does not count") {
  const std::string line = to_line(0, FinishedRounds{});
  for (std::size_t length = 0; length < line.size(); ++length)
    CHECK_FALSE(parse_rounds(line.substr(0, length)));
  CHECK_FALSE(parse_rounds("{}"));
  CHECK_FALSE(parse_rounds("[1,2]"));
  CHECK_FALSE(parse_rounds("{\"benchmark\":-1,\"first\":[0,0,0,99]}"));
}

TEST_CASE(
    "the head of a log has its begin to the millisecond; one of another layout does not count") {
  const LogHead head{{{"suite", "x"}},
                     {{"kernel", "6"}},
                     7,
                     UtcTime(std::chrono::milliseconds(1'795'424'400'123))};
  const auto back = parse_head(to_line(head));
  REQUIRE(back);
  CHECK(back->measuring_began == head.measuring_began);
  CHECK(back->seed == head.seed);
  CHECK(back->settings == head.settings);
  std::string of_another = to_line(head);
  char& digit = of_another[std::string("[\"lauka-rounds-").size()];
  digit = digit == '0' ? '1' : '0';
  CHECK_FALSE(parse_head(of_another));
}

TEST_CASE("a session that goes on has the rounds that were finished, and runs the others alone") {
  const KeptSession whole;
  const auto& kept = whole.rounds;
  REQUIRE(whole.ran == 10);
  REQUIRE(kept.size() > 1);
  RoundKeeper resumed;
  const std::size_t finished = kept.size() - 1;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < finished; ++i) {
    runs += kept[i].runs.size();
    resumed.rounds_to_replay.push_back(kept[i]);
  }
  std::size_t ran_again = runs;
  const Session session = session_of(resumed, ran_again);
  CHECK(ran_again == 10 - runs);
  REQUIRE(session.runs.size() == whole.session.runs.size());
  for (std::size_t i = 0; i < whole.session.runs.size(); ++i) {
    CHECK(session.runs.wall_seconds(i) == whole.session.runs.wall_seconds(i));
    CHECK(session.runs.row(i).command == whole.session.runs.row(i).command);
  }
}

TEST_CASE("a round whose last run has ended when the signal comes is kept") {
  const KeptSession kept(2);
  REQUIRE(kept.session.cut_short);
  REQUIRE(kept.session.runs.size() == 2);
  REQUIRE(kept.rounds.size() == 1);
  CHECK(kept.rounds.front().runs.size() == 2);
}

TEST_CASE("the complete rounds of a request that a signal interrupts are kept") {
  RoundKeeper whole_keeper;
  std::size_t ran = 0;
  const Session whole = session_of(whole_keeper, ran);
  RoundKeeper all;
  const auto keep = [&](const FinishedRounds& rounds) { all.rounds_to_replay.push_back(rounds); };
  const auto interrupted = [&](std::size_t kept, std::size_t cancelled) {
    RoundKeeper keeper{all.rounds_to_replay, keep};
    std::size_t number = kept;
    session_of(keeper, number, kNever, cancelled);
  };
  const auto runs = [&] {
    std::size_t count = 0;
    for (const FinishedRounds& one : all.rounds_to_replay) count += one.runs.size();
    return count;
  };
  // A round, and four in one request: the signal comes in the fourth of all, then in the last.
  interrupted(0, 8);
  REQUIRE(runs() == 6);
  interrupted(6, 10);
  REQUIRE(runs() == 8);
  RoundKeeper last{all.rounds_to_replay};
  std::size_t number = runs();
  const Session session = session_of(last, number);
  CHECK_FALSE(session.cut_short);
  CHECK(number == 2);
  REQUIRE(session.runs.size() == whole.runs.size());
  for (std::size_t i = 0; i < whole.runs.size(); ++i)
    CHECK(session.runs.wall_seconds(i) == whole.runs.wall_seconds(i));
}

TEST_CASE("a round whose conclude the signal cancels is not kept") {
  Plan plan = plan_of_two();
  for (Command& command : plan.commands) command.hooks[HookKind::Conclude] = "conclude";
  const KeptSession kept(kNever, 12, plan);
  CHECK(kept.session.runs.size() == 6);
  REQUIRE(kept.rounds.size() == 2);
  CHECK(kept.rounds[0].runs.size() + kept.rounds[1].runs.size() == 4);
}

TEST_CASE("a session goes on a second time, however long the warm-up of the first took") {
  Plan plan = plan_of_two();
  plan.setting.warmup_runs = 1;
  plan.setting.stop.exact_runs = 40;
  std::vector<FinishedRounds> kept;
  RoundKeeper keeper{{}, [&](const FinishedRounds& rounds) { kept.push_back(rounds); }};
  std::size_t ran = 0;
  session_of(keeper, ran, 20, kNever, plan);
  RoundKeeper second{{kept.begin(), kept.end()}, keeper.append_to_log};
  const std::size_t before = kept.size();
  ran = 0;
  session_of(second, ran, 3, kNever, plan, std::chrono::milliseconds(20));
  REQUIRE(kept.size() > before);
  RoundKeeper third{{kept.begin(), kept.end()}};
  ran = 0;
  const Session session = session_of(third, ran, kNever, kNever, plan);
  CHECK_FALSE(session.cut_short);
  CHECK(session.runs.size() == 80);
}

TEST_CASE("a session that is interrupted before it goes on has all rounds that were finished") {
  const KeptSession whole;
  RoundKeeper resumed;
  resumed.rounds_to_replay.assign(whole.rounds.begin(), whole.rounds.end());
  std::size_t ran = 0;
  const Session session = session_of(resumed, ran, 0);
  REQUIRE(session.cut_short);
  CHECK(ran == 0);
  CHECK(session.runs.size() == whole.session.runs.size());
}

TEST_CASE("a log whose lines are not the ones that were sealed, in their order, is noticed") {
  Seals sealing;
  const std::vector<std::string> lines = {sealing.seal("head"), sealing.seal("{1}"),
                                          sealing.seal("{2}")};
  const auto opened = [](const std::vector<std::string>& all) {
    Seals seals;
    return std::ranges::all_of(all, [&](const auto& line) { return seals.open(line).has_value(); });
  };
  REQUIRE(opened(lines));
  CHECK(opened({lines[0], lines[1]}));
  CHECK_FALSE(opened({lines[0], lines[2]}));
  CHECK_FALSE(opened({lines[0], lines[2], lines[1]}));
  CHECK_FALSE(opened({lines[0], lines[1], lines[1]}));
  CHECK_FALSE(opened({lines[1]}));
  CHECK_FALSE(opened({lines[0], "{3}" + lines[1].substr(3)}));
  CHECK_FALSE(opened({lines[0], "{1}"}));
  CHECK_FALSE(opened({"bead" + lines[0].substr(4)}));
  CHECK_FALSE(opened({""}));
  // A log that goes on is sealed like one that was never interrupted.
  Seals again;
  CHECK(again.open(lines[0]) == "head");
  CHECK(again.seal("{1}") == lines[1]);
}

TEST_CASE("rounds of another plan end the session that would go on with them") {
  RoundKeeper keeper;
  FinishedRounds other{.first = {0, 0, 0, RoundKind::Timed}, .step_count = 17};
  keeper.rounds_to_replay.push_back(other);
  std::size_t ran = 0;
  const Session session = session_of(keeper, ran);
  REQUIRE(session.cut_short);
  CHECK(std::get<Error>(*session.cut_short).what ==
        "the rounds that --resume found do not belong to this suite");
}

}  // namespace lauka

#include "run/kept_rounds.h"

#include "run/bench.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of_two() {
  Plan plan = plan_of({"old", "new"}, 5);
  plan.order = Order::Random;
  plan.seed = 7;
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
  const auto measured = carry_out(plan, {bench.launcher,
                                         bench.engine,
                                         bench.clock,
                                         bench.listener,
                                         [&] { return number >= last ? 2 : 0; },
                                         {},
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         false,
                                         &keeper});
  REQUIRE(measured);
  ran = bench.launcher.runs();
  return measured->session;
}

/// A session like that from its beginning, and the rounds that it kept.
struct KeptSession {
  std::vector<KeptRounds> rounds{};
  std::size_t ran = 0;
  Session session;

  explicit KeptSession(std::size_t last = kNever, std::size_t cancelled = kNever,
                       const Plan& plan = plan_of_two())
      : session(session_with(last, cancelled, plan)) {}

 private:
  Session session_with(std::size_t last, std::size_t cancelled, const Plan& plan) {
    RoundKeeper keeper{{}, [this](const KeptRounds& one) { rounds.push_back(one); }};
    return session_of(keeper, ran, last, cancelled, plan);
  }
};

}  // namespace

TEST_CASE("rounds come back from their line as they were") {
  KeptRounds rounds{.first = {1, 2, 0, RoundKind::Counting}, .steps = 4};
  rounds.time = std::chrono::nanoseconds(12345);
  RunRecord run{{1, 2, 0, RoundKind::Timed}, Signalled{9, true}, {}, {7, std::nullopt}, 0.5};
  run.usage.wall_ns = 18'446'744'073'709'551'615U;
  run.reported = {std::nullopt, 0.1};
  run.order = 12;
  rounds.runs = {run};
  rounds.redone = {{run, "the trace lost records"}};
  rounds.paces = {{{3, 0.1}, {0, 0.0}, {2, 1.0 / 3.0}}};
  rounds.notes = {"a note\nof two \xff lines"};
  rounds.uncounted = {{"", {"why", "remedy"}, 3}};
  rounds.discovered = {{.name = "rate", .unit = parse_own_unit("MiB"), .better = Better::More}};
  rounds.overheads = {{1, 2, 3}};
  const std::string line = to_line(5, rounds);
  CHECK(line.find('\n') == std::string::npos);
  const auto back = parse_rounds(line).value();
  CHECK(back.first == 5);
  CHECK(back.second.runs.at(0).usage.wall_ns == run.usage.wall_ns);
  CHECK(back.second.runs.at(0).order == 12);
  CHECK(back.second.paces.at(0).wall.mean == 1.0 / 3.0);
  CHECK(back.second.discovered.at(0).unit.word == "MiB");
  rounds.notes = back.second.notes;  // bytes that are no UTF-8 are replaced
  CHECK(to_line(5, rounds) == to_line(5, back.second));
}

TEST_CASE("a line that is incomplete or foreign does not count") {
  const std::string line = to_line(0, KeptRounds{});
  for (std::size_t length = 0; length < line.size(); ++length)
    CHECK_FALSE(parse_rounds(line.substr(0, length)));
  CHECK_FALSE(parse_rounds("{}"));
  CHECK_FALSE(parse_rounds("[1,2]"));
  CHECK_FALSE(parse_rounds("{\"benchmark\":-1,\"first\":[0,0,0,99]}"));
}

TEST_CASE("the head of a log has its begin to the millisecond; an older lauka's does not count") {
  const KeptHead head{{{"suite", "x"}}, 7, TimeOfDay(std::chrono::milliseconds(1'795'424'400'123))};
  const auto back = parse_head(to_line(head)).value();
  CHECK(back.began == head.began);
  CHECK(back.seed == head.seed);
  CHECK(back.made_of == head.made_of);
  CHECK_FALSE(parse_head(R"(["lauka-rounds-2",7,1795424400,[["suite","x"]]])"));
  CHECK(parse_head(R"(["lauka-rounds-3",7,253402300799999,[]])"));  // the year 9999 ends
  CHECK_FALSE(parse_head(R"(["lauka-rounds-3",7,253402300800000,[]])"));
  CHECK_FALSE(parse_head(R"(["lauka-rounds-3",7,-1,[]])"));
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
    resumed.finished.push_back(kept[i]);
  }
  std::size_t ran_again = runs;
  const Session session = session_of(resumed, ran_again);
  CHECK(ran_again == 10 - runs);
  REQUIRE(session.runs.size() == whole.session.runs.size());
  for (std::size_t i = 0; i < whole.session.runs.size(); ++i) {
    CHECK(session.runs[i].usage.wall_ns == whole.session.runs[i].usage.wall_ns);
    CHECK(session.runs[i].step.command == whole.session.runs[i].step.command);
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
  const auto keep = [&](const KeptRounds& rounds) { all.finished.push_back(rounds); };
  const Plan plan = plan_of_two();
  const auto interrupted = [&](std::size_t kept, std::size_t cancelled) {
    RoundKeeper keeper{all.finished, keep};
    std::size_t number = kept;
    session_of(keeper, number, kNever, cancelled);
  };
  const auto runs = [&] {
    std::size_t count = 0;
    KeptRoundsCheck check(plan);
    for (const KeptRounds& one : all.finished) {
      CHECK(check.accept(one));
      count += one.runs.size();
    }
    return count;
  };
  // A round, and four in one request: the signal comes in the fourth of all, then in the last.
  interrupted(0, 8);
  REQUIRE(runs() == 6);
  interrupted(6, 10);
  REQUIRE(runs() == 8);
  RoundKeeper last{all.finished};
  std::size_t number = runs();
  const Session session = session_of(last, number);
  CHECK_FALSE(session.cut_short);
  CHECK(number == 2);
  REQUIRE(session.runs.size() == whole.runs.size());
  for (std::size_t i = 0; i < whole.runs.size(); ++i)
    CHECK(session.runs[i].usage.wall_ns == whole.runs[i].usage.wall_ns);
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
  plan.warmup = 1;
  plan.stop.exact_runs = 40;
  std::vector<KeptRounds> kept;
  RoundKeeper keeper{{}, [&](const KeptRounds& rounds) { kept.push_back(rounds); }};
  std::size_t ran = 0;
  session_of(keeper, ran, 20, kNever, plan);
  RoundKeeper second{{kept.begin(), kept.end()}, keeper.keep};
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
  resumed.finished.assign(whole.rounds.begin(), whole.rounds.end());
  std::size_t ran = 0;
  const Session session = session_of(resumed, ran, 0);
  REQUIRE(session.cut_short);
  CHECK(ran == 0);
  CHECK(session.runs.size() == whole.session.runs.size());
}

TEST_CASE("rounds that an edit has made impossible are not taken") {
  Plan plan = plan_of_two();
  plan.reported = {{.name = "scraped"}};
  plan.events.events.resize(1);
  plan.events.passes = {{{0}}};
  std::vector<KeptRounds> kept = KeptSession().rounds;
  REQUIRE(kept.size() == 2);  // a round, and four in one request
  KeptRounds warmup{.first = steps_of_round(plan, RoundKind::Warmup, 0).front(), .steps = 2};
  warmup.paces = kept[0].paces;
  kept.insert(kept.begin(), warmup);
  const auto takes = [&](const std::vector<KeptRounds>& all, const Plan& of) {
    KeptRoundsCheck check(of);
    return std::ranges::all_of(all, [&](const KeptRounds& one) { return check.accept(one); });
  };
  REQUIRE(takes(kept, plan));
  const auto takes_edited = [&](std::size_t place, const std::function<void(KeptRounds&)>& edit) {
    std::vector<KeptRounds> all = kept;
    edit(all[place]);
    return takes(all, plan);
  };
  const RunRecord run = kept[1].runs.front();
  const std::uint32_t other = 1 - run.step.command;
  const auto again = [&](const std::function<void(RunRecord&)>& edit) {
    return [=](KeptRounds& all) {
      all.redone = {{run, "why"}};
      edit(all.redone[0].run);
    };
  };
  struct Edit {
    const char* what;
    std::size_t place;
    std::function<void(KeptRounds&)> edit;
  };
  const std::vector<Edit> edits = {
      {"a command that is not there", 1, [](auto& all) { all.first.command = 2; }},
      {"begins with the other command", 1, [&](auto& all) { all.first.command = other; }},
      {"no steps", 1, [](auto& all) { all.steps = 0; }},
      {"half a round", 1, [](auto& all) { all.steps = 3; }},
      {"more steps than runs", 1, [](auto& all) { all.steps = 4; }},
      {"too many steps to walk", 0, [](auto& all) { all.steps = 4'000'000'000; }},
      {"the second round first", 1, [](auto& all) { all.first.round = 1; }},
      {"the warm-up begins late", 0, [](auto& all) { all.first.round = 2; }},
      {"a warm-up with a run", 0,
       [&](auto& all) {
         all.runs = {run};
         all.runs[0].step = all.first;
       }},
      {"a run of another kind", 1, [](auto& all) { all.runs[0].step.kind = RoundKind::Counting; }},
      {"a run of another round", 1, [](auto& all) { all.runs[0].step.round = 1; }},
      {"a run of another pass", 1, [](auto& all) { all.runs[0].step.pass = 1; }},
      {"a run twice", 1, [](auto& all) { all.runs[0] = all.runs[1]; }},
      {"a run too many", 1, [&](auto& all) { all.runs.push_back(run); }},
      {"a run fewer", 1, [](auto& all) { all.runs.pop_back(); }},
      {"run again, of another kind", 1,
       again([](RunRecord& one) { one.step.kind = RoundKind::Counting; })},
      {"run again, of another round", 1, again([](RunRecord& one) { one.step.round = 3; })},
      {"run again, with counts that do not fit", 1,
       again([](RunRecord& one) { one.counts.resize(2); })},
      {"more counts than events", 1, [](auto& all) { all.runs[0].counts.resize(2); }},
      {"more own counts than events", 1, [](auto& all) { all.runs[0].own.resize(2); }},
      {"more told values than metrics", 1, [](auto& all) { all.runs[0].reported.resize(2); }},
      {"an endless value", 1, [](auto& all) { all.runs[0].reported = {1e308 * 10}; }},
      {"a run of a hundred years", 1,
       [](auto& all) { all.runs[0].usage.wall_ns = 3'200'000'000'000'000'000; }},
      {"a pace too many", 1, [](auto& all) { all.paces.push_back({}); }},
      {"a negative pace", 1, [](auto& all) { all.paces[0].whole.mean = -1.0; }},
      {"a pace between runs of a year", 1, [](auto& all) { all.paces[1].between.mean = 3e7; }},
      {"a wall time of a year", 1, [](auto& all) { all.paces[1].wall.mean = 3e7; }},
      {"a shell that the plan has not", 1, [](auto& all) { all.overheads.resize(2); }},
      {"a metric without a name", 2, [](auto& all) { all.discovered = {{.name = ""}}; }},
      {"a metric that is there", 2, [](auto& all) { all.discovered = {{.name = "scraped"}}; }},
      {"a metric twice", 2, [](auto& all) { all.discovered.assign(2, {.name = "rate"}); }},
      {"a metric that is gone", 1, [](auto& all) { all.discovered = {{.name = "rate"}}; }},
      {"more metrics than anybody has", 2,
       [](auto& all) {
         for (int i = 0; i <= 1000; ++i)
           all.discovered.push_back({.name = "m" + std::to_string(i)});
       }},
      {"a time of two years in two lines", 2,
       [](auto& all) { all.time = std::chrono::hours(366 * 24); }},
  };
  for (const Edit& one : edits) {
    CAPTURE(one.what);
    CHECK_FALSE(takes_edited(one.place, one.edit));
  }
  Plan in_order = plan;
  in_order.order = Order::Sequential;
  CHECK_FALSE(takes({{.first = {2, 0, 0, RoundKind::Timed}, .steps = 1}}, in_order));
  const auto without = [&](std::size_t place) {
    std::vector<KeptRounds> all = kept;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(place));
    return all;
  };
  CHECK_FALSE(takes(without(1), plan));
  CHECK(takes(without(2), plan));
  CHECK_FALSE(takes({kept[0], kept[1], kept[1]}, plan));
  Metric rate;
  rate.name = "rate";
  plan.metrics.push_back(rate);
  CHECK_FALSE(takes_edited(2, [](auto& all) { all.discovered = {{.name = "rate"}}; }));
}

TEST_CASE("rounds of another plan end the session that would go on with them") {
  RoundKeeper keeper;
  KeptRounds other{.first = {0, 0, 0, RoundKind::Timed}, .steps = 17};
  keeper.finished.push_back(other);
  std::size_t ran = 0;
  const Session session = session_of(keeper, ran);
  REQUIRE(session.cut_short);
  CHECK(std::get<Error>(*session.cut_short).what ==
        "the rounds that --resume found are not this suite's");
}

}  // namespace lauka

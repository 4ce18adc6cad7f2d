#include "engine/kperf/strategy.h"
#include "engine/trace_file.h"
#include "places.h"

#include <cstdlib>
#include <initializer_list>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

using Values = std::vector<std::uint64_t>;

const std::string kTraces = std::string(places::kRepository) + "/tests/data/traces";

TraceCounts counts_of(const TraceFile& trace) {
  TraceReader reader = trace.reader();
  for (const auto piece : trace.reads()) reader.feed(piece);
  return reader.counts();
}

/// True if `fault` is what the traces' truths call `why`.
bool means(const std::string& why, TraceFault fault) {
  if (fault == TraceFault::LostRecords) return why.find("records lost") != std::string::npos;
  if (fault == TraceFault::ThreadNotEnded) return why.find("last thread") != std::string::npos;
  return fault == TraceFault::EndedWithoutCounts && why.find("without counts") != std::string::npos;
}

void check_against_expectation(const TraceFile& trace) {
  CAPTURE(trace.name);
  const TraceCounts counts = counts_of(trace);
  if (trace.name == "existed-before") {  // lauka makes its commands within the trace
    CHECK(counts.fault == TraceFault::BeganBefore);
    return;
  }
  const auto& expect = trace.about().at("expect");
  if (!expect.at("accept").get<bool>()) {
    const auto why = expect.at("why").get<std::string>();
    CAPTURE(why);
    CAPTURE(describe_fault(counts.fault.value()));
    CHECK(means(why, *counts.fault));
    return;
  }
  CHECK_MESSAGE(!counts.fault.has_value(),
                describe_fault(counts.fault.value_or(TraceFault::NoThread)));
  CHECK(counts.command_sums == expect.at("command").get<Values>());
  CHECK(counts.tree_sums == expect.at("tree").get<Values>());
  CHECK(counts.threads_not_ended_command == expect.at("threads_not_ended_command"));
  CHECK(counts.threads_not_ended_tree == expect.at("threads_not_ended_tree"));
}

constexpr std::uint64_t kRunner = 900;

/// Records as the kernel writes them, for cases that no trace has.
class Trace {
 public:
  Trace& add(std::uint32_t debugid, std::uint64_t thread,
             std::initializer_list<std::uint64_t> arguments) {
    KdebugRecord& record = records_.emplace_back();
    record.debugid = debugid;
    record.thread = thread;
    std::copy(arguments.begin(), arguments.end(), record.arguments.begin());
    return *this;
  }
  Trace& born(std::uint64_t creator, std::uint64_t tid, std::uint64_t pid, std::uint64_t unique_id,
              bool copy = false) {
    return add(kNewThreadDebugid, creator, {tid, pid, copy ? 1U : 0U, unique_id});
  }
  Trace& ended(std::uint64_t tid, std::uint64_t pid, std::uint64_t unique_id) {
    return add(kThreadTerminateDebugid, tid, {pid, unique_id});
  }
  /// A sample of one value, which is a record of its own.
  Trace& counted(std::uint64_t tid, std::uint64_t value) {
    return add(kThreadCountersDebugid | kFunctionStart, tid, {value, 77, 77, 77});
  }
  TraceReader read(std::size_t values = 1, bool at_exit = true) const {
    TraceReader reader(values, at_exit, 50);
    reader.feed(records_);
    return reader;
  }
  TraceCounts counts(std::size_t values = 1, bool at_exit = true) const {
    return read(values, at_exit).counts();
  }

 private:
  std::vector<KdebugRecord> records_;
};

/// The command with one thread, 1, that has ended with the value 10.
Trace one_thread() {
  return Trace().born(kRunner, 1, 50, 5000).ended(1, 50, 5000).counted(1, 10);
}

TEST_CASE("every trace of the kernel's own code is read as its truth says") {
  const auto traces = traces_in(kTraces);
  CHECK(traces.size() == 18);
  for (const TraceFile& trace : traces) check_against_expectation(trace);
}

TEST_CASE("traces of the folder LAUKA_TRACES, where it is set, are read as their truths say") {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread
  const char* folder = std::getenv("LAUKA_TRACES");
  if (folder == nullptr || *folder == '\0') return;
  const auto traces = traces_in(folder);
  REQUIRE(!traces.empty());
  for (const TraceFile& trace : traces) check_against_expectation(trace);
}

TEST_CASE("records may come one by one") {
  for (const TraceFile& trace : traces_in(kTraces)) {
    CAPTURE(trace.name);
    TraceReader reader = trace.reader();
    for (const KdebugRecord& record : trace.records) reader.feed({&record, 1});
    const TraceCounts all = counts_of(trace);
    CHECK(reader.counts().fault == all.fault);
    CHECK(reader.counts().tree_sums == all.tree_sums);
  }
}

TEST_CASE("a run that lacks the end of any of the command's threads is refused") {
  // Cutting off at any record must never give an accepted run with other counts.
  for (const TraceFile& trace : traces_in(kTraces)) {
    if (!trace.at_exit() || trace.records.size() > 1000) continue;
    CAPTURE(trace.name);
    const TraceCounts whole = counts_of(trace);
    if (whole.fault) continue;
    for (std::size_t kept = 0; kept < trace.records.size(); ++kept) {
      TraceReader reader = trace.reader();
      reader.feed(std::span(trace.records).first(kept));
      const TraceCounts part = reader.counts();
      if (part.fault) continue;
      CHECK(part.command_sums == whole.command_sums);
      CHECK(reader.target_is_complete());
    }
  }
}

TEST_CASE("the trace is complete for the command when its last thread has its sample") {
  Trace trace;
  CHECK_FALSE(trace.read().target_is_complete());
  trace.born(kRunner, 1, 50, 5000).born(1, 2, 50, 5000);
  trace.ended(2, 50, 5000).counted(2, 5);
  CHECK_FALSE(trace.read().target_is_complete());
  trace.ended(1, 50, 5000);
  CHECK_FALSE(trace.read().target_is_complete());
  trace.counted(1, 10);
  CHECK(trace.read().target_is_complete());
  CHECK(trace.counts().command_sums == Values{15});
}

TEST_CASE("a process that had the command's pid before it is not the command") {
  const Trace trace = one_thread().ended(7, 50, 4000).counted(7, 1000);
  CHECK_FALSE(trace.counts().fault.has_value());
  CHECK(trace.counts().command_sums == Values{10});
  CHECK(trace.counts().tree_sums == Values{10});
}

TEST_CASE("a process that gets the command's pid after it is not the command") {
  const Trace trace = one_thread().born(kRunner, 8, 50, 6000).ended(8, 50, 6000).counted(8, 1000);
  CHECK(trace.counts().command_sums == Values{10});
}

TEST_CASE("descendants are found by who made their first thread") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000).born(1, 2, 51, 5001).born(2, 3, 52, 5002);
  trace.ended(3, 52, 5002).counted(3, 4).ended(2, 51, 5001).counted(2, 6);
  trace.ended(1, 50, 5000).counted(1, 10);
  const TraceCounts counts = trace.counts();
  CHECK(counts.command_sums == Values{10});
  CHECK(counts.tree_sums == Values{20});
  CHECK(counts.processes_tree == 3);
}

TEST_CASE("other children of the runner are not the command's descendants") {
  Trace trace = one_thread().born(kRunner, 5, 60, 6000).ended(5, 60, 6000).counted(5, 1000);
  CHECK(trace.counts().tree_sums == Values{10});
}

TEST_CASE("the copy of a failed exec is no thread") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000).born(1, 2, 50, 5000, true);
  trace.ended(1, 50, 5000).counted(1, 10);
  const TraceCounts counts = trace.counts();
  CHECK_FALSE(counts.fault.has_value());
  CHECK(counts.threads_tree == 1);
}

TEST_CASE("the copy of an exec that succeeded is a thread, and must end") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000).born(1, 2, 50, 5000, true);
  trace.add(kExecDebugid, 2, {50}).ended(1, 50, 5000).counted(1, 10);
  CHECK(trace.counts().fault == TraceFault::ThreadNotEnded);
  trace.ended(2, 50, 5000).counted(2, 3);
  CHECK_FALSE(trace.counts().fault.has_value());
  CHECK(trace.counts().command_sums == Values{13});
}

TEST_CASE("a lost record anywhere in the run refuses it") {
  CHECK(one_thread().add(kLostEventsDebugid, 0, {1}).counts().fault == TraceFault::LostRecords);
}

TEST_CASE("a process younger than the command that was not seen being made is a loss") {
  CHECK(one_thread().ended(9, 70, 5001).counted(9, 3).counts().fault == TraceFault::LostRecords);
  CHECK_FALSE(one_thread().ended(9, 70, 4999).counted(9, 3).counts().fault.has_value());
  CHECK_FALSE(one_thread()
                  .born(7, 9, 70, 5001)
                  .ended(9, 70, 5001)
                  .counted(9, 3)
                  .counts()
                  .fault.has_value());
}

TEST_CASE("no record of the command at all refuses the run") {
  CHECK(Trace().counts().fault == TraceFault::NoThread);
  CHECK(Trace().ended(9, 70, 700).counted(9, 3).counts().fault == TraceFault::NoThread);
}

TEST_CASE("a command whose thread began before the trace is refused for that, also with zeros") {
  CHECK(Trace().ended(9, 50, 700).counted(9, 3).counts().fault == TraceFault::BeganBefore);
  CHECK(Trace().ended(9, 50, 700).counted(9, 0).counts().fault == TraceFault::BeganBefore);
  // A thread of an older process with the same pid is none of the command's.
  CHECK_FALSE(Trace()
                  .ended(9, 50, 700)
                  .born(kRunner, 1, 50, 5000)
                  .ended(1, 50, 5000)
                  .counted(1, 3)
                  .counts()
                  .fault.has_value());
}

TEST_CASE("a descendant's thread that ended without its sample refuses the run") {
  Trace trace = one_thread();
  trace.born(1, 2, 51, 5001).ended(2, 51, 5001);
  CHECK(trace.counts().fault == TraceFault::EndedWithoutCounts);
}

TEST_CASE("a sample of zeros does not count, even if it is padded to the kernel's counters") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000);
  trace.add(kThreadCountersDebugid | kFunctionStart, 1, {0, 0, 0, 0})
      .add(kThreadCountersDebugid, 1, {0, 0, 0, 0});
  trace.add(kThreadCountersDebugid | kFunctionEnd, 1, {0, 0, 0, 0});
  trace.add(kThreadCountersDebugid | kFunctionStart, 1, {1, 2, 3, 4})
      .add(kThreadCountersDebugid | kFunctionEnd, 1, {5, 99});
  trace.ended(1, 50, 5000);
  const TraceCounts counts = trace.counts(5, false);
  CHECK_FALSE(counts.fault.has_value());
  CHECK(counts.command_sums == Values{1, 2, 3, 4, 5});
}

TEST_CASE("by sampling, the last sample of a thread is its count, and the end may lack one") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000).counted(1, 3).counted(1, 8).counted(1, 0);
  trace.born(1, 2, 50, 5000).ended(2, 50, 5000).ended(1, 50, 5000);
  const TraceCounts counts = trace.counts(1, false);
  CHECK_FALSE(counts.fault.has_value());
  CHECK(counts.command_sums == Values{8});
}

TEST_CASE("a thread that does not end keeps its last sample next to the exact ones of others") {
  Trace trace = one_thread().born(1, 2, 51, 5001).counted(2, 7);
  const TraceCounts counts = trace.counts();
  CHECK_FALSE(counts.fault.has_value());
  CHECK(counts.tree_sums == Values{17});
  CHECK(counts.threads_not_ended_tree == 1);
}

TEST_CASE("a sample with another number of values than was programmed refuses the run") {
  const auto started = [](std::initializer_list<std::uint64_t> values) {
    return Trace()
        .born(kRunner, 1, 50, 5000)
        .ended(1, 50, 5000)
        .add(kThreadCountersDebugid | kFunctionStart, 1, values);
  };
  Trace more = started({1, 2, 3, 4}).add(kThreadCountersDebugid | kFunctionEnd, 1, {5});
  CHECK(more.counts(4).fault == TraceFault::MalformedSample);
  CHECK_FALSE(more.counts(5).fault.has_value());
  CHECK(more.counts(9).fault == TraceFault::MalformedSample);
  Trace longer = started({1, 2, 3, 4}).add(kThreadCountersDebugid, 1, {5, 6, 7, 8});
  longer.add(kThreadCountersDebugid | kFunctionEnd, 1, {9});
  CHECK(longer.counts(8).fault == TraceFault::MalformedSample);
}

TEST_CASE("a begun sample that another one interrupts is dropped") {
  Trace trace = Trace().born(kRunner, 1, 50, 5000).ended(1, 50, 5000);
  trace.add(kThreadCountersDebugid | kFunctionStart, 1, {9, 9, 9, 9});
  trace.add(kThreadCountersDebugid | kFunctionStart, 1, {1, 2, 3, 4})
      .add(kThreadCountersDebugid | kFunctionEnd, 1, {5});
  CHECK(trace.counts(5).command_sums == Values{1, 2, 3, 4, 5});
}

}  // namespace
}  // namespace lauka::engine::kperf

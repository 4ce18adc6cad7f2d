#include "darwin/driver.h"
#include "places.h"

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// The traces of tests/data/traces were written by XNU's own code. The model does what their threads
// did, and must write records of the same kinds in the same order.

namespace lauka::darwin {
namespace {

// NOLINTNEXTLINE(bugprone-exception-escape): what nlohmann's json may throw is not meant here
struct Reported {
  nlohmann::json facts;
  std::vector<Record> records;
};

Reported trace_of(const std::string& name) {
  const std::string path = std::string(places::kRepository) + "/tests/data/traces/" + name;
  Reported reported;
  std::ifstream(path + ".json") >> reported.facts;
  std::ifstream file(path + ".kdebug", std::ios::binary);
  for (Record record; file.read(reinterpret_cast<char*>(&record), sizeof record);)
    reported.records.push_back(record);
  REQUIRE(!reported.records.empty());
  return reported;
}

/// The kinds of a thread's records, and the threads that it made.
struct Done {
  std::vector<std::uint32_t> kinds;
  std::vector<Record> births;
  bool has_image = false;
};
using Threads = std::map<Tid, Done>;

/// TERMINATE and the scheduler's records are about the machine's other work, not the thread's; the
/// naming's was left out where the traces were made.
bool is_of_the_thread(std::uint32_t debugid) {
  const std::uint32_t event = debugid & ~3U;
  return event != id::kTerminate && event != id::kThreadName && debugid >> 24U != 1;
}

Threads threads_of(const std::vector<Record>& records) {
  Threads threads;
  for (const Record& record : records) {
    if (!is_of_the_thread(record.debugid)) continue;
    Done& thread = threads[record.thread];
    thread.kinds.push_back(record.debugid);
    if (record.debugid == id::kNewThread) thread.births.push_back(record);
    if (record.debugid == id::kExec) thread.has_image = true;
  }
  return threads;
}

/// The text of the thread's name as its records give it.
std::string name_of(const std::vector<Record>& records, Tid tid) {
  std::string name;
  for (const Record& record : records) {
    if (record.thread != tid || (record.debugid & ~3U) != id::kThreadNamePrevious) continue;
    name.append(reinterpret_cast<const char*>(record.arguments.data()), sizeof record.arguments);
  }
  return name.substr(0, name.find('\0'));
}

/// The work of a trace's thread, as a script of the model.
class Rebuilt {
 public:
  Rebuilt(const Reported& reported, Driver& driver)
      : records_(reported.records), threads_(threads_of(reported.records)), driver_(driver) {}

  // NOLINTNEXTLINE(misc-no-recursion): threads make threads
  Script script_of(Tid tid, std::uint64_t pid) {
    std::vector<Step> steps;
    if (const std::string name = name_of(records_, tid); !name.empty()) {
      Step step{Do::Name};
      step.text = name;
      steps.push_back(step);
    }
    bool is_replaced = false;
    for (const Record& birth : threads_[tid].births) {
      steps.push_back({Do::Run, 20'000});
      steps.push_back(step_of(birth, pid));
      is_replaced = birth.arguments[2] == 1;
    }
    steps.push_back({Do::Run, 30'000});
    if (!is_replaced) {
      steps.push_back({Do::Join});
      steps.push_back({Do::Wait});
    }
    return std::make_shared<const std::vector<Step>>(std::move(steps));
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): threads make threads
  Step step_of(const Record& birth, std::uint64_t pid) {
    const auto [tid, of, is_exec_copy, unique] = birth.arguments;
    const bool has_image = threads_[tid].has_image;
    Step step;
    if (is_exec_copy == 1 && !has_image) {
      step.what = Do::FailedExec;
    } else if (is_exec_copy == 1 || has_image) {
      step.what = is_exec_copy == 1 ? Do::Exec : Do::Spawn;
      step.words = {"image" + std::to_string(tid)};
      driver_.programs[step.words.front()] = script_of(tid, of);
    } else {
      step.what = of == pid ? Do::Threads : Do::Fork;
      step.count = 1;
      step.body = script_of(tid, of);
    }
    return step;
  }

  const std::vector<Record>& records_;
  Threads threads_;
  Driver& driver_;
};

/// Compares the two threads and, in the order of their making, those that they made.
// NOLINTNEXTLINE(misc-no-recursion): threads make threads
void compare(const Threads& real, Tid real_tid, const Threads& model, Tid model_tid,
             int& compared) {
  const auto one = real.find(real_tid);
  const auto two = model.find(model_tid);
  REQUIRE(one != real.end());
  REQUIRE(two != model.end());
  CHECK_MESSAGE(one->second.kinds == two->second.kinds, "thread ", real_tid);
  ++compared;
  REQUIRE(one->second.births.size() == two->second.births.size());
  for (std::size_t i = 0; i < one->second.births.size(); ++i) {
    const Record& real_birth = one->second.births[i];
    const Record& model_birth = two->second.births[i];
    CHECK(real_birth.arguments[2] == model_birth.arguments[2]);
    if (real.count(real_birth.arguments[0]) == 0) continue;  // of a failed exec
    compare(real, real_birth.arguments[0], model, model_birth.arguments[0], compared);
  }
}

/// Of the records of the runner: the one that made the first thread of `pid`.
Tid first_thread(const std::vector<Record>& records, std::uint64_t pid) {
  for (const Record& record : records)
    if (record.debugid == id::kNewThread && record.arguments[1] == pid) return record.arguments[0];
  FAIL("no thread of the target");
  return 0;
}

void configure(Driver& driver, const nlohmann::json& facts) {
  const auto classes = facts["classes"].get<std::uint32_t>();
  const bool forced = facts["n"].get<int>() >= 8;
  const auto words =
      std::vector<std::uint64_t>(8, word_of(driver.host.kernel.setup.chip, "INST_ALL"));
  driver.count_at_exit(words, facts["samplers"].get<std::uint32_t>(), classes, forced);
  CHECK(driver.count("kpc.counter_count", classes) == facts["n"]);
  if (facts["filter"]["kind"] == "valcheck") {
    driver.trace_on();
    return;
  }
  CHECK((driver.kdebug(7) | driver.kdebug(4, 1'000'000) | driver.kdebug(6)) == 0);
  std::vector<std::uint32_t> cscs;
  for (const auto& csc : facts["filter"]["csc"])
    cscs.push_back(static_cast<std::uint32_t>(std::stoul(csc.get<std::string>(), nullptr, 16)));
  CHECK((driver.typefilter(cscs) | driver.kdebug(3, 1)) == 0);
}

/// A shape: what a thread writes between its records of class 7, one sample after the other.
std::set<std::string> shapes_of(const std::vector<Record>& records) {
  std::set<std::string> shapes;
  std::map<Tid, std::string> open;
  for (const Record& record : records) {
    if (record.debugid >> 24U != 0x25) continue;
    std::string& shape = open[record.thread];
    const bool in_sample = shape.find("25000001") != std::string::npos;
    const bool begins =
        record.debugid == (id::kSample | id::kFunctionStart) ||
        (record.debugid == (id::kThreadCounters | id::kFunctionStart) && !in_sample);
    if (begins && !shape.empty()) shapes.insert(shape);
    if (begins) shape.clear();
    std::ostringstream kind;
    kind << std::hex << record.debugid << ' ';
    shape += kind.str();
  }
  return shapes;
}

void sample_every_millisecond(const Driver& driver, std::uint32_t samplers) {
  int error = driver.set("kpc.force_all_ctrs", 1);
  error |= driver.set("kpc.counting", 3) | driver.set("kpc.thread_counting", 3);
  error |= driver.set("kperf.action.count", 1);
  error |= driver.set("kperf.action.samplers", 1, samplers);
  error |= driver.set("kperf.timer.count", 1) | driver.set("kperf.timer.period", 0, 24'000);
  error |= driver.set("kperf.timer.action", 0, 1) | driver.set("kperf.timer.pet_timer", 0);
  error |= driver.set("kperf.lightweight_pet", 1) | driver.set("kperf.sampling", 1);
  REQUIRE(error == 0);
}

}  // namespace

TEST_CASE(
    "the model's threads write the kinds of records, in the order, that XNU's own code wrote") {
  for (const std::string name : {"one-thread", "n4", "n7", "n8", "threads64", "threads1000",
                                 "tree50", "exec-chain", "typefilter", "m4-zero", "other-procs"}) {
    CAPTURE(name);
    const Reported reported = trace_of(name);
    Setup setup = machine("m4");
    if (reported.facts["n"] == 4) setup.chip.unforced = 0x300;
    Driver driver(setup);
    configure(driver, reported.facts);
    const auto pid = reported.facts["target"]["pid"].get<std::uint64_t>();
    const Tid first = first_thread(reported.records, pid);
    driver.programs["work"] = Rebuilt(reported, driver).script_of(first, pid);
    const Process& process = driver.run("work");
    const auto written = driver.read();
    int compared = 0;
    compare(threads_of(reported.records), first, threads_of(written),
            first_thread(written, static_cast<std::uint64_t>(process.pid)), compared);
    int threads = 0;
    for (const auto& one : reported.facts["truth"]["processes"])
      if (one["role"] != "other") threads += static_cast<int>(one["threads"].size());
    CHECK(compared == threads);
  }
}

TEST_CASE("the samples of lightweight PET have the shapes that XNU's own code wrote") {
  for (const std::string name : {"pet", "existed-before"}) {
    CAPTURE(name);
    const Reported reported = trace_of(name);
    Driver driver(machine("m4"));
    driver.programs["work"] =
        read_script("repeat 8 {\nthreads 2 {\nrun 1500us\n}\nrun 900us\n}\nsleep 2ms\njoin");
    const bool is_before = name == "existed-before";
    pid_t pid = is_before ? driver.spawn_suspended("work") : 0;
    sample_every_millisecond(driver, reported.facts["samplers"].get<std::uint32_t>());
    driver.trace_on();
    if (is_before) CHECK(driver.typefilter({0x2500, 0x2501, 0x2506}) == 0);
    if (!is_before) pid = driver.spawn_suspended("work");
    driver.calls.kill(pid, SIGCONT);
    siginfo_t info{};
    driver.calls.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
    const auto shapes = shapes_of(driver.read());
    CHECK(!shapes.empty());
    CHECK(shapes == shapes_of(reported.records));
  }
}

}  // namespace lauka::darwin

#include "engine/perf/counters.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"
#include "has.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace lauka::engine::perf {

namespace {

using fakes::FakePerf;
using fakes::small_pmu;
using Names = std::vector<std::string>;

std::string refusal(const FakePerf& perf, const Names& names, bool user_only = false,
                    bool single_pass = false) {
  const auto engine = make_perf_engine(perf.calls(), user_only);
  const auto set = engine->select({names, single_pass});
  CHECK(perf.open_now() == 0);
  return set ? "no refusal" : set.error().line();
}

/// Returns the reason and remedy of the refusal of an event, which begins with its name.
std::string reason(const FakePerf& perf, const std::string& name, bool user_only = false) {
  const std::string line = refusal(perf, {name}, user_only);
  CHECK(line.starts_with("'" + name + "' "));
  return line.substr(std::min(line.find(": ", name.size()) + 2, line.size()));
}

}  // namespace

TEST_CASE("an event asked for that is not there is an error") {
  FakePerf perf;
  CHECK(refusal(perf, {"task-clock", "cycles"}) ==
        "'cycles' cannot be counted: there are no counters here, as in most virtual machines; "
        "switch on the virtual counters (PMU) in the hypervisor (KVM: -cpu host,pmu=on), or count "
        "instructions with --engine cachegrind");
  perf.add(fakes::usual_pmu());
  CHECK(reason(perf, "LLC-loads") ==
        "this machine has no counter for it; lauka --list-events shows what it counts");
}

TEST_CASE("each way to be refused has its own reason and remedy") {
  SUBCASE("the kernel's part is forbidden and was asked for") {
    FakePerf perf(fakes::usual_pmu());
    perf.set_paranoid(2);
    CHECK(reason(perf, "cycles:k") ==
          "perf_event_paranoid is 2, which hides the kernel from users; run sudo sysctl "
          "kernel.perf_event_paranoid=1");
  }
  SUBCASE("Debian's level 3 and Ubuntu's 4 forbid everything") {
    for (const int level : {3, 4}) {
      FakePerf perf(fakes::usual_pmu());
      perf.is_debian = true;
      perf.set_paranoid(level);
      CHECK(reason(perf, "cycles") ==
            "perf_event_paranoid is " + std::to_string(level) +
                ", which denies users all counters; run sudo sysctl kernel.perf_event_paranoid=1 "
                "(2 is enough with --user-only)");
    }
  }
  SUBCASE("levels 3 and 4 of a vanilla kernel are as 2") {
    FakePerf perf(fakes::usual_pmu());
    perf.set_paranoid(4);
    CHECK(refusal(perf, {"cycles"}) == "no refusal");
  }
  SUBCASE("an event that cannot be had in user space only") {
    FakePerf perf;
    FakePerf::Pmu msr{"msr", 21};
    msr.takes_exclusions = false;
    perf.add(msr);
    perf.set_paranoid(2);
    check_order(refusal(perf, {"msr/config=1/"}), {"'msr/config=1/'", "perf_event_paranoid=1"});
    CHECK(reason(perf, "msr/config=1/", true) ==
          "the kernel cannot count it for a single program in user space only; leave out "
          "--user-only or the modifier");
  }
  SUBCASE("a container") {
    FakePerf perf;
    perf.blocked_by_container = true;
    CHECK(reason(perf, "cycles") ==
          "perf_event_open is blocked, as in most containers; start the container with --cap-add "
          "PERFMON; an older Podman needs --security-opt seccomp=unconfined, too");
  }
  SUBCASE("a kernel without perf") {
    FakePerf perf;
    perf.has_perf = false;
    CHECK(reason(perf, "cycles") ==
          "this kernel has no perf_event_open; use a kernel with CONFIG_PERF_EVENTS");
  }
  SUBCASE("out of descriptors") {
    FakePerf perf(fakes::usual_pmu());
    perf.descriptor_limit = 0;
    CHECK(reason(perf, "cycles") ==
          "the limit of open files leaves no room for counters; raise it with ulimit -n, or count "
          "fewer events");
  }
  SUBCASE("out of descriptors when counters are opened together") {
    FakePerf perf(fakes::usual_pmu());
    perf.descriptor_limit = 1;
    CHECK(refusal(perf, {"cycles", "branches"}) ==
          why_not_opened(EMFILE, {true, false}, {}).line());
  }
  SUBCASE("a kernel older than config3") {
    FakePerf perf(fakes::usual_pmu());
    perf.attr_size = 128;
    CHECK(reason(perf, "cpu/config3=1/") ==
          "this kernel does not support config3; Linux 6.3 and later do");
    CHECK(refusal(perf, {"cpu/config2=1/"}) == "no refusal");
  }
}

TEST_CASE("what happens in the kernel only is refused where the kernel is left out") {
  FakePerf perf;
  perf.set_paranoid(2);
  check_order(refusal(perf, {"cpu-migrations"}), {"'cpu-migrations'", "perf_event_paranoid=1"});
  CHECK(reason(perf, "cpu-migrations", true) ==
        "it happens in the kernel only, which --user-only leaves out; leave out --user-only");
  CHECK(reason(perf, "context-switches:u") ==
        "it happens in the kernel only, so its count would always be 0; leave out the modifier");
  CHECK(reason(perf, "task-clock:u") ==
        "a clock runs in user space and in the kernel; leave out the modifier");
  CHECK(reason(perf, "page-faults:k", true) ==
        "it asks for events outside user space, which --user-only leaves out; leave out the "
        "modifier or --user-only");
}

TEST_CASE("with --single-pass a set that does not fit is refused and it is said how many fit") {
  FakePerf perf(small_pmu(2));
  CHECK(refusal(perf, {"branches", "branch-misses", "cache-misses"}, false, true) ==
        "these 3 events do not fit the counters at the same time, but 2 of them do (branches and "
        "branch-misses); leave out --single-pass, so that they are counted in 2 passes, or leave "
        "out some events");
  CHECK(refusal(perf, {"branches", "branch-misses", "task-clock"}, false, true) == "no refusal");
}

TEST_CASE("every errno of perf_event_open has a reason of its own") {
  const PerfConditions conditions{.paranoid = 2, .has_core_pmu = true};
  std::set<std::string> reasons;
  const std::array errors = {EACCES, EPERM,  ENOSYS, ENOENT, ENODEV, EINVAL,
                             EMFILE, ENFILE, EBUSY,  E2BIG,  ENOMEM};
  for (const int error : errors) {
    const Error reason = why_not_opened(error, {true, true}, conditions);
    CHECK(!reason.what.empty());
    CHECK_MESSAGE(reasons.insert(reason.what).second, reason.what);
    // One line each, parts of a sentence.
    CHECK(reason.what.find('\n') == std::string::npos);
    CHECK(!reason.what.ends_with('.'));
    CHECK((error == ENOMEM || !reason.remedy.empty()));
  }
}

TEST_CASE("refused at a permissive level a security module is to blame") {
  const PerfConditions conditions{.paranoid = 1, .has_core_pmu = true};
  CHECK(why_not_opened(EACCES, {true, false}, conditions).what ==
        "a security module forbids perf_event_open");
}

TEST_CASE("the conditions is read from the system's files") {
  fakes::FakePerf perf;
  CHECK(read_conditions(perf.calls()) == PerfConditions{});
  perf.set_paranoid(-1);
  perf.add(fakes::usual_pmu());
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  CHECK(read_conditions(perf.calls()) == PerfConditions{-1, true, true});
  perf.set_paranoid(4);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "0\n";
  CHECK(read_conditions(perf.calls()) == PerfConditions{4, true, false});
}

// Every call of the table fails once, at every position, with each errno that it can give.

namespace {

using fakes::FakePerf;

/// The call that fails, which time it is made (from 1), and with what; how often it was made.
struct Fault {
  std::string call;
  int at = 0;
  int error = 0;
  int made = 0;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of plain functions
Fault fault;
const os::LinuxCalls* sound = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

bool fails(std::string_view call) {
  return fault.call == call && ++fault.made == fault.at;
}

/// The model's calls, of which one fails.
os::LinuxCalls faulty() {
  os::LinuxCalls calls = *sound;
  calls.open_counter = [](const os::PerfEventAttr& attributes, const os::CounterPlace& place,
                          int group) {
    return fails("open_counter") ? -fault.error : sound->open_counter(attributes, place, group);
  };
  calls.enable_group = [](int leader) {
    return fails("enable_group") ? -fault.error : sound->enable_group(leader);
  };
  calls.disable_group = [](int leader) {
    return fails("disable_group") ? -fault.error : sound->disable_group(leader);
  };
  calls.read_counter = [](int descriptor, std::uint64_t* words, std::size_t capacity) -> long {
    return fails("read_counter") ? -fault.error : sound->read_counter(descriptor, words, capacity);
  };
  calls.allowed_cpus = [] {
    return fails("allowed_cpus") ? std::vector<std::uint32_t>{} : sound->allowed_cpus();
  };
  calls.run_on = [](const std::vector<std::uint32_t>& cpus) {
    return fails("run_on") ? -fault.error : sound->run_on(cpus);
  };
  calls.read_file = [](const std::string& path) -> std::optional<std::string> {
    if (fails("read_file")) return std::nullopt;
    return sound->read_file(path);
  };
  calls.list_folder = [](const std::string& path) {
    return fails("list_folder") ? std::vector<std::string>{} : sound->list_folder(path);
  };
  return calls;
}

/// Runs a short session: finds events, plans, runs each pass once. True if it had counts; they are
/// the program's, or missing.
bool session(FakePerf& perf, const os::LinuxCalls& calls) {
  FakePerf::Program program;
  program.ns_on = {{"cpu", 100'000'000}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}},
                    {{"cpu", fakes::kInstructions}, {2000, 500}}};
  program.usage.user_ns = 100'000'000;
  const auto engine = make_perf_engine(calls, false);
  static_cast<void>(engine->catalog());
  static_cast<void>(counters_here(calls, false));
  const auto set = engine->select({{"cycles", "instructions"}, false});
  CHECK(perf.open_now() == 0);
  if (!set) {
    CHECK_FALSE(set.error().what.empty());
    return false;
  }
  bool has_counts = true;
  for (std::size_t pass = 0; pass < set->passes.size(); ++pass) {
    const auto counting = engine->arm(pass);
    if (!counting) {
      CHECK_FALSE(counting.error().what.empty());
      return false;
    }
    const CountsOfRun counted = (*counting)->finish(perf.run((*counting)->requests(), program), 0);
    static_cast<void>(engine->held_by_others());
    for (std::size_t i = 0; i < counted.counts.size(); ++i) {
      const std::uint64_t whole = set->passes[pass].event_indices[i] == 0 ? 1300 : 2500;
      const std::uint64_t user = set->passes[pass].event_indices[i] == 0 ? 1000 : 2000;
      has_counts = has_counts && counted.counts[i].has_value();
      if (counted.counts[i]) CHECK((counted.counts[i] == whole || counted.counts[i] == user));
      if (!counted.counts[i])
        CHECK((counted.why_missing_counts || counted.session_error || counted.redo));
    }
  }
  CHECK(perf.open_now() == 0);
  return has_counts;
}

}  // namespace

TEST_CASE("whichever call of the kernel fails, counts are right or missing with a reason") {
  std::size_t tried = 0;
  for (const char* call : {"open_counter", "enable_group", "disable_group", "read_counter",
                           "allowed_cpus", "run_on", "read_file", "list_folder"}) {
    FakePerf counting;
    counting.add(fakes::usual_pmu());
    sound = &counting.calls();
    fault = {call, 0, 0};
    CHECK(session(counting, faulty()));
    const int calls = fault.made;
    for (int at = 1; at <= calls; ++at) {
      for (const int error : {EPERM, EACCES, EINVAL, ENOENT, EMFILE, ENFILE, EBUSY, ENODEV, ENOSYS,
                              ENOSPC, EINTR, ENOMEM, EIO, EOPNOTSUPP, E2BIG}) {
        CAPTURE(call);
        CAPTURE(at);
        CAPTURE(error);
        FakePerf perf(fakes::usual_pmu());
        sound = &perf.calls();
        fault = {call, at, error};
        const os::LinuxCalls broken = faulty();
        static_cast<void>(session(perf, broken));
        CHECK(fault.made >= at);
        ++tried;
      }
    }
  }
  CHECK(tried > 200);
}

}  // namespace lauka::engine::perf

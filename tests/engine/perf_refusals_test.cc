#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

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

}  // namespace

TEST_CASE("an event asked for that is not there is an error") {
  FakePerf perf;
  CHECK(refusal(perf, {"task-clock", "cycles"}) ==
        "'cycles' cannot be counted: there is no PMU here, as in most virtual machines; switch on "
        "the virtual PMU in the hypervisor (KVM: -cpu host,pmu=on), or count instructions with "
        "--engine cachegrind");
  perf.add(fakes::usual_pmu());
  CHECK(refusal(perf, {"LLC-loads"}) ==
        "'LLC-loads' cannot be counted: not on this machine; lauka --list-events shows what "
        "is");
  CHECK(refusal(perf, {"cylces"}) == "there is no event 'cylces'; did you mean cycles?");
}

TEST_CASE("each way to be refused has its own reason and remedy") {
  SUBCASE("the kernel's part is forbidden and was asked for") {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    perf.set_paranoid(2);
    CHECK(refusal(perf, {"cycles:k"}) ==
          "'cycles:k' cannot be counted: perf_event_paranoid is 2, which hides the kernel from "
          "users; sudo sysctl kernel.perf_event_paranoid=1");
  }
  SUBCASE("Debian's level 3 and Ubuntu's 4 forbid everything") {
    for (const int level : {3, 4}) {
      FakePerf perf;
      perf.add(fakes::usual_pmu());
      perf.is_debian = true;
      perf.set_paranoid(level);
      CHECK(refusal(perf, {"cycles"}) ==
            "'cycles' cannot be counted: perf_event_paranoid is " + std::to_string(level) +
                ", which denies users all counters; sudo sysctl kernel.perf_event_paranoid=1 "
                "(2 is enough with --user-only)");
    }
  }
  SUBCASE("levels 3 and 4 of a vanilla kernel are as 2") {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    perf.set_paranoid(4);
    CHECK(refusal(perf, {"cycles"}) == "no refusal");
  }
  SUBCASE("an event that cannot be had in user space only") {
    FakePerf perf;
    FakePerf::Pmu msr{"msr", 21};
    msr.takes_exclusions = false;
    perf.add(msr);
    perf.set_paranoid(2);
    CHECK(refusal(perf, {"msr/config=1/"}) ==
          "'msr/config=1/' cannot be counted: perf_event_paranoid is 2, which hides the kernel "
          "from users; sudo sysctl kernel.perf_event_paranoid=1");
    CHECK(refusal(perf, {"msr/config=1/"}, true) ==
          "'msr/config=1/' cannot be counted: the kernel cannot count it for a single program in "
          "user space only; leave out --user-only or the modifier");
  }
  SUBCASE("a container") {
    FakePerf perf;
    perf.blocked_by_container = true;
    CHECK(
        refusal(perf, {"cycles"}) ==
        "'cycles' cannot be counted: perf_event_open is blocked, as in most containers; start the "
        "container with --cap-add PERFMON");
  }
  SUBCASE("a kernel without perf") {
    FakePerf perf;
    perf.has_perf = false;
    CHECK(refusal(perf, {"cycles"}) ==
          "'cycles' cannot be counted: this kernel has no perf_event_open; use a kernel with "
          "CONFIG_PERF_EVENTS");
  }
  SUBCASE("out of descriptors") {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    perf.descriptor_limit = 0;
    CHECK(refusal(perf, {"cycles"}) ==
          "'cycles' cannot be counted: the limit of open files leaves no room for counters; raise "
          "it with ulimit -n, or count fewer events");
  }
  SUBCASE("out of descriptors when counters are opened together") {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    perf.descriptor_limit = 1;
    CHECK(refusal(perf, {"cycles", "branches"}) ==
          "the limit of open files leaves no room for counters; raise it with ulimit -n, or count "
          "fewer events");
  }
  SUBCASE("a kernel older than config3") {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    perf.attr_size = 128;
    CHECK(refusal(perf, {"cpu/config3=1/"}) ==
          "'cpu/config3=1/' cannot be counted: this kernel does not support config3; Linux 6.3 and "
          "later do");
    CHECK(refusal(perf, {"cpu/config2=1/"}) == "no refusal");
  }
}

TEST_CASE("what happens in the kernel only is refused where the kernel is left out") {
  FakePerf perf;
  perf.set_paranoid(2);
  CHECK(refusal(perf, {"cpu-migrations"}) ==
        "'cpu-migrations' cannot be counted: perf_event_paranoid is 2, which hides the kernel from "
        "users; sudo sysctl kernel.perf_event_paranoid=1");
  CHECK(refusal(perf, {"cpu-migrations"}, true) ==
        "'cpu-migrations' cannot be counted: it happens in the kernel only, which --user-only "
        "leaves out; leave out --user-only");
  CHECK(refusal(perf, {"context-switches:u"}) ==
        "'context-switches:u' cannot be counted: it happens in the kernel only, so this would "
        "always be 0; leave out the modifier");
  CHECK(refusal(perf, {"task-clock:u"}) ==
        "'task-clock:u' cannot be counted: a clock runs in user space and kernel alike; leave out "
        "the modifier");
  CHECK(refusal(perf, {"page-faults:k"}, true) ==
        "'page-faults:k' cannot be counted: it asks for more than user space, which --user-only "
        "leaves out; leave out the modifier or --user-only");
}

TEST_CASE("with --single-pass a set that does not fit is refused and it is said how many fit") {
  FakePerf perf;
  perf.add(small_pmu(2));
  CHECK(refusal(perf, {"branches", "branch-misses", "cache-misses"}, false, true) ==
        "these 3 events do not fit the counters at once: 2 do (branches and branch-misses); leave "
        "out --single-pass (they take 2 passes) or some events");
  CHECK(refusal(perf, {"branches", "branch-misses", "task-clock"}, false, true) == "no refusal");
}

}  // namespace lauka::engine::perf

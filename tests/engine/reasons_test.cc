#include "engine/perf/reasons.h"

#include "fakes/fake_perf.h"

#include <array>
#include <cerrno>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace lauka::engine::perf {

TEST_CASE("every errno of perf_event_open has a reason of its own") {
  const Situation situation{.paranoid = 2, .has_core_pmu = true};
  std::set<std::string> reasons;
  const std::array errors = {EACCES, EPERM,  ENOSYS, ENOENT, ENODEV, EINVAL,
                             EMFILE, ENFILE, EBUSY,  E2BIG,  ENOMEM};
  for (const int error : errors) {
    const Error reason = why_not_opened(error, {true, true}, situation);
    CHECK(!reason.what.empty());
    CHECK_MESSAGE(reasons.insert(reason.what).second, reason.what);
    // One line each, parts of a sentence.
    CHECK(reason.what.find('\n') == std::string::npos);
    CHECK(!reason.what.ends_with('.'));
    CHECK((error == ENOMEM || !reason.remedy.empty()));
  }
}

TEST_CASE("refused at a permissive level a security module is to blame") {
  const Situation situation{.paranoid = 1, .has_core_pmu = true};
  CHECK(why_not_opened(EACCES, {true, false}, situation).what ==
        "a security module forbids perf_event_open");
}

TEST_CASE("the situation is read from the system's files") {
  fakes::FakePerf perf;
  CHECK(situation_of(perf.calls()) == Situation{});
  perf.set_paranoid(-1);
  perf.add(fakes::usual_pmu());
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  CHECK(situation_of(perf.calls()) == Situation{-1, true, true});
  perf.set_paranoid(4);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "0\n";
  CHECK(situation_of(perf.calls()) == Situation{4, true, false});
}

}  // namespace lauka::engine::perf

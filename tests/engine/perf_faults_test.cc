#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include <doctest/doctest.h>

// Every call of the table fails once, at every position, with each errno that it can give.

namespace lauka::engine::perf {
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

/// The calls of the model, of which the fault's fails.
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

/// A session in short: what there is, what was wanted, one run of each pass. True where it had
/// counts; they are those of the program, or there are none.
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
    const Counted counted = (*counting)->finish(perf.run((*counting)->requests(), program), 0);
    static_cast<void>(engine->held_by_others());
    for (std::size_t i = 0; i < counted.counts.size(); ++i) {
      const std::uint64_t whole = set->passes[pass].events[i] == 0 ? 1300 : 2500;
      const std::uint64_t user = set->passes[pass].events[i] == 0 ? 1000 : 2000;
      has_counts = has_counts && counted.counts[i].has_value();
      if (counted.counts[i]) CHECK((counted.counts[i] == whole || counted.counts[i] == user));
      if (!counted.counts[i]) CHECK((counted.missing || counted.failure || counted.redo));
    }
  }
  CHECK(perf.open_now() == 0);
  return has_counts;
}

}  // namespace

TEST_CASE("whichever call of the kernel fails, counts are right or there are none with a reason") {
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
        FakePerf perf;
        perf.add(fakes::usual_pmu());
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

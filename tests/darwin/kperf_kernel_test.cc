#include "darwin/kperf_bench.h"
#include "engine/kperf/kernel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Surprising answers of XNU's own code. Between the engine and the model is a table of calls that
// gives them in the model's place.

namespace lauka::darwin {
namespace {

/// A request for a sysctl; the trace's are called "kdebug 10".
struct KernelRequest {
  std::string name;
  void* old_value = nullptr;
  std::size_t* old_length = nullptr;
  void* new_value = nullptr;
  std::size_t new_length = 0;
  int value = 0;  ///< of the trace's calls that have one

  bool sets() const { return new_value != nullptr && old_value == nullptr; }
};

/// Returns 0, an errno, or nullopt: the model answers. Then `then` may change its answer.
using Rule = std::function<std::optional<int>(const KernelRequest&)>;

// A table of plain functions reaches its object no other way.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
const os::DarwinCalls* kernel_model = nullptr;
Rule rule_before;
std::function<void(const KernelRequest&)> rule_after;
std::vector<std::string> asked_for;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Call>
int answered(const KernelRequest& asked, const Call& call) {
  asked_for.push_back(asked.name);
  const auto error = rule_before ? rule_before(asked) : std::nullopt;
  if (error && *error != 0) errno = *error;
  if (error) return *error == 0 ? 0 : -1;
  const int given = call();
  if (given == 0 && rule_after) rule_after(asked);
  return given;
}

int by_number(int* name, unsigned length, void* old_value, std::size_t* old_length, void* new_value,
              std::size_t new_length) {
  const int value = length > 3 ? name[3] : 0;
  const KernelRequest asked{
      "kdebug " + std::to_string(name[2]), old_value, old_length, new_value, new_length, value};
  return answered(asked, [&] {
    return kernel_model->sysctl(name, length, old_value, old_length, new_value, new_length);
  });
}

int by_name(const char* name, void* old_value, std::size_t* old_length, void* new_value,
            std::size_t new_length) {
  return answered({name, old_value, old_length, new_value, new_length}, [&] {
    return kernel_model->sysctlbyname(name, old_value, old_length, new_value, new_length);
  });
}

/// An engine without the framework, so that all its calls pass here; or one with it, whose calls
/// through it do not.
struct Bench : KperfBench {
  explicit Bench(Setup setup = machine("m1"), bool has_framework = false)
      : KperfBench(std::move(setup)) {
    kernel_model = &driver.calls;
    rule_before = nullptr;
    rule_after = nullptr;
    asked_for.clear();
    table = driver.calls;
    table.sysctl = by_number;
    table.sysctlbyname = by_name;
    if (!has_framework) table.dlopen = [](const char*, int) -> void* { return nullptr; };
    calls = &table;
  }

  os::DarwinCalls table{};
};

const std::vector<std::string> kNothing;

std::size_t times(const std::string& name) {
  return static_cast<std::size_t>(std::count(asked_for.begin(), asked_for.end(), name));
}

/// As the kernel does with a request that it refuses for another reason than its caller: the
/// tracing is the caller's from then on.
void take_tracing() {
  std::uint32_t off = 0;
  kernel_model->sysctlbyname("kperf.kdebug.action", nullptr, nullptr, &off, sizeof off);
}

}  // namespace

TEST_CASE("through Apple's framework the counts are the same, and all is given back") {
  Bench bench(machine("m1"), true);
  bench.begin();
  CHECK(bench.notes().empty());
  const auto counted = bench.counts_of("run 3ms\nthreads 5 {\nrun 200us e\n}\njoin");
  CHECK(counted.at("inst_all") == bench.truth().events.at("INST_ALL"));
  CHECK(counted.at("cycles") == bench.truth().cycles);
  CHECK(times("kpc.counting") == 0);
  CHECK(times("kperf.sampling") == 0);
  CHECK(bench.end() == kNothing);
}

TEST_CASE("through Apple's framework the whole machine is counted as by sysctl") {
  Bench bench(machine("m1"), true);
  bench.begin({}, KperfStrategyChoice::Machine);
  const auto counted = bench.counts_of("run 30ms");
  const Truth truth = bench.truth();
  CHECK(counted.at("instructions").value() >= truth.instructions);
  CHECK(counted.at("instructions").value() < 2 * truth.instructions);
  CHECK(times("kpc.counting") == 0);
}

TEST_CASE("a framework that lacks a function is not used at all, and the function is reported") {
  Bench bench(machine("m1"), true);
  bench.driver.host.rules.missing_symbols = {"kpc_set_config"};
  bench.begin();
  CHECK(texts_of(bench.notes()) ==
        std::vector<std::string>{"macOS has changed its private framework (kpc_set_config is "
                                 "missing), so lauka uses sysctls instead"});
  // Even the framework's functions go through the system's own calls.
  CHECK(times("kpc.counting") > 0);
  CHECK(times("kperf.sampling") > 0);
  const auto counted = bench.counts_of("run 3ms");
  CHECK(counted.at("inst_all") == bench.truth().events.at("INST_ALL"));
}

TEST_CASE("actions and timers that an earlier tool has left are enough, however many") {
  for (const KperfStrategyChoice strategy :
       {KperfStrategyChoice::AtExit, KperfStrategyChoice::SampleRunningThreads}) {
    Bench bench;
    rule_before = [](const KernelRequest& asked) -> std::optional<int> {
      const bool is_count = asked.name == "kperf.action.count" || asked.name == "kperf.timer.count";
      if (!is_count) return std::nullopt;
      std::uint32_t three = 3;  // for good, whatever was reset
      kernel_model->sysctlbyname(asked.name.c_str(), nullptr, nullptr, &three, sizeof three);
      return asked.sets() ? std::optional(EINVAL) : std::nullopt;
    };
    bench.begin({"instructions"}, strategy);
    CHECK(bench.counts_of("run 50ms").at("instructions").value_or(0) > 0);
    // One note, of the framework that this machine lacks; none of a way of sampling.
    CHECK(std::ranges::count(bench.notes(), "other_strategy", &Note::kind) == 1);
  }
}

TEST_CASE(
    "whichever call is refused, and with whatever the kernel can say there, nothing is left") {
  const std::map<std::string, std::vector<int>> refusals = {
      {"kpc.force_all_ctrs", {EPERM, EACCES, EBUSY}},
      {"kpc.counting", {EPERM, EBUSY}},
      {"kpc.thread_counting", {EPERM, EBUSY}},
      {"kpc.config", {EPERM, EBUSY, EINVAL, ENOMEM}},
      {"kpc.counters", {EPERM, EBUSY, ENOMEM}},
      {"kperf.action.count", {EPERM, EBUSY, EINVAL}},
      {"kperf.action.samplers", {EPERM, EBUSY, EINVAL}},
      {"kperf.action.filter_by_pid", {EPERM, EBUSY, EINVAL}},
      {"kperf.kdebug.filter", {EPERM, EBUSY, EINVAL}},
      {"kperf.timer.count", {EPERM, EBUSY, EINVAL}},
      {"kperf.timer.period", {EPERM, EBUSY, EINVAL}},
      {"kperf.timer.action", {EPERM, EBUSY, EINVAL}},
      {"kperf.timer.pet_timer", {EPERM, EBUSY}},
      {"kperf.lightweight_pet", {EPERM, EBUSY}},
      {"kperf.sampling", {EPERM, EBUSY, ECANCELED}},
      {"kdebug 1", {EPERM, EBUSY}},
      {"kdebug 4", {EPERM, EBUSY}},
      {"kdebug 6", {EPERM, EBUSY, EINVAL, ENOMEM, ENOSPC}},
      {"kdebug 8", {EPERM, EBUSY, EINVAL}},
      {"kdebug 10", {EPERM, EBUSY, EINVAL, ENOSPC}},
      {"kdebug 23", {EPERM, EBUSY}},
  };
  std::size_t tried = 0;
  for (const KperfStrategyChoice strategy :
       {KperfStrategyChoice::Auto, KperfStrategyChoice::SampleRunningThreads,
        KperfStrategyChoice::Machine}) {
    // One use of one call after the other, until a session has no such use.
    for (const auto& refusal : refusals) {  // doctest captures no structured binding
      const std::string& name = refusal.first;
      for (const int error : refusal.second) {
        for (std::size_t use = 1;; ++use) {
          CAPTURE(name);
          CAPTURE(error);
          CAPTURE(use);
          Bench bench;
          bool was_refused = false;
          bool is_ending = false;
          rule_before = [&](const KernelRequest& asked) -> std::optional<int> {
            if (is_ending || asked.name != name || times(name) != use) return std::nullopt;
            // Only switched-on parts can be refused so: switching off again always succeeds.
            if (asked.name.starts_with("kperf.") && !asked.sets()) return std::nullopt;
            was_refused = true;
            if (error != EPERM && error != EBUSY && !name.starts_with("kpc.")) take_tracing();
            return error;
          };
          if (bench.make(strategy) == "" && bench.select({"instructions", "INST_ALL"}) == "")
            static_cast<void>(bench.run("run 60ms"));
          is_ending = true;
          CHECK(bench.end() == kNothing);
          if (!was_refused) break;
          ++tried;
        }
      }
    }
  }
  CHECK(tried > 300);
}

TEST_CASE("coprocessors are left out before anything is traced") {
  Bench bench;
  std::vector<std::string> order;
  rule_before = [&order](const KernelRequest& asked) -> std::optional<int> {
    if (asked.name.starts_with("kdebug "))
      order.push_back(asked.name.substr(7) + "=" + std::to_string(asked.value));
    return std::nullopt;
  };
  os::DarwinCalls& calls = bench.table;
  engine::kperf::Trace trace(calls);
  REQUIRE(trace.set_up(1000) == 0);
  CHECK(order == std::vector<std::string>{"3=0", "7=0", "1=1024", "4=1000", "6=0", "8=0", "3=1"});
  trace.remove();
}

TEST_CASE("where the exact filter is refused, the one by class is taken, and all is counted") {
  for (const int error : {EINVAL, ENOTSUP}) {
    Bench bench;
    rule_before = [error](const KernelRequest& asked) {
      return asked.name == "kdebug 8" ? std::optional(error) : std::nullopt;
    };
    bench.begin({"instructions", "INST_ALL"}, KperfStrategyChoice::AtExit);
    CHECK(times("kdebug 22") == 1);
    bench.check_passes(kWork);
    CHECK(bench.end() == kNothing);
  }
}

TEST_CASE("the trace is read when it is half full, and not while there is room") {
  Bench bench;
  bench.begin({"instructions"}, KperfStrategyChoice::AtExit);
  asked_for.clear();
  bench.check_passes("run 3500ms");
  CHECK(times("kdebug 10") == 2);  // what was there before, and the whole run
  CHECK(times("kdebug 23") == 3);
}

TEST_CASE("once records were lost, the trace is looked after closely and read meanwhile") {
  Setup setup = machine("m1");
  setup.trace.may_be_small = true;
  setup.trace.most_records = 1600;
  setup.trace.records_per_unit = 50;
  Bench bench{std::move(setup)};
  bench.begin({"instructions"}, KperfStrategyChoice::AtExit);
  const std::string work = "repeat 40 {\nthreads 30 {\nrun 10us\n}\nsleep 10ms\njoin\n}";
  const auto first = bench.run(work);
  REQUIRE(first.redo.has_value());
  CHECK_FALSE(bench.named(first).at("instructions").has_value());
  asked_for.clear();
  bench.check_passes(work);
  CHECK(times("kdebug 10") > 3);
}

TEST_CASE("a record that vanishes without a sign makes no wrong count") {
  const std::string work = "run 1ms\nfork {\nrun 3ms\n}\nwait\nthreads 3 {\nrun 1ms\n}\njoin";
  for (const bool all_of_child : {false, true}) {
    for (const std::uint32_t kind : {id::kNewThread, id::kTerminatePid, id::kThreadCounters}) {
      for (unsigned lost = 1; lost <= 5; ++lost) {
        CAPTURE(kind);
        CAPTURE(lost);
        Bench bench;
        bench.begin({"instructions"}, KperfStrategyChoice::AtExit);
        unsigned seen = 0;
        rule_after = [&](const KernelRequest& asked) {
          if (asked.name != "kdebug 10") return;
          auto* records = static_cast<Record*>(asked.old_value);
          std::vector<Record> kept;
          std::set<std::uint64_t> dropped;
          for (std::size_t i = 0; i < *asked.old_length; ++i) {
            const bool is_lost = (records[i].debugid & ~3U) == kind && ++seen == lost;
            if (is_lost)
              dropped.insert(kind == id::kNewThread ? records[i].arguments[0] : records[i].thread);
            const bool goes = is_lost || (all_of_child && dropped.contains(records[i].thread));
            if (!goes) kept.push_back(records[i]);
          }
          std::copy(kept.begin(), kept.end(), records);
          *asked.old_length = kept.size();
        };
        const auto counted = bench.run(work);
        const auto instructions = bench.named(counted).at("instructions");
        const bool is_noted = counted.redo.has_value() || has(bench.notes(), "orphans");
        CHECK((is_noted || instructions == bench.truth().instructions));
        // Only the kernel's total misses a thread that left no record at all.
        if (all_of_child && kind == id::kNewThread && lost > 2) continue;
        if (instructions) CHECK((is_noted || *instructions == bench.truth().instructions));
      }
    }
  }
}

TEST_CASE("whole-machine counts lack a CPU that was switched off, and are absent then") {
  for (const bool at_end : {false, true}) {
    Bench bench;
    bench.begin({"instructions"}, KperfStrategyChoice::Machine);
    unsigned reads = 0;
    rule_after = [&](const KernelRequest& asked) {
      if (asked.name == "kpc.counters" && ++reads == (at_end ? 2U : 1U))
        *asked.old_length -= 10 * sizeof(std::uint64_t);
    };
    const auto counted = bench.run("run 5ms");
    CHECK_FALSE(bench.named(counted).at("instructions").has_value());
    CHECK(has(counted.why_missing_counts.value().what, "a CPU was switched off"));
    const auto whole = bench.counts_of("run 5ms");
    CHECK(whole.at("instructions").value_or(0) >= bench.truth().instructions);
  }
}

TEST_CASE("a counter that went backwards gives no count") {
  Bench bench;
  bench.begin({"instructions"}, KperfStrategyChoice::Machine);
  unsigned reads = 0;
  rule_after = [&reads](const KernelRequest& asked) {
    if (asked.name == "kpc.counters" && ++reads == 2)
      static_cast<std::uint64_t*>(asked.old_value)[1 + 10 + 1] = 5;
  };
  const auto counted = bench.run("run 5ms");
  CHECK_FALSE(bench.named(counted).at("instructions").has_value());
  CHECK(has(counted.why_missing_counts.value().what, "backwards"));
}

TEST_CASE("a selector of which the processor keeps 8 bits would count another event") {
  Bench bench{machine("m3")};
  const std::uint64_t wide = word_of(bench.driver.host.kernel.setup.chip, "INST_BRANCH") + 0x100;
  auto database = database_of(bench.driver.host.kernel.setup.chip);
  std::string name;
  for (const auto& event : database.events)
    if (event.selector_number > 0xff && event.mask == 0x3fc && name.empty()) name = event.name;
  REQUIRE(wide > 0xff);
  REQUIRE(!name.empty());
  rule_after = [](const KernelRequest& asked) {
    if (asked.name != "kpc.config" || asked.old_value == nullptr) return;
    auto* words = static_cast<std::uint64_t*>(asked.old_value);
    for (std::size_t i = 0; i < *asked.old_length / sizeof *words; ++i) words[i] &= 0xff00ff;
  };
  bench.begin({name, "INST_BRANCH"}, KperfStrategyChoice::AtExit);
  CHECK(bench.events.events.size() == 1);
  CHECK(has(bench.notes(), "events_left_out"));
  bench.check_passes("run 3ms");
}

TEST_CASE("words that come back with privilege levels are those that were set") {
  Bench bench;
  rule_after = [](const KernelRequest& asked) {
    if (asked.name != "kpc.config" || asked.old_value == nullptr) return;
    auto* words = static_cast<std::uint64_t*>(asked.old_value);
    for (std::size_t i = 0; i < *asked.old_length / sizeof *words; ++i) words[i] |= 0x20000;
  };
  bench.begin({"INST_ALL"}, KperfStrategyChoice::AtExit);
  bench.check_passes("run 3ms");
}

TEST_CASE("an event that is refused only when counting begins is named, and the others counted") {
  Bench bench;
  const std::uint64_t refused = word_of(bench.driver.host.kernel.setup.chip, "INST_BRANCH");
  bool is_set = false;
  rule_before = [&](const KernelRequest& asked) -> std::optional<int> {
    if (!asked.sets()) return std::nullopt;
    const auto* words = static_cast<const std::uint64_t*>(asked.new_value);
    if (asked.name == "kpc.config") {
      is_set = false;
      for (std::size_t i = 1; i < asked.new_length / sizeof *words; ++i)
        is_set = is_set || words[i] == refused;
    }
    std::uint32_t classes = 0;
    if (asked.name == "kpc.counting") std::memcpy(&classes, asked.new_value, sizeof classes);
    return (classes & 2U) != 0 && is_set ? std::optional(EPERM) : std::nullopt;
  };
  bench.begin({"INST_ALL", "INST_BRANCH"}, KperfStrategyChoice::AtExit);
  CHECK(has(note_of(bench.notes(), "events_left_out"), "inst_branch"));
  bench.check_passes("run 3ms");
  CHECK(bench.end() == kNothing);
}

TEST_CASE("a portable name leads to another event where this kernel refuses the first") {
  Setup setup = machine("m1");
  setup.pmu.refused_selector =
      static_cast<std::uint16_t>(word_of(setup.chip, "L1D_CACHE_MISS_LD_NONSPEC"));
  KperfBench bench{std::move(setup)};
  bench.begin({"l1d-cache-misses", "INST_ALL"}, KperfStrategyChoice::AtExit);
  CHECK(note_of(bench.notes(), "other_event") ==
        "l1d-cache-misses is counted by L1D_CACHE_MISS_LD, because this kernel refuses "
        "L1D_CACHE_MISS_LD_NONSPEC");
  const auto counted = bench.counts_of("run 9ms");
  CHECK(counted.at("l1d-cache-misses") == bench.truth().events.at("L1D_CACHE_MISS_LD"));
  CHECK_FALSE(has(bench.notes(), "events_left_out"));
}

TEST_CASE("an owner of the tracing that has ended, or gives way, is not accused") {
  using engine::kperf::KernelRequest;
  for (const std::uint32_t state : {0U, 1U, 2U}) {
    for (const int pid : {0, 1, 4711}) {  // 1 lives on every Mac, 4711 does not here
      CAPTURE(state);
      CAPTURE(pid);
      Bench bench;
      const bool lives = pid == 1;
      rule_before = [&](const auto& asked) -> std::optional<int> {
        if (asked.name == "ktrace.state") std::memcpy(asked.old_value, &state, sizeof state);
        if (asked.name == "ktrace.owning_pid") std::memcpy(asked.old_value, &pid, sizeof pid);
        return asked.name.starts_with("ktrace.") ? std::optional(0) : std::nullopt;
      };
      const engine::kperf::Kernel calls(*bench.calls);
      const auto reason = engine::kperf::explain_refusal(KernelRequest::Trace, EBUSY, calls);
      CHECK(has(reason.what, "(process 1)") == (state == 1 && lives));
      CHECK_FALSE(has(reason.what, "4711"));
    }
  }
}

}  // namespace lauka::darwin

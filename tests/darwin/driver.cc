#include "darwin/driver.h"

#include "places.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lauka::darwin {

Setup machine(const std::string& name) {
  Setup setup;
  setup.chip = chip_named(name, std::string(places::kRepository) + "/tests/data/kpep");
  setup.trace.cpus = setup.chip.cpus();
  return setup;
}

Driver::Driver(Setup setup, CallRules rules)
    : host(std::move(setup), std::move(rules)), calls(host.calls()) {
  host.kernel.load = [this](const std::string& path, const std::vector<std::string>&,
                            Script& script) {
    const auto found = programs.find(path.substr(path.rfind('/') + 1));
    if (found == programs.end()) return ENOENT;
    script = found->second;
    return 0;
  };
}

int Driver::set(const std::string& name, std::uint32_t value) const {
  return calls.sysctlbyname(name.c_str(), nullptr, nullptr, &value, sizeof value) == 0 ? 0 : errno;
}

int Driver::set(const std::string& name, std::uint64_t which, std::uint64_t value) const {
  std::array<std::uint64_t, 2> pair = {which, value};
  return calls.sysctlbyname(name.c_str(), nullptr, nullptr, pair.data(), sizeof pair) == 0 ? 0
                                                                                           : errno;
}

std::uint32_t Driver::get(const std::string& name) const {
  std::uint32_t value = 0;
  std::size_t length = sizeof value;
  if (calls.sysctlbyname(name.c_str(), &value, &length, nullptr, 0) != 0)
    throw std::runtime_error(name + ": " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
  return value;
}

std::uint32_t Driver::count(const std::string& name, std::uint32_t classes) const {
  std::uint32_t value = 0;
  std::size_t length = sizeof value;
  calls.sysctlbyname(name.c_str(), &value, &length, &classes, sizeof classes);
  return value;
}

int Driver::set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words) const {
  std::vector<std::uint64_t> all = {classes};
  all.insert(all.end(), words.begin(), words.end());
  const std::size_t bytes = all.size() * sizeof all.front();
  return calls.sysctlbyname("kpc.config", nullptr, nullptr, all.data(), bytes) == 0 ? 0 : errno;
}

int Driver::trigger(std::uint8_t code, std::uint32_t debugid) const {
  std::array<std::uint8_t, 20> bytes{code};
  std::memcpy(bytes.data() + 16, &debugid, sizeof debugid);
  const int given =
      calls.sysctlbyname("kperf.kdebug.filter", nullptr, nullptr, bytes.data(), bytes.size());
  return given == 0 ? 0 : errno;
}

int Driver::kdebug(int operation, int value) const {
  std::array name = {1, 24, operation, value};
  return calls.sysctl(name.data(), 4, nullptr, nullptr, nullptr, 0) == 0 ? 0 : errno;
}

int Driver::filter(const std::array<std::uint32_t, 5>& what) const {
  std::array name = {1, 24, 8};
  auto bytes = what;
  std::size_t length = sizeof bytes;
  return calls.sysctl(name.data(), 3, bytes.data(), &length, nullptr, 0) == 0 ? 0 : errno;
}

int Driver::typefilter(const std::vector<std::uint32_t>& classes) const {
  std::array name = {1, 24, 22};
  std::vector<std::uint8_t> bits(8192);
  for (const std::uint32_t csc : classes)
    bits.at(csc / 8) = static_cast<std::uint8_t>(bits.at(csc / 8) | 1U << csc % 8);
  std::size_t length = bits.size();
  return calls.sysctl(name.data(), 3, bits.data(), &length, nullptr, 0) == 0 ? 0 : errno;
}

std::vector<Record> Driver::read(std::size_t capacity) const {
  std::array name = {1, 24, 10};
  std::vector<Record> records(capacity);
  std::size_t length = records.size() * sizeof(Record);
  if (calls.sysctl(name.data(), 3, records.data(), &length, nullptr, 0) != 0)
    throw std::runtime_error("the trace cannot be read");
  records.resize(length);  // records now, no longer bytes
  return records;
}

void Driver::count_at_exit(const std::vector<std::uint64_t>& words, std::uint32_t samplers,
                           std::uint32_t classes, bool force) const {
  int error = force ? set("kpc.force_all_ctrs", 1) : 0;
  if (!words.empty()) error |= set_words(2, words);
  error |= set("kpc.counting", classes) | set("kpc.thread_counting", classes);
  error |= set("kperf.action.count", 1) | set("kperf.action.samplers", 1, samplers);
  error |= set("kperf.action.filter_by_pid", 1, ~std::uint64_t{0});
  error |= trigger(4, id::kTerminatePid) | set("kperf.kdebug.action", 1) | set("kperf.sampling", 1);
  if (error != 0) throw std::runtime_error("the counters are refused");
}

void Driver::trace_on() const {
  const int error = kdebug(7) | kdebug(4, 1'000'000) | kdebug(6) |
                    filter({Trace::kValueCheck, id::kTerminatePid, id::kThreadCounters,
                            id::kNewThread, id::kExec}) |
                    kdebug(3, 1);
  if (error != 0) throw std::runtime_error("tracing is refused");
}

pid_t Driver::spawn_suspended(const std::string& name) const {
  const std::string path = "/bin/" + name;
  std::string word = name;
  std::array<char*, 2> argv = {word.data(), nullptr};
  os::SpawnRequest request;
  request.path = path.c_str();
  request.argv = argv.data();
  request.flags = os::kSpawnSuspended | os::kSpawnSetProcessGroup;
  pid_t pid = 0;
  if (const int error = calls.spawn(request, &pid); error != 0)
    throw std::runtime_error("not started: " + std::to_string(error));
  return pid;
}

Process& Driver::run(const std::string& name) {
  const pid_t pid = spawn_suspended(name);
  calls.kill(pid, SIGCONT);
  siginfo_t info{};
  calls.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  return *host.kernel.find(pid);
}

Process& Driver::run_script(const std::string& script) {
  programs["work"] = read_script(script);
  return run("work");
}

std::map<Tid, std::vector<std::uint64_t>> collect_samples(const std::vector<Record>& records,
                                                          std::size_t count) {
  std::map<Tid, std::vector<std::uint64_t>> samples;
  for (const Record& record : records) {
    if ((record.debugid & ~3U) != id::kThreadCounters) continue;
    auto& values = samples[record.thread];
    if ((record.debugid & id::kFunctionStart) != 0) values.clear();
    for (const std::uint64_t value : record.arguments)
      if (values.size() < count) values.push_back(value);
  }
  return samples;
}

std::uint64_t word_of(const Chip& chip, const std::string& event) {
  for (const ChipEvent& one : chip.events)
    if (one.name == event) return one.number;
  throw std::runtime_error("no event " + event);
}

}  // namespace lauka::darwin

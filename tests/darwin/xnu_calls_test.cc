#include "darwin/driver.h"
#include "fakes/darwin/scenario.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// The model against calls that XNU's own code has answered: facts, section 0. Each sequence is
// played on a fresh machine, and every return value, errno, length and byte is compared.

namespace lauka::darwin {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kUntouched = 0xa5;
constexpr std::size_t kBeyondRoom = 1024;  ///< the kernel writes more than the caller has room for
constexpr std::uint16_t kAllConfigurable = 0x3fc;
constexpr std::uint16_t kWithoutPowerManagers = kAllConfigurable & ~0xe0;

std::uint8_t byte_at(const std::string& text, std::size_t at) {
  return static_cast<std::uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16));
}

/// Hexadecimal; (00*24) is 24 bytes 00.
Bytes bytes_of(const std::string& text) {
  Bytes bytes;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '(') {
      bytes.push_back(byte_at(text, at));
      at += 2;
      continue;
    }
    bytes.insert(bytes.end(), std::stoul(text.substr(at + 4)), byte_at(text, at + 1));
    at = text.find(')', at) + 1;
  }
  return bytes;
}

std::string hex(const Bytes& bytes, std::size_t count) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < std::min(count, bytes.size()); ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 0xfU];
  }
  return text;
}

Setup machine_of(const json& sequence) {
  const json& start = sequence.at("start");
  Setup setup = machine(sequence.at("chip"));
  setup.chip.performance_cpus = sequence.at("cpus").get<unsigned>() - setup.chip.efficiency_cpus;
  setup.chip.unforced =
      start.at("power_manager_holds").get<bool>() ? kWithoutPowerManagers : kAllConfigurable;
  setup.trace.cpus = setup.chip.cpus();
  setup.cpmu_is_busy = start.at("cpmu_busy");
  return setup;
}

/// Replays calls; collects the model's other answers (empty: none).
class Player {
 public:
  explicit Player(const json& sequence) : host_(machine_of(sequence), {}) {}

  std::string play(const json& step) {
    if (!step.contains("event")) return call(step);
    if (step.at("event") == "start")
      host_.kernel.start_beside(step.at("pid"), step.at("uid"), step.at("name"));
    else
      host_.kernel.end_beside(*host_.kernel.find(step.at("pid")));
    return "";
  }

 private:
  std::string call(const json& step) {
    Bytes given = step.at("in").is_null() ? Bytes{} : bytes_of(step.at("in"));
    const bool has_room = !step.at("room").is_null();
    std::size_t length = has_room ? step.at("room").get<std::size_t>() : 0;
    Bytes buffer = step.at("old").is_null() ? Bytes{} : bytes_of(step.at("old"));
    buffer.resize(std::max(buffer.size(), length + kBeyondRoom), kUntouched);
    const Bytes before = buffer;
    Io io;
    io.old_value = step.at("old").is_null() ? nullptr : buffer.data();
    io.old_length = has_room ? &length : nullptr;
    io.new_value = step.at("in").is_null() ? nullptr : given.data();
    io.new_length = step.at("newlen");
    const Process* process = host_.kernel.find(step.at("pid"));
    Caller caller = caller_of(*process);
    caller.is_root = step.at("uid") == 0;
    host_.call_as(caller);
    const int error = made(step.at("call"), io);
    Bytes wanted = before;
    const Bytes out = bytes_of(step.at("out"));
    std::copy(out.begin(), out.end(), wanted.begin());
    for (const auto& range : step.value("any", json::array())) {
      for (std::size_t i = range.at(0); i < range.at(1); ++i) wanted.at(i) = buffer.at(i);
    }
    std::string reported;
    if (error != error_named(step.at("errno")))
      reported += " gives " + std::to_string(error) + ", not " + step.at("errno").dump() + ";";
    if (has_room && length != step.at("outlen").get<std::size_t>())
      reported += " length " + std::to_string(length) + ", not " + step.at("outlen").dump() + ";";
    if (buffer != wanted)
      reported += " bytes " + hex(buffer, std::max<std::size_t>(out.size(), 24)) + ";";
    return reported.empty() ? "" : step.dump() + reported;
  }

  int made(const std::string& name, const Io& io) {
    if (name.front() < '0' || name.front() > '9') return host_.sysctlbyname(name, io);
    std::vector<int> numbers;
    for (std::size_t at = 0; at < name.size(); at = name.find('.', at)) {
      if (name[at] == '.') ++at;
      numbers.push_back(std::stoi(name.substr(at)));
    }
    return host_.sysctl(numbers.data(), static_cast<unsigned>(numbers.size()), io);
  }

  Host host_;
};

struct Played {
  std::size_t sequences = 0;
  std::size_t calls = 0;
  std::size_t calls_as_recorded = 0;
  std::vector<std::string> different{};  ///< by name, with the first call that is
};

void play(const json& sequence, Played& played) {
  Player player(sequence);
  std::string first;
  for (const auto& step : sequence.at("start").at("made_by")) {
    const std::string reported = player.play(step);
    if (first.empty() && !reported.empty()) first = "start: " + reported;
  }
  std::size_t number = 0;
  for (const auto& step : sequence.at("calls")) {
    ++number;
    const std::string reported = player.play(step);
    if (step.contains("event")) continue;
    ++played.calls;
    if (reported.empty()) ++played.calls_as_recorded;
    if (first.empty() && !reported.empty())
      first = "call " + std::to_string(number) + ": " + reported;
  }
  ++played.sequences;
  if (!first.empty())
    played.different.push_back(sequence.at("name").get<std::string>() + " " + first);
}

Played play_all(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.rfind("calls-", 0) == 0 && entry.path().extension() == ".jsonl")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Played played;
  for (const auto& path : files) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line))
      if (!line.empty()) play(json::parse(line), played);
  }
  return played;
}

void check(const Played& played) {
  for (const std::string& one : played.different) FAIL_CHECK(one);
  CHECK(played.calls_as_recorded == played.calls);
}

}  // namespace

TEST_CASE("the model answers every recorded call as XNU's own code did") {
  const Played played = play_all(std::string(places::kRepository) + "/tests/data/xnu-calls");
  CHECK(played.sequences == 400);
  CHECK(played.calls == 10'425);
  check(played);
}

TEST_CASE("the model answers the calls of the folder LAUKA_XNU_CALLS as XNU's own code did") {
  const char* folder = std::getenv("LAUKA_XNU_CALLS");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) return skip("LAUKA_XNU_CALLS names no folder of calls-*.jsonl");
  const Played played = play_all(folder);
  MESSAGE("played ", played.sequences, " sequences; ", played.calls_as_recorded, " of ",
          played.calls, " calls answered as recorded, ", played.different.size(),
          " sequences differ");
  CHECK(played.sequences > 0);
  check(played);
}

}  // namespace lauka::darwin

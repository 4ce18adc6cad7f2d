#include "contract/schema.h"
#include "on_model/on_model.h"
#include "places.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

// The whole program's answers on the model: --check, -l, --explain-events.

namespace lauka::darwin {
namespace {

using nlohmann::json;

/// The line of --check about `topic`, with its remedy.
std::string line_about(const Reported& reported, const std::string& topic) {
  const std::size_t begin = reported.out.find("\n" + topic);
  REQUIRE_MESSAGE(begin != std::string::npos, reported.out);
  std::size_t end = reported.out.find('\n', begin + 1);
  while (reported.out.compare(end, 2, "\n ") == 0) end = reported.out.find('\n', end + 1);
  return reported.out.substr(begin + 1, end - begin - 1);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Reported check(const json& scenario) {
  Reported reported = mac_with(scenario).lauka({"--check"});
  reported.check_ended(0);
  return reported;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("--check takes the counters as counting would, and gives all of them back") {
  const std::string line = line_about(check(json::object()), "engine kperf");
  CHECK(has(line, "ok "));
  CHECK(has(line, "inst_all"));
}

TEST_CASE("--check says why kperf cannot count here, and what mends it") {
  struct Row {
    const char* fault;
    bool is;
    const char* why;
    const char* remedy;
  };
  for (const Row& row :
       {Row{"root", false, "counting events needs root", "-> run 'sudo lauka ...'"},
        Row{"force_taken", true, "another process, such as Instruments, holds the counters",
            "-> quit it"},
        Row{"cpmu_busy", true, "a system service holds the counters",
            "-> try again later, or restart the Mac"}}) {
    CAPTURE(row.fault);
    const std::string line = line_about(check({{row.fault, row.is}}), "engine kperf");
    for (const char* part : {"problem", row.why, row.remedy}) CHECK_MESSAGE(has(line, part), part);
  }
}

TEST_CASE("--check names who has the tracing, without which only the machine can be counted") {
  const Reported reported = check({{"tracer", {{"pid", 77}, {"name", "Instruments"}}}});
  const std::string line = line_about(reported, "engine kperf");
  CHECK(has(line, "note"));
  CHECK(has(line, "; quit Instruments (process 77)"));
  const std::string tracing = line_about(reported, "left over by kperf");
  CHECK(has(tracing, "problem"));
  CHECK(has(tracing, "process 77"));
  CHECK(has(tracing, "sudo kill 77"));
}

TEST_CASE("--check finds what a killed run left switched on, and resets it") {
  const Reported reported = check({{"leftovers", true}});
  CHECK(has(line_about(reported, "left over by kperf"), "nothing"));
  CHECK(has(line_about(reported, "engine kperf"), "killed session"));
}

TEST_CASE("--check that is interrupted in any call gives back what it took") {
  const std::uint64_t calls = check(json::object()).report.at("calls");
  int interrupted = 0;
  for (std::uint64_t call = calls / 4; call <= calls; call += 3) {  // before, nothing is taken
    CAPTURE(call);
    const Mac mac(json{{"interrupt", {{"call", call}, {"signal", SIGTERM}}}});
    const Reported reported = mac.lauka({"--check"});
    reported.check_ended(reported.status == 0 ? 0 : 128 + SIGTERM);
    if (reported.status != 0) ++interrupted;
  }
  CHECK(interrupted > 5);
}

TEST_CASE("-l without the processor's database lists the rest, and says in one line why") {
  const Mac mac;
  std::ofstream(mac.database("1b588bb3")) << "<plist><dict>";
  for (const std::string filter : {"", "inst_all"}) {
    CAPTURE(filter);
    const Reported damaged = filter.empty() ? mac.lauka({"-l"}) : mac.lauka({"-l", filter});
    CHECK(damaged.status == 0);
    CHECK(lines_of(damaged.err) == 1);
    CHECK(has(damaged.err, mac.database("1b588bb3") + "' "));
    CHECK(has(damaged.out, "instructions") == filter.empty());
  }
  std::filesystem::remove(mac.database("1b588bb3"));
  const Reported missing = mac.lauka({"-l"});
  CHECK(missing.status == 0);
  CHECK(lines_of(missing.err) == 1);
  CHECK(has(missing.err, "cpu_100000c_2_1b588bb3"));
  CHECK(has(missing.out, "energy"));
  CHECK(Mac().lauka({"-l"}).err.empty());
}

TEST_CASE("-l and --explain-events mark what was tried as root and refused, and leave nothing on") {
  const json refused = {{"refused_selector", 0x8d}};  // INST_BRANCH of M1
  const Reported list = mac_with(refused).lauka({"-l", "INST_BRANCH"});
  CHECK(has(line_about(list, "INST_BRANCH "), "refused by this kernel"));
  CHECK_FALSE(has(line_about(list, "INST_BRANCH_CALL"), "refused"));
  list.check_ended(0);
  const Reported explained =
      mac_with(refused).lauka({"-e", "branches,INST_ALL", "--explain-events"});
  const std::size_t mark = explained.out.find("refused");
  REQUIRE(mark != std::string::npos);
  CHECK(explained.out.rfind("refused") == mark);
  CHECK(explained.out.rfind("INST_BRANCH", mark) > explained.out.rfind('\n', mark));
  const json as_user = {{"refused_selector", 0x8d}, {"root", false}};
  CHECK_FALSE(mac_with(as_user).lauka({"-l"}).says("refused"));
}

TEST_CASE("energy, which needs no counter, is explained as well as listed, as root or not") {
  for (const bool root : {true, false}) {
    CAPTURE(root);
    const Mac mac = mac_with({{"root", root}});
    const Reported alone = mac.lauka({"-e", "energy", "--explain-events"});
    CHECK_MESSAGE(alone.status == 0, alone.err);
    CHECK(has(alone.out, "1 pass"));
    CHECK(has(alone.out, "energy"));
    CHECK_FALSE(has(alone.out, "inst_all"));
    const Reported with = mac.lauka({"-e", "INST_ALL,Energy,INST_LDST", "--explain-events"});
    CHECK_MESSAGE(with.status == 0, with.err);
    CHECK(has(with.out, "2 passes"));
    CHECK(has(with.out.substr(with.out.find("pass 2")), "energy"));
  }
}

TEST_CASE("--threads with --interval has times, energy and moves by kind of core on each line") {
  const Mac mac = mac_with({{"neighbours", true}});
  std::ifstream file(std::string(places::kRepository) + "/docs/threads.schema.json");
  const json schema = json::parse(file);
  const Reported reported = mac.lauka({"--threads", "813", "-d", "30ms", "--interval", "10ms"});
  CHECK_MESSAGE(reported.status == 0, reported.err);
  REQUIRE(lines_of(reported.out) >= 1);
  std::stringstream lines(reported.out);
  for (std::string line; std::getline(lines, line);) {
    const json sample = json::parse(line);
    for (const std::string& fault : contract::faults(sample, schema)) FAIL_CHECK(fault);
    CHECK(sample.at("kinds").size() == 2);
    CHECK(sample.at("moves").is_number());
    CHECK(sample.at("energy").is_number());
  }
}

}  // namespace lauka::darwin

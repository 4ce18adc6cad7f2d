#include "contract/program.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --setup, --prepare, --conclude, --cleanup.

namespace lauka::contract {
namespace {

/// A command or hook that writes `word` into the log, and does what follows.
std::string says(const Folder& folder, const std::string& word, const std::string& then = ":") {
  return "sh -c 'echo " + word + " >> " + folder.file("log") + "; " + then + "'";
}

/// The log, on one line.
std::string log_of(const Folder& folder) {
  if (!exists(folder.file("log"))) return "";  // no hook was run
  std::string log;
  for (const std::string& line : lines_of(text_of(folder.file("log"))))
    log += (log.empty() ? "" : " ") + line;
  return log;
}

}  // namespace

TEST_CASE("setup, prepare, conclude and cleanup are run in their order and numbers") {
  const Folder folder;
  const std::string log = folder.file("log");
  completed({"-r2", "-s", "echo setup >> " + log, "-p", "echo prepare $LAUKA_ITERATION >> " + log,
             "-C", "echo conclude $LAUKA_ITERATION >> " + log, "-c", "echo cleanup >> " + log, "--",
             says(folder, "run")});
  CHECK(log_of(folder) ==
        "setup prepare warmup-0 run conclude warmup-0 prepare 0 run conclude 0 prepare 1 run "
        "conclude 1 cleanup");
}

TEST_CASE("setups and cleanups make the order sequential, and one line explains it") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said = lauka("-r2 -w0 -s 'echo s >> " + log + "' -c 'echo c >> " + log + "'",
                          {says(folder, "old"), says(folder, "new")});
  CHECK(log_of(folder) == "s old old c s new new c");
  CHECK(said.err_has("--order random"));
}

TEST_CASE("an empty hook is none for its command") {
  const Folder folder;
  const std::string log = folder.file("log");
  completed({"-r2", "-w0", "-p", "", "-p", "echo prepare >> " + log, "-n", "one", "-n", "two", "--",
             "sh -c 'echo one >> " + log + "'", "sh -c 'echo two >> " + log + "'"});
  const auto lines = lines_of(text_of(log));
  CHECK(std::ranges::count(lines, "prepare") == 2);
  CHECK(std::ranges::count(lines, "one") == 2);
  CHECK_FALSE(lauka({"-r2", "-s", "", "true", "true"}).err_has("--order random"));
}

TEST_CASE("a hook that fails ends the benchmark with its output and status 1") {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"--setup", "--setup of 'true'"},
      {"--prepare", "--prepare of 'true'"},
      {"--conclude", "--conclude of 'true'"},
      {"--cleanup", "--cleanup of 'true'"}};
  for (const auto& [option, hook] : all) {
    const std::string said =
        failure({"-r2", option, "echo to output; echo to error >&2; exit 3", "true"});
    CAPTURE(said);
    CHECK(has(said, hook));
    CHECK(has(said, "status 3"));
    CHECK(has(said, "  | to output\n  | to error\n"));
  }
}

TEST_CASE("cleanup is run also when a run failed") {
  const Folder folder;
  const std::string said = failure(
      {"-r3", "-c", "echo cleanup >> " + folder.file("log"), "--", fixture("fail") + " status 3"});
  CHECK(log_of(folder) == "cleanup");
  CHECK(has(said, "status 3"));
}

TEST_CASE("cleanup is run also when the user interrupted") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said =
      lauka({.arguments =
                 words("-r3 -w0 -C 'echo conclude >> " + log + "' -c 'echo cleanup >> " + log + "'",
                       {says(folder, "run", "exec " + fixture("hang") + " --ignore-term")}),
             .interrupt_when = [&] { return has_lines(log, 1); }});
  CHECK(said.status == 130);
  CHECK(log_of(folder) == "run conclude cleanup");
}

TEST_CASE("a setup that hangs can be interrupted, and its cleanup is run") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said = lauka({.arguments = words("-r3 -s 'echo setup >> " + log +
                                                  "; sleep 600' -c 'echo cleanup >> " + log + "'",
                                              {"true"}),
                           .interrupt_when = [&] { return has_lines(log, 1); },
                           .interrupt_signal = 15});
  CHECK(said.status == 143);
  CHECK(log_of(folder) == "setup cleanup");
}

TEST_CASE("the time of hooks is in no measurement") {
  const Folder folder;
  completed({"-q", "-r2", "-w0", "-n", "x", "-p", fixture("burn") + " 200ms", "-C",
             fixture("burn") + " 200ms", "--export-csv", folder.file("out.csv"), "--",
             fixture("tiny")});
  const std::string csv = text_of(folder.file("out.csv"));
  CHECK(std::stod(csv_value(csv, "x", "cpu_time", "max")) < 0.2);  // a tenth is more than a start
}

TEST_CASE("--env sets variables for the command and its hooks, once for all or once per command") {
  const Folder folder;
  const std::string log = folder.file("log");
  const std::string show = "sh -c 'echo run $A $B >> " + log + "'";
  completed({"-r1", "-w0", "--order=interleaved", "--env", "A=1 B=\"two words\"", "-s",
             "echo setup $B >> " + log, show});
  CHECK(log_of(folder) == "setup two words run 1 two words");

  const Folder each;
  const std::string show_each = "sh -c 'echo $A >> " + each.file("log") + "'";
  completed("-r1 -w0 --order=interleaved --env A=1 --env A=2", {show_each, show_each});
  CHECK(log_of(each) == "1 2");
}

TEST_CASE("the start of the shell is measured, subtracted and reported") {
  const Folder folder;
  const std::string shell = "sh -c '" + fixture("burn") + " 100ms; exec sh \"$@\"' sh";
  const Said said = completed({"--shell", shell, "-r5", "-n", "x", "--export-json",
                               folder.file("out.json"), "--", fixture("burn") + " 50ms; true"});
  const auto session = nlohmann::json::parse(text_of(folder.file("out.json")));
  const auto& it = session.at("results").at(0).at("lauka");
  const double start = it.at("shell_overhead").at("user_time").get<double>() +
                       it.at("shell_overhead").at("system_time").get<double>();
  CHECK(start >= 0.1);  // burn uses that, and a process a little more
  const std::vector<double> times = it.at("metrics").at("cpu_time").at("samples");
  for (const double time : times) CHECK(time + start >= 0.1 + 0.05);
  CHECK(*std::min_element(times.begin(), times.end()) < 0.1 + 0.05);
  CHECK(said.out_has("starting "));
}

TEST_CASE("a shell that is not there, or takes no -c, is refused with status 1") {
  CHECK(lauka({"--shell", "/nosuch/sh", "true"}).status == 1);
  failure({"--shell", "false", "true"});
}

}  // namespace lauka::contract

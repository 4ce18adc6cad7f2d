#include "contract/program.h"
#include "skip.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

// --profile with the kernel's own samples, where it grants them.

namespace lauka::contract {
namespace {

/// True if runs can be sampled here; else the test case is skipped.
nlohmann::json session_of(const std::string& options, const std::vector<std::string>& commands) {
  const Folder folder;
  const std::string file = folder.file("session.json");
  completed("-q -w0 --profile --export-json " + file + " " + options, commands);
  return nlohmann::json::parse(text_of(file));
}

double in_round(const nlohmann::json& value, std::size_t round) {
  return value.is_array() ? value[round].get<double>() : value.get<double>();
}

/// Returns the sampled time of a function or call path.
double sampled_in_round(const nlohmann::json& row, std::size_t round) {
  return row.contains("sampled_time") ? in_round(row["sampled_time"], round) : 0.0;
}

std::vector<double> sampled(const nlohmann::json& result) {
  std::vector<double> values;
  for (const auto& sample : result["lauka"]["metrics"]["sampled_time"]["samples"])
    if (!sample.is_null()) values.push_back(sample.get<double>());
  return values;
}

double total_of(const nlohmann::json& result, const std::string& function) {
  double total = 0.0;
  const std::size_t rounds = sampled(result).size();
  for (const auto& row : result["lauka"]["functions"]["rows"])
    for (std::size_t round = 0; row["name"] == function && round < rounds; ++round)
      total += sampled_in_round(row, round);
  return total;
}

/// Returns the time of each stack in a round: "call_paths;main;first;work".
std::map<std::string, double> stacks_in_round(const nlohmann::json& functions, std::size_t round) {
  std::vector<std::string> stacks;
  std::map<std::string, double> times;
  for (const auto& path : functions["paths"]) {
    const auto name = functions["frames"][path["frame"].get<std::size_t>()].get<std::string>();
    stacks.push_back(
        path.contains("caller") ? stacks.at(path["caller"].get<std::size_t>()) + ";" + name : name);
    if (path.contains("sampled_time")) times[stacks.back()] = sampled_in_round(path, round);
  }
  return times;
}

}  // namespace

TEST_CASE(
    "the times of call paths add up to each function's own time, and callers are told apart") {
  if (!can_sample()) return;
  const auto session = session_of("-r2", {fixture("call_paths") + " 150 0 3"});
  const auto& functions = session["results"][0]["lauka"]["functions"];
  for (std::size_t round = 0; round < 2; ++round) {
    std::map<std::string, double> own_times;
    for (const auto& [stack, time] : stacks_in_round(functions, round))
      own_times[stack.substr(stack.rfind(';') + 1)] += time;
    for (const auto& row : functions["rows"]) {
      const double time = sampled_in_round(row, round);
      CHECK(own_times[row["name"].get<std::string>()] == doctest::Approx(time).epsilon(1e-9));
    }
  }

  std::map<std::string, double> stacks = stacks_in_round(functions, 0);
  const std::string program = "call_paths;main;";
  CHECK(stacks[program + "first;first;first;first;work"] > stacks[program + "third;work"]);
  CHECK(stacks[program + "second;work"] > 0.0);
  CHECK(stacks[program + "third;work"] > 0.0);
}

TEST_CASE("without a call graph there are no paths, and functions are sampled as before") {
  if (!can_sample()) return;
  const auto session = session_of("-r2 --call-graph none", {fixture("call_paths") + " 150"});
  const auto& result = session["results"][0];
  CHECK_FALSE(result["lauka"]["functions"].contains("paths"));
  CHECK(total_of(result, "work") > 0.0);
}

TEST_CASE("the programs that a script starts have paths of their own") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string script = folder.file("script.sh");
  std::ofstream(script) << "#!/bin/sh\n"
                        << fixture("call_paths") << " 150\n"
                        << fixture("hundred") << " 150\n";
  REQUIRE(chmod(script.c_str(), 0755) == 0);
  const auto session = session_of("-r2", {script});

  // In one of many calls, a round lacked this path, so both rounds are read.
  const auto& functions = session["results"][0]["lauka"]["functions"];
  std::map<std::string, double> stacks = stacks_in_round(functions, 0);
  stacks.merge(stacks_in_round(functions, 1));
  CHECK(stacks["call_paths;main;first;work"] > 0.0);
  CHECK(std::ranges::any_of(stacks, [](const auto& stack) {
    return stack.first.starts_with("hundred;") && stack.first.find(";part_") != std::string::npos;
  }));
}

TEST_CASE("folded stacks of a comparison have the time of the sampled runs of both sides") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string session = folder.file("session.json");
  const std::string stacks = folder.file("stacks.txt");
  const std::string profile = folder.file("profile.json");
  completed("-q -w0 -r4 --profile --export-json " + session + " --export-folded " + stacks +
                " --export-speedscope " + profile,
            {fixture("call_paths") + " 150", fixture("call_paths") + " 150 40"});

  const auto results = nlohmann::json::parse(text_of(session))["results"];
  std::array<double, 2> seconds{};
  std::istringstream lines(text_of(stacks));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t second = line.rfind(' ');
    const std::size_t first = line.rfind(' ', second - 1);
    CHECK(line.substr(0, first).find(";;") == std::string::npos);
    seconds[0] += std::stod(line.substr(first + 1, second - first - 1)) * 1e-6;
    seconds[1] += std::stod(line.substr(second + 1)) * 1e-6;
  }
  for (std::size_t c = 0; c < 2; ++c) {
    double mean = 0.0;
    for (const double value : sampled(results[c])) mean += value / 4.0;
    // Each path is rounded to a microsecond.
    CHECK(seconds.at(c) == doctest::Approx(mean).epsilon(0.01));
  }

  const auto profiles = nlohmann::json::parse(text_of(profile))["profiles"];
  REQUIRE(profiles.size() == 2);
  CHECK(profiles[0]["samples"].size() == profiles[0]["weights"].size());

  const std::string again = folder.file("again.txt");
  completed({"-q", "--from", session, "--export-folded", again});
  CHECK(text_of(again) == text_of(stacks));
}

TEST_CASE("with more than two commands, folded stacks need a file for each candidate") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string first = folder.file("a.txt");
  const std::vector<std::string> commands = {
      fixture("call_paths") + " 50", fixture("call_paths") + " 60", fixture("call_paths") + " 70"};
  const Said refused = lauka("-w0 -r1 --profile --export-folded " + first, commands);
  CHECK(refused.status == 2);
  CHECK(refused.err_has("{name}"));

  completed(
      "-q -w0 -r2 --profile -n one -n two -n three --export-folded " + folder.file("{name}.txt"),
      commands);
  CHECK_FALSE(std::filesystem::exists(folder.file("one.txt")));
  CHECK(text_of(folder.file("two.txt")).find(";work ") != std::string::npos);
  CHECK(text_of(folder.file("three.txt")).find(";work ") != std::string::npos);
}

TEST_CASE("options that need call paths are refused without them") {
  for (const char* const option : {"--export-folded=x", "--export-speedscope=x", "--paths"}) {
    CAPTURE(option);
    const Said without = lauka({option, "true", "false"});
    CHECK(without.status == 2);
    CHECK(without.err_has("add --profile"));
    const Said none = lauka({"--profile", "--call-graph", "none", option, "true", "false"});
    CHECK(none.status == 2);
    CHECK(none.err_has("leave out --call-graph none"));
  }
}

namespace {

/// Checks that a command's call paths add up to the sampled time of each of its runs, and that one
/// goes through first().
void check_paths(const nlohmann::json& result) {
  const auto& functions = result["lauka"]["functions"];
  const std::vector<double> totals = sampled(result);
  CHECK(functions["metrics"]["sampled_time"] == totals.size());
  double through_first = 0.0;
  for (std::size_t round = 0; round < totals.size(); ++round) {
    double sum = 0.0;
    for (const auto& [stack, time] : stacks_in_round(functions, round)) {
      sum += time;
      if (stack.find(";first") != std::string::npos) through_first += time;
    }
    CHECK(sum == doctest::Approx(totals[round]).epsilon(1e-9));
  }
  CHECK(through_first > 0.0);
}

/// True if lauka says which call paths differ, or that none does.
bool compares_paths(const Said& said) {
  return said.out_has("sampled_time by call path, significant changes") ||
         said.out_has("no call path differs significantly in 8 sampled runs");
}

std::string shorter() {
  return fixture("call_paths") + " 60";
}

std::string longer() {
  return fixture("call_paths") + " 60 200";
}

}  // namespace

TEST_CASE("each benchmark of a suite has its call paths, which a saved suite has again") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string session = folder.file("session.json");
  std::ofstream(folder.file("s.toml"))
      << "[[benchmark]]\nname = 'a'\ncommands = ['" << shorter() << "', '" << longer() << "']\n"
      << "[[benchmark]]\nname = 'b'\ncommands = ['" << longer() << "', '" << shorter() << "']\n";
  const Said said =
      completed({"-w0", "-r8", "--no-git", "--profile", "--paths", "--suite", folder.file("s.toml"),
                 "--export-json", session, "--export-folded", folder.file("{name}.txt")});
  CHECK(compares_paths(said));
  const auto results = nlohmann::json::parse(text_of(session))["results"];
  REQUIRE(results.size() == 4);
  for (const auto& result : results) check_paths(result);

  const Said again =
      completed({"--from", session, "--paths", "--export-folded", folder.file("again-{name}.txt")});
  CHECK(compares_paths(again));
  for (const std::string name : {"a.txt", "b.txt"}) {
    CAPTURE(name);
    CHECK(text_of(folder.file(name)).find("main;first;work ") != std::string::npos);
    CHECK(text_of(folder.file("again-" + name)) == text_of(folder.file(name)));
  }
}

TEST_CASE("call paths are compared over layouts") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string session = folder.file("session.json");
  const Said said =
      completed("-w0 -r8 --no-git --profile --layouts=4 --paths --export-json " + session,
                {shorter() + " 0 {layout}", longer() + " {layout}"});
  CHECK(compares_paths(said));
  for (const auto& result : nlohmann::json::parse(text_of(session))["results"]) check_paths(result);
  CHECK(compares_paths(completed({"--from", session, "--paths"})));
}

TEST_CASE("call paths are compared with those of a baseline") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string before = folder.file("before.json");
  const std::string stacks = folder.file("stacks.txt");
  completed("-q -w0 -r8 --profile --export-json " + before, {shorter()});
  const Said said = completed(
      "-w0 -r8 --no-git --profile --paths --baseline " + before + " --export-folded " + stacks,
      {longer()});
  CHECK(compares_paths(said));

  // A stack has the times of the baseline and of the new session.
  std::istringstream lines(text_of(stacks));
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("call_paths;main;first;work ")) {
  }
  std::istringstream times(line.substr(line.find(' ') + 1));
  double reference = 0.0;
  double candidate = 0.0;
  times >> reference >> candidate;
  CHECK(reference > 0.0);
  CHECK(candidate > 0.0);
}

TEST_CASE("a suite that goes on after an interruption has the call paths of all its runs") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string session = folder.file("session.json");
  const std::string kept = session + ".rounds";
  std::ofstream(folder.file("s.toml"))
      << "[[benchmark]]\nname = 'a'\ncommands = ['" << shorter() << "', '" << longer() << "']\n";
  std::vector<std::string> arguments = {
      "-w0", "-r40", "--profile", "--suite", folder.file("s.toml"), "--export-json", session};
  const auto has_paths = [&] {
    return std::filesystem::exists(kept) &&
           text_of(kept).find("[0,\"main\",0]") != std::string::npos;
  };
  const Said cut =
      lauka({.arguments = arguments, .interrupt_when = has_paths, .interrupt_signal = 9});
  CHECK(cut.status == 128 + 9);
  REQUIRE(has_paths());

  arguments.emplace_back("--resume");
  const Said said = completed(arguments);
  CHECK(said.err_has("--resume"));
  for (const auto& result : nlohmann::json::parse(text_of(session))["results"]) {
    CHECK(sampled(result).size() == 40);
    check_paths(result);
  }
}

TEST_CASE("a gate on the total time of a function sees what it called") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string file = folder.file("session.json");
  const std::vector<std::string> commands = {fixture("call_paths") + " 150",
                                             fixture("call_paths") + " 150 200"};
  const Said said = lauka(
      "-q -w0 -r8 --profile --fail-if-inconclusive=125 --fail-if "
      "'total_time@first > 20' --export-json " +
          file,
      commands);
  CHECK((said.status == 3 || said.status == 125));  // inconclusive on a very busy machine
  const auto session = nlohmann::json::parse(text_of(file));
  const auto& metrics = session["results"][1]["lauka"]["metrics"];
  const auto& samples = metrics["total_time@first"]["samples"];
  std::size_t round = 0;
  for (const auto& sample : samples) {
    if (sample.is_null()) continue;
    double through_first = 0.0;
    for (const auto& [stack, time] :
         stacks_in_round(session["results"][1]["lauka"]["functions"], round))
      if (stack.find(";first") != std::string::npos) through_first += time;
    CHECK(sample.get<double>() == doctest::Approx(through_first).epsilon(1e-6));
    ++round;
  }
  CHECK(round == 8);

  const Said again = lauka({"-q", "--from", file, "--fail-if", "total_time@second > 900"});
  CHECK(again.status == 0);
}

TEST_CASE("sampled functions add up to the sampled time, and the changed one has changed most") {
  if (!can_sample()) return;
  const auto session =
      session_of("-r6", {fixture("hundred") + " 100", fixture("hundred") + " 100 4 1000"});
  for (const auto& result : session["results"]) {
    const std::vector<double> totals = sampled(result);
    REQUIRE(totals.size() == 6);
    for (std::size_t round = 0; round < totals.size(); ++round) {
      double sum = 0.0;
      for (const auto& row : result["lauka"]["functions"]["rows"])
        sum += sampled_in_round(row, round);
      CHECK(sum == doctest::Approx(totals[round]).epsilon(1e-9));
    }
  }
  const auto& old = session["results"][0];
  const auto& changed = session["results"][1];
  const double difference = total_of(changed, "part_13") - total_of(old, "part_13");
  for (const auto& row : old["lauka"]["functions"]["rows"]) {
    const auto name = row["name"].get<std::string>();
    if (name != "part_13") CHECK(total_of(changed, name) - total_of(old, name) < difference);
  }
}

TEST_CASE("every sample of many short processes belongs to a process that is known") {
  if (!can_sample()) return;
  const auto session = session_of("-r2 --profile=50us", {fixture("forks") + " 200"});
  for (const auto& row : session["results"][0]["lauka"]["functions"]["rows"])
    CHECK(row["name"] != "(unknown process)");
}

TEST_CASE("a run without a sample is a round of zeros, and the table is shown") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string file = folder.file("session.json");
  const std::vector<std::string> commands = {fixture("sp") + " 0 0 0", fixture("sp") + " 1 1 0"};
  const Said said = completed("-w0 -r10 --profile --functions=4 --no-git --metrics " +
                                  std::string("cpu_time,sampled_time --export-json ") + file,
                              commands);
  CHECK(said.out_has("sampled_time by function"));
  const auto session = nlohmann::json::parse(text_of(file));
  for (const auto& result : session["results"]) {
    const auto& functions = result["lauka"]["functions"];
    const std::vector<double> totals = sampled(result);
    CHECK(totals.size() == 10);
    CHECK(functions["metrics"]["sampled_time"] == totals.size());
    for (std::size_t round = 0; round < totals.size(); ++round) {
      double sum = 0.0;
      for (const auto& row : functions["rows"]) sum += sampled_in_round(row, round);
      CHECK(sum == doctest::Approx(totals[round]).epsilon(1e-9));
    }
  }
}

TEST_CASE("every copy of --jobs is in the samples of each run") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string first = folder.file("first");
  const std::string second = folder.file("second");
  std::filesystem::copy_file(fixture("sp"), first);
  std::filesystem::copy_file(fixture("hundred"), second);
  const auto session =
      session_of("-r10 --jobs 2", {"sh -c 'if [ $LAUKA_JOB = 0 ]; then exec " + first +
                                   " 100 0 0; else exec " + second + " 400; fi'"});
  const auto& result = session["results"][0];
  const std::size_t rounds = sampled(result).size();
  CHECK(rounds > 0);
  // One copy is always in fifty(), the other one in a hundred functions.
  for (const std::string prefix : {"fifty", "part_"}) {
    CAPTURE(prefix);
    for (std::size_t round = 0; round < rounds; ++round) {
      double of_copy = 0.0;
      for (const auto& row : result["lauka"]["functions"]["rows"])
        if (row["name"].get<std::string>().starts_with(prefix))
          of_copy += sampled_in_round(row, round);
      CHECK(of_copy > 0.0);
    }
  }
}

TEST_CASE("a program that may not be sampled is named before the first run, and has no value") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string program = folder.file("program");
  std::filesystem::copy_file(fixture("sp"), program);
  // Root may read every file, but a program of another owner gives it another's rights.
  const bool is_root = geteuid() == 0;
  if (is_root) REQUIRE(chown(program.c_str(), 65534, 65534) == 0);
  REQUIRE(chmod(program.c_str(), is_root ? 04755 : 0711) == 0);
  const std::string file = folder.file("session.json");
  const Said said = completed("-w0 -r2 --profile --no-git --export-json " + file,
                              {program + " 1 1 1", fixture("sp") + " 1 1 1"});
  const auto session = nlohmann::json::parse(text_of(file));
  if (!sampled(session["results"][0]).empty()) {
    skip("programs keep their events here: nosuid, or suid_dumpable is 1");
    return;
  }
  CHECK(said.err_has("Linux stops the counters when a run executes " + program));
  CHECK_FALSE(said.out_has("a shorter period than"));
  CHECK(sampled(session["results"][1]).size() == 2);
}

TEST_CASE("a gate on sampled time may have blanks around the separator") {
  const Said said = lauka({"--fail-if", "sampled_time @fifty > 5", "true", "false"});
  CHECK(said.status == 2);
  CHECK(said.err_has("add --profile"));
  CHECK_FALSE(said.err_has("cachegrind"));
}

TEST_CASE("sampled functions are shown again from a saved session, in the same rows") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string file = folder.file("session.json");
  const Said first = completed("-w0 -r2 --profile --functions=3 --no-git --export-json " + file,
                               {fixture("hundred") + " 50", fixture("hundred") + " 50 1 300"});
  const Said again = completed({"--from", file, "--functions=3"});
  const auto table = [](const Said& said) {
    const std::size_t begin = said.out.find("sampled_time by function");
    REQUIRE(begin != std::string::npos);
    return said.out.substr(begin, said.out.find("timed runs)", begin) - begin);
  };
  CHECK(table(first) == table(again));
}

TEST_CASE("a gate on a function's sampled time fails where it grew, and only there") {
  if (!can_sample()) return;
  const auto status_with = [](const std::string& function) {
    return lauka({"-q", "-w0", "-r8", "--profile", "--fail-if-inconclusive=125", "--fail-if",
                  "sampled_time@" + function + " > 50", "--", fixture("hundred") + " 100",
                  fixture("hundred") + " 100 4 1000"})
        .status;
  };
  const int grown = status_with("part_13");
  CHECK((grown == 3 || grown == 125));  // inconclusive on a very busy machine
  CHECK(status_with("part_10") != 3);
  const Said said = lauka({"-w0", "-r2", "--profile", "--fail-if", "sampled_time@part_420 > 5",
                           "--", fixture("hundred") + " 20", fixture("hundred") + " 20"});
  CHECK(said.err_has("part_42"));
  CHECK(said.status == 1);
}

TEST_CASE("a gate on a function that the program has, but no sample, is inconclusive") {
  if (!can_sample()) return;
  const Said said = lauka({"-w0", "-r8", "--profile", "--fail-if", "sampled_time@part_109 > 900",
                           "--", fixture("hundred") + " 1", fixture("hundred") + " 1"});
  CHECK(said.out_has("sampled_time@part_109 > 900%: inconclusive"));
}

TEST_CASE("a gate on sampled time without --profile is refused, with the option that is missing") {
  const Said said = lauka({"--fail-if", "sampled_time@main > 1", "true", "false"});
  CHECK(said.status == 2);
  CHECK(said.err_has("--profile"));
  const Said of_wall_time = lauka({"--fail-if", "wall_time@main > 1", "true", "false"});
  CHECK(of_wall_time.status == 2);
  CHECK(of_wall_time.err_has("; write sampled_time@main with --profile"));
  const Said of_percentile = lauka({"--fail-if", "wall_time@p95 > 1", "true", "false"});
  CHECK(of_percentile.status == 2);
  CHECK(of_percentile.err_has("; write wall_time.p95 if you mean the percentile"));
}

TEST_CASE("samples of a baseline with another period are not compared, and both are named") {
  if (!can_sample()) return;
  const Folder folder;
  const std::string file = folder.file("b.json");
  const std::string command = fixture("hundred") + " 100";
  completed("-q -w0 -r3 --profile=5ms --export-json " + file, {command});
  const Said said = lauka("-w0 -r3 --profile=1ms --metrics cpu_time,sampled_time --baseline " +
                              file + " --fail-if 'sampled_time > 5'",
                          {command});
  CHECK(said.status == 0);
  CHECK(said.out_has("sampled_time > 5%: inconclusive: "));
  CHECK(said.out_has("sampling period: 5ms for "));
  CHECK(said.err_has("sampled_time: sampling period 5ms in '" + file + "', and 1ms here"));
}

}  // namespace lauka::contract

#include "contract/program.h"
#include "places.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

// The part "Runs" and "Commands" of the contract.

namespace lauka::contract {
namespace {

std::string order_of(const std::string& options) {
  const Folder folder;
  const std::string tiny = fixture("tiny");
  completed("-q -n a -n b -n c -r 6 --export-runs " + folder.file("runs.csv") + " " + options,
            {tiny, tiny, tiny});
  std::string order;
  for (const std::string& name : column_of(text_of(folder.file("runs.csv")), "command"))
    order += name;
  return order;
}

/// Each run writes a line; how many there were.
std::size_t times_run(const std::string& options) {
  const Folder folder;
  completed(options, {"sh -c 'echo x >> " + folder.file("log") + "'"});
  return lines_of(text_of(folder.file("log"))).size();
}

}  // namespace

TEST_CASE("exactly so many counted runs, after one warm-up run or as many as asked for") {
  CHECK(times_run("-r 3") == 4);
  CHECK(times_run("-r 3 -w 0") == 3);
  CHECK(times_run("--runs=3 --warmup=5") == 8);
}

TEST_CASE("without a number of runs the least number and the time are both satisfied") {
  CHECK(times_run("-d 1ms -w 0") == 10);
  CHECK(times_run("-d 1ms -m 4 -w 0") >= 4);
  CHECK(times_run("-d 1h -M 13 -w 0") == 13);
  // As long as a run takes, however many fit.
  const auto began = std::chrono::steady_clock::now();
  CHECK(times_run("-d 300ms -m 1 -w 0") >= 1);
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(300));
}

TEST_CASE("every order runs each command once per round, sequential one command after the other") {
  CHECK(order_of("--order interleaved") == "abcabcabcabcabcabc");
  CHECK(order_of("--order sequential") == "aaaaaabbbbbbcccccc");
  const std::string random = order_of("--seed 7");
  std::set<std::string> rounds;
  for (std::size_t i = 0; i < random.size(); i += 3) {
    std::string round = random.substr(i, 3);
    rounds.insert(round);
    std::sort(round.begin(), round.end());
    CHECK(round == "abc");
  }
  CHECK(rounds.size() > 1);
}

TEST_CASE("the same seed gives the same order, another seed another") {
  CHECK(order_of("--seed 7") == order_of("--seed 7 --order random"));
  CHECK(order_of("--seed 7") != order_of("--seed 8"));
}

TEST_CASE("words are split by POSIX quoting and nothing is expanded") {
  const Folder folder;
  const std::string out = folder.file("out");
  completed(
      {"-r1", "-w0", "--output", out, "--", R"(printf '%s|' "a b" c\ d '' "e\"f" '$HOME' *)"});
  CHECK(text_of(out) == R"(a b|c d||e"f|$HOME|*|)");
}

TEST_CASE("a shell runs the command where one is asked for") {
  const Folder folder;
  const std::string out = folder.file("out");
  completed("-r1 -w0 -S --output " + out, {"echo $((6 * 7)) | cat"});
  CHECK(text_of(out) == "42\n");
  completed("-r1 -w0 --shell bash --output " + out, {"echo ${BASH_VERSION:+bash}"});
  CHECK(text_of(out) == "bash\n");
  completed("-r1 -w0 -S -N", {"true | false"});
}

TEST_CASE("standard input is empty, or the file, from its start in every run") {
  const Folder folder;
  const std::string out = folder.file("out");
  completed("-r2 --output " + out, {"cat"});
  CHECK(text_of(out).empty());
  const std::string program = places::kProgram;
  completed("-r3 --input " + program + " --output " + out, {"wc -c"});
  CHECK(std::stoul(text_of(out)) == text_of(program).size());
}

TEST_CASE("a command that leaves its input unread is reported once, if its output goes nowhere") {
  const std::string program = places::kProgram;
  const auto notes = [&](const std::string& output, const std::string& command) {
    const Said said = completed({"-r3", "--input", program, "--output", output, "--", command});
    const auto lines = lines_of(said.err);
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return has(line, "its input file"); });
  };
  CHECK(notes("null", "true") == 1);
  CHECK(notes("null", "head -c 10") == 1);
  CHECK(notes("null", "cat") == 0);
  CHECK(notes("pipe", "head -c 10") == 0);
}

TEST_CASE("output is shown where it is asked for") {
  CHECK_FALSE(
      lauka("-r1 -w0", {"printf 'greeting-%s\\n' from-a-run"}).out_has("greeting-from-a-run\n"));
  CHECK(lauka("-r1 -w0 --show-output", {"printf 'greeting-%s\\n' from-a-run"})
            .out_has("greeting-from-a-run\n"));
  CHECK(lauka("-r1 -w0 --output=inherit", {"printf 'greeting-%s\\n' from-a-run"})
            .out_has("greeting-from-a-run\n"));
  completed("-r2 --output pipe", {fixture("chatty") + " 1000000 1000000"});
}

TEST_CASE("options may follow commands, and what follows -- is a command") {
  CHECK(lauka({"true", "-r", "2"}).out_has("(2 runs): true"));
  CHECK(has(failure("-r2", {"--nosuch"}), "--nosuch"));
}

// --jobs.

TEST_CASE("several copies at once are one run, each with its number and its own input") {
  const Folder folder;
  const std::string log = folder.file("log");
  const std::string csv = folder.file("r.csv");
  const std::string input = folder.file("in");
  completed({"-r1", "-w0", "--output", input, "echo read"});
  const Said said = completed({"-r2", "-w0", "--jobs", "3", "--input", input, "-p",
                               "echo hook >> " + log, "--export-csv", csv, "--",
                               "sh -c 'read word; echo $word $LAUKA_JOB >> " + log + "'"});
  const std::string text = text_of(log);
  const auto count = [&](const std::string& line) {
    int found = 0;
    for (const std::string& one : lines_of(text)) found += one == line ? 1 : 0;
    return found;
  };
  CHECK(count("hook") == 2);
  for (const char* job : {"read 0", "read 1", "read 2"}) CHECK_MESSAGE(count(job) == 2, job);
  CHECK(said.out_has("throughput"));
  const std::string command = "sh -c 'read word; echo $word $LAUKA_JOB >> " + log + "'";
  CHECK(has(text_of(csv), "throughput"));
}

TEST_CASE("wall time is until all have ended, CPU time is of all, throughput of both") {
  const Folder folder;
  const std::string csv = folder.file("r.csv");
  completed("-r2 -w0 --jobs 4 -n x --export-csv " + csv,
            {"sh -c 'if [ $LAUKA_JOB = 3 ]; then sleep 0.1; fi'"});
  const std::string text = text_of(csv);
  const double wall = std::stod(csv_value(text, "x", "wall_time", "min"));
  CHECK(wall >= 0.1);
  const double least = std::stod(csv_value(text, "x", "throughput", "min"));
  const double most = std::stod(csv_value(text, "x", "wall_time", "max"));
  CHECK(least == doctest::Approx(4 / most));
  // All copies over all the time, not the mean of the runs' rates.
  const double mean_time = std::stod(csv_value(text, "x", "wall_time", "mean"));
  CHECK(std::stod(csv_value(text, "x", "throughput", "mean")) == doctest::Approx(4 / mean_time));
}

TEST_CASE("a copy that fails fails the run, and ends the others; with -i they go on") {
  const std::string command = "sh -c 'if [ $LAUKA_JOB = 1 ]; then exit 3; fi; exec sleep ";
  CHECK(has(failure("-r2 -w0 --jobs 3", {command + "600'"}), "status 3"));
  const Folder folder;
  const std::string csv = folder.file("r.csv");
  completed("-r1 -w0 -i --jobs 3 -n x --export-csv " + csv, {command + "0.1'"});
  CHECK(std::stod(csv_value(text_of(csv), "x", "wall_time", "min")) >= 0.1);
  CHECK(lauka("-r1 -w0 --jobs 2", {"/nosuch"}).err_has("/nosuch"));
  CHECK(lauka("-r1 -w0 --jobs 2", {"sh -c 'kill -9 $$'"}).err_has("SIGKILL"));
}

TEST_CASE("a run of several copies that takes too long is killed whole, as by an interrupt") {
  const Folder folder;
  const std::string pids = folder.file("pids");
  const std::string command = "sh -c 'echo $$ >> " + pids + "; exec sleep 600'";
  const auto check_ended = [&] {
    for (const std::string& pid : lines_of(text_of(pids))) CHECK_MESSAGE(has_ended(pid), pid);
    std::filesystem::remove(pids);
  };
  CHECK(has(failure("-r1 -w0 --jobs 3 --timeout 200ms", {command}), "200ms"));
  if (exists(pids)) check_ended();  // on a slow machine none has begun by then
  const auto endless = words("-r1 -w0 --jobs 3", {command});
  CHECK(
      lauka({.arguments = endless, .interrupt_when = [&] { return has_lines(pids, 3); }}).status ==
      130);
  check_ended();
}

TEST_CASE("what --jobs cannot be is refused") {
  CHECK(lauka("--jobs 0", {"true"}).status == 2);
  CHECK(lauka("--jobs 1001", {"true"}).status == 2);
  const std::string said = refusal("--jobs 2 --until x", {"true"});
  CHECK(has(said, "--jobs"));
  CHECK(has(said, "--until"));
  completed("-r1 --jobs 1", {"sh -c 'test -z \"$LAUKA_JOB\"'"});
}

}  // namespace lauka::contract

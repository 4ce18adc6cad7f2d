#include "contract/program.h"

#include <string>

#include <doctest/doctest.h>

// --jobs.

namespace lauka::contract {

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
  for (const char* job : {"read 0", "read 1", "read 2"}) CHECK(count(job) == 2);
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
  CHECK(has(failure("-r2 -w0 --jobs 3", {command + "30'"}),
            "exited with status 3; use -i to ignore failures"));
  const Folder folder;
  const std::string csv = folder.file("r.csv");
  completed("-r1 -w0 -i --jobs 3 -n x --export-csv " + csv, {command + "0.1'"});
  CHECK(std::stod(csv_value(text_of(csv), "x", "wall_time", "min")) >= 0.1);
  CHECK(lauka("-r1 -w0 --jobs 2", {"/nosuch"}).err_has("/nosuch"));
  CHECK(lauka("-r1 -w0 --jobs 2", {"sh -c 'kill -9 $$'"}).err_has("was killed by SIGKILL"));
}

TEST_CASE("a run of several copies that takes too long is killed whole, as by an interrupt") {
  const Folder folder;
  const std::string pids = folder.file("pids");
  const std::string command = "sh -c 'echo $$ >> " + pids + "; exec sleep 30'";
  CHECK(has(failure("-r1 -w0 --jobs 3 --timeout 200ms", {command}),
            "took longer than 200ms and was killed"));
  const auto endless = words("-r1 -w0 --jobs 3", {command});
  CHECK(lauka({.arguments = endless, .interrupt_after_ms = 300}).status == 130);
  for (const std::string& pid : lines_of(text_of(pids)))
    CHECK_FALSE(exists("/proc/" + pid + "/exe"));
}

TEST_CASE("what --jobs cannot be is refused") {
  CHECK(lauka("--jobs 0", {"true"}).status == 2);
  CHECK(lauka("--jobs 1001", {"true"}).status == 2);
  CHECK(lauka("--jobs 2 --until x", {"true"}).err_has("use only one of them"));
  completed("-r1 --jobs 1", {"sh -c 'test -z \"$LAUKA_JOB\"'"});
}

}  // namespace lauka::contract

#include "contract/program.h"
#include "skip.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

// The numbers: against programs of known cost and against each other.

namespace lauka::contract {
namespace {

/// The CSV of a benchmark of one command named "it".
std::string csv_measured(std::vector<std::string> options, const std::string& command) {
  const Folder folder;
  options.insert(options.end(),
                 {"-q", "-n", "it", "--export-csv", folder.file("out.csv"), "--", command});
  completed(options);
  return text_of(folder.file("out.csv"));
}

double value(const std::string& csv, const std::string& metric,
             const std::string& column = "mean") {
  return std::stod(csv_value(csv, "it", metric, column));
}

bool can_count_software_events() {
  return lauka("-q -r1 -w0 -e task-clock", {fixture("tiny")}).status == 0;
}

}  // namespace

TEST_CASE("CPU time is the sum over all threads and descendants") {
  const std::string threads = csv_measured({"-r5"}, fixture("burn") + " 40ms 2");
  CHECK(value(threads, "cpu_time") == doctest::Approx(0.040).epsilon(0.15));
  const std::string tree = csv_measured({"-r5"}, fixture("family") + " 3 5ms");
  CHECK(value(tree, "cpu_time") >= 0.030);
  CHECK(value(tree, "cpu_time") < 0.060);
  CHECK(value(tree, "cpu_time") ==
        doctest::Approx(value(tree, "user_time") + value(tree, "system_time")).epsilon(1e-9));
}

TEST_CASE("wall time is at least one thread's CPU time, and all runs fit the time lauka took") {
  const auto began = std::chrono::steady_clock::now();
  const std::string csv = csv_measured({"-r10", "-w0"}, fixture("burn") + " 30ms");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  CHECK(value(csv, "wall_time", "min") >= 0.030);
  CHECK(10 * value(csv, "wall_time") <= elapsed.count());
  CHECK(10 * value(csv, "wall_time") >= 0.5 * elapsed.count());
}

TEST_CASE("peak memory is the command's") {
  const std::string csv = csv_measured({"-r3"}, fixture("touch_memory") + " 50M");
  CHECK(value(csv, "peak_rss") >= 50e6);
  CHECK(value(csv, "peak_rss") < 56e6);
  CHECK(csv_value(csv, "it", "peak_rss", "unit") == "B");
}

TEST_CASE("peak memory that may be the launcher's is a bound, never a number") {
  const std::string csv = csv_measured({"-r3"}, fixture("tiny"));
  CHECK(csv_value(csv, "it", "peak_rss", "mean").empty());
  CHECK(std::stod(csv_value(csv, "it", "peak_rss", "max")) < 45e6);  // built with sanitizers
  CHECK(lauka("-r3", {fixture("tiny")}).out_has("≤ "));
}

TEST_CASE("page faults are the kernel's count") {
  const std::string csv = csv_measured({"-r3"}, fixture("touch_memory") + " 8M");
  CHECK(value(csv, "minor_faults") >= 2048);  // 4 KB pages, unless the kernel takes larger ones
  CHECK(value(csv, "minor_faults") < 2700);
}

TEST_CASE("software events count every thread and descendant, in every run") {
  if (!can_count_software_events()) {
    skip("perf_event_open is not to be had here");
    return;
  }
  const std::string csv =
      csv_measured({"-r200", "-e", "task-clock"}, fixture("short_threads") + " 5");
  // A start that the machine holds up, the sanitizers' slow one above all, is taken for a loss and
  // left out.
  CHECK(std::stoi(csv_value(csv, "it", "task-clock", "runs")) >= 190);
  CHECK(value(csv, "task-clock", "min") > 0);
  const std::string tree =
      csv_measured({"-r10", "-e", "task-clock,page-faults"}, fixture("family") + " 3 5ms");
  CHECK(csv_value(tree, "it", "task-clock", "unit") == "s");
  CHECK(value(tree, "task-clock") == doctest::Approx(value(tree, "cpu_time")).epsilon(0.1));
  CHECK(value(tree, "page-faults") ==
        doctest::Approx(value(tree, "minor_faults") + value(tree, "major_faults")).epsilon(0.05));
}

TEST_CASE("counts that the kernel drops for a set-user-ID program are left out and reported") {
  if (geteuid() != 0 || !can_count_software_events()) {
    skip("needs root, to make a set-user-ID program, and perf_event_open");
    return;
  }
  const Folder folder;
  const std::string program = folder.file("burn");
  std::filesystem::copy_file(fixture("burn"), program);
  REQUIRE(chmod(program.c_str(), 04755) == 0);
  Start start;
  start.arguments = {"-r3", "-e", "task-clock", "--", program + " 20ms"};
  run_as(65534, folder, start);
  const Said said = lauka(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  if (said.status == 2) {
    skip("an ordinary user may not count here");
    return;
  }
  CHECK(said.status == 0);
  CHECK(said.out_has("task-clock (0 runs)"));
  CHECK(said.err_has("setuid"));
}

TEST_CASE("two forms of one computation are distinguished") {
  const Folder folder;
  const Said said = completed("-r8 -n old -n new --export-csv " + folder.file("out.csv"),
                              {fixture("old"), fixture("new") + " -O2"});
  const std::string csv = text_of(folder.file("out.csv"));
  const double change = std::stod(csv_value(csv, "new", "wall_time", "delta_percent"));
  // The typical round's change is between the changes of the fastest and the slowest pairing.
  const auto value = [&](const char* name, const char* column) {
    return std::stod(csv_value(csv, name, "wall_time", column));
  };
  CHECK(change >= 100 * (value("new", "min") / value("old", "max") - 1));
  CHECK(change <= 100 * (value("new", "max") / value("old", "min") - 1));
  CHECK(change < -30);
  CHECK(std::stod(csv_value(csv, "new", "wall_time", "delta_high_percent")) < 0);
  CHECK(csv_value(csv, "old", "wall_time", "delta_percent").empty());
  CHECK(said.out_has("⚡ −"));
  CHECK(said.out_has("new ran "));
  CHECK(said.out_has("times faster than old"));
}

}  // namespace lauka::contract

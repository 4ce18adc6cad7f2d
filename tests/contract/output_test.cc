#include "contract/program.h"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// The table, the terminal, colours, the gate and the exit statuses.

namespace lauka::contract {
namespace {

std::string burn(const std::string& time) {
  return fixture("burn") + " " + time;
}

}  // namespace

TEST_CASE("the table has the contract's columns and rows") {
  const Said said = lauka("-r3", {burn("3ms"), burn("3ms")});
  const auto lines = lines_of(said.out);
  REQUIRE(lines.size() > 8);
  CHECK(lines[0] == "Benchmark 1 (3 runs): " + burn("3ms"));
  for (const char* column : {"measurement", "mean ± σ", "min … max", "outliers"})
    CHECK_MESSAGE(has(lines[1], column), column);
  CHECK(lines[2].rfind("wall_time", 0) == 0);
  CHECK(lines[3].rfind("cpu_time", 0) == 0);
  CHECK(lines[4].rfind("peak_rss", 0) == 0);
  CHECK_FALSE(said.out_has("minor_faults"));
  CHECK(said.out_has("delta"));
}

TEST_CASE("--metrics chooses the rows") {
  const Said all = lauka("-r2 -v --metrics all", {"true"});
  for (const char* row :
       {"user_time", "system_time", "minor_faults", "voluntary_switches", "block_reads"})
    CHECK_MESSAGE(all.out_has(std::string("\n") + row), row);
  CHECK(lauka("-r2 -v", {"true"}).out_has("\nminor_faults"));
  const Said time = lauka("-r2 --metrics time", {"true"});
  CHECK(time.out_has("\nuser_time"));
  CHECK_FALSE(time.out_has("\npeak_rss"));
}

TEST_CASE("in a pipe there is neither colour nor progress") {
  const Said said = completed("-d 500ms", {burn("20ms")});
  CHECK_FALSE(said.out_has("\x1b"));
  CHECK_FALSE(said.err_has("\x1b"));
  CHECK_FALSE(said.err_has("\r"));
}

TEST_CASE("colours can be forced and forbidden") {
  CHECK(lauka("-r2 --color always", {"true"}).out_has("\x1b["));
  Start start{.arguments = {"-r2", "true"}, .environment = {{"CLICOLOR_FORCE", "1"}}};
  CHECK(lauka(start).out_has("\x1b["));
  start.environment.emplace_back("NO_COLOR", "1");
  CHECK_FALSE(completed(start).out_has("\x1b["));
  CHECK(lauka_in_terminal({"-r2", "--", "true"}, 100).out_has("\x1b["));
  const Said unset = lauka_in_terminal({"-r2", "--", "true"}, 100, {{"TERM", ""}});
  CHECK(unset.status == 0);
  CHECK_FALSE(unset.out_has("\x1b["));
  CHECK_FALSE(completed_in_terminal({"-r2", "--no-progress", "--color=never", "--", "true"}, 100)
                  .out_has("\x1b["));
}

TEST_CASE("in a terminal there is a progress bar, and it is gone without a trace when done") {
  const Said said = lauka_in_terminal({"-d", "700ms", "--", "sleep 0.02"}, 100);
  CHECK(said.status == 0);
  const std::size_t last_bar = said.out.rfind('\r');
  REQUIRE(said.out_has("\r"));
  CHECK(said.out_has("%"));
  // After the last time the line was erased, only the table follows.
  const std::size_t erased = said.out.rfind("\r\x1b[K");
  REQUIRE(erased != std::string::npos);
  CHECK(said.out.find("wall_time", erased) != std::string::npos);
  CHECK(last_bar >= erased);
}

TEST_CASE("no progress bar among the commands' own output") {
  const Said said = lauka_in_terminal(
      {"-r2", "--show-output", "--", "sh -c 'echo one; sleep 0.3; echo two'"}, 100);
  CHECK(said.out_has("one\r\ntwo\r\n"));
  CHECK_FALSE(said.out_has("warm-up"));
}

TEST_CASE("no progress bar where it is not wanted") {
  CHECK_FALSE(completed_in_terminal({"-d", "300ms", "--no-progress", "--", burn("20ms")}, 100)
                  .out_has("\x1b[K"));
  CHECK_FALSE(completed_in_terminal({"-d", "300ms", "--", burn("20ms")}, 100, {{"NO_COLOR", "1"}})
                  .out_has("\x1b["));
}

TEST_CASE("no line is wider than the terminal, and numbers are never cut") {
  const Said said = lauka_in_terminal(
      {"-r3", "--no-progress", "--color", "never", "--metrics", "all", "-n",
       "a very long name of a command that does not fit into eighty columns at all, really", "-n",
       "b", "--", burn("2ms"), burn("2ms")},
      80);
  for (const std::string& line : lines_of(said.out)) {
    if (line.rfind("lauka: ", 0) == 0) continue;  // prose, which the terminal wraps
    std::size_t cells = 0;
    for (const char c : line)
      cells += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U && c != '\r' ? 1U : 0U;
    CHECK_MESSAGE(cells <= 80, line);
  }
}

TEST_CASE("runs under 1 ms come with what the start of a process takes") {
  const Folder folder;
  const std::string file = folder.file("out.json");
  const auto mentions_true = [](const Said& said) { return said.out_has("'true'"); };
  const Said many = lauka({"-r1000", "-n", "it", "--export-json", file, fixture("tiny")});
  const double mean = nlohmann::json::parse(text_of(file)).at("results").at(0).at("mean");
  CHECK(mentions_true(many) == (mean < 0.001));
  CHECK_FALSE(mentions_true(lauka({"-r3", "-w0", "-n", "it", "sleep 0.002"})));
}

TEST_CASE("-q leaves errors and gates alone") {
  const Said said = lauka("-q -r8 --fail-if-slower=50", {burn("5ms"), burn("5ms")});
  CHECK(lines_of(said.out).size() == 1);
  CHECK(said.out_has("wall_time > 50%: "));
  CHECK(said.err.empty());
}

TEST_CASE("a run that fails has status 1 whatever the gate says") {
  const Said said =
      lauka("-r3 -w0 --fail-if-slower=1", {burn("5ms"), fixture("fail") + " status 9"});
  CHECK(said.status == 1);
}

TEST_CASE("an export to standard output has it to itself") {
  const Said said = completed("-r2 --export-csv -", {"true"});
  CHECK(lines_of(said.out).at(0) ==
        "command,metric,unit,runs,mean,stddev,median,min,max,outliers,delta_percent,delta_low_"
        "percent,delta_high_percent,failed_runs");
  CHECK_FALSE(said.out_has("Benchmark"));
  CHECK(said.err_has("Benchmark 1"));
}

TEST_CASE("the CSV has every metric, the hidden ones included") {
  const Folder folder;
  completed("-q -r3 --export-csv " + folder.file("o.csv"), {"true"});
  const std::string csv = text_of(folder.file("o.csv"));
  for (const char* metric : {"wall_time", "cpu_time", "user_time", "system_time", "peak_rss",
                             "minor_faults", "major_faults", "voluntary_switches",
                             "involuntary_switches", "block_reads", "block_writes"})
    CHECK_MESSAGE(csv_value(csv, "true", metric, "runs") == "3", metric);
}

TEST_CASE("events that can be counted here are listed") {
  const Said said = completed({"--list-events"});
  const Said some = completed({"-l", "page-faults"});
  CHECK(some.out.size() <= said.out.size());
}

TEST_CASE("with a kpep database events are listed and explained on any system") {
  const std::string file = data("kpep/m2.plist");
  const Said list = completed({"--kpep", file, "--list-events", "INST_LDST"});
  CHECK(list.err.empty());
  CHECK(lines_of(list.out).size() == 2);
  CHECK(list.out_has("PMC7"));
  const Said passes = completed({"--kpep", file, "--explain-events", "-e", "INST_ALL,inst_ldst"});
  CHECK(passes.out_has("2 passes"));
  CHECK(passes.out_has("PMC7"));
  CHECK(has(refusal({"--kpep", file, "--explain-events", "-e", "INST_LSDT"}), "INST_LDST?"));
}

TEST_CASE("a damaged kpep database is refused by name") {
  const std::string file = data("kpep/m2.tsv");
  const std::string said = refusal({"--kpep", file, "-l"});
  CHECK(lines_of(said).size() == 1);
  CHECK(has(said, file));
}

TEST_CASE("what would be counted is explained, and nothing is run") {
  const Folder folder;
  const Said said = completed("--explain-events -e page-faults,context-switches",
                              {"touch " + folder.file("run")});
  CHECK(said.out_has("1 pass"));
  CHECK(said.out_has("page-faults"));
  CHECK_FALSE(exists(folder.file("run")));
}

TEST_CASE("an engine that is switched off counts nothing and is silent") {
  const Said said = completed("-r2 --engine none", {"true"});
  CHECK_FALSE(said.err_has("counter"));  // that the machine is busy may be said
}

TEST_CASE("without hardware counters, one short line says so with everything on") {
  CHECK_FALSE(completed("-r2", {"true"}).err_has("hardware counters"));
  const Said said = completed("-r2 -v", {"true"});
  // Where some are there, nothing is said.
  const std::string note = "no hardware counters here";
  for (const std::string& line : lines_of(said.err))
    if (has(line, "counter")) CHECK(has(line, note));

  // Without -v a terminal shows it once.
  const Folder home;
  const auto in_terminal = [&](const std::string& mode) {
    return lauka_in_terminal({mode, "-r2", "--", "true"}, 200, {{"XDG_STATE_HOME", home.path()}})
        .out_has(note);
  };
  CHECK_FALSE(in_terminal("-q"));
  CHECK(in_terminal("-w1") == said.err_has(note));
  CHECK_FALSE(in_terminal("-w1"));
}

TEST_CASE("what a run writes to standard error takes little memory while it goes on") {
  if (!is_linux()) return;
  // The last run looks at its own standard error, a file in memory. Those before are so short that
  // they are one request with it. An input that each opens anew must not end the watch.
  for (const char* input : {"", "--input /dev/zero "}) {
    CAPTURE(input);
    const Folder folder;
    completed(
        input + std::string("-q -w0 -r5"),
        {"sh -c 'echo >> " + folder.file("runs") + "; test $(wc -l < " + folder.file("runs") +
         ") -lt 5 || { head -c 30000000 /dev/zero >&2; i=0; "
         "until test $(stat -L -c %b /proc/self/fd/2) -lt 20000; do sleep 0.05; i=$((i + 1)); "
         "test $i -lt 2400 || exit 1; done; }'"});
  }
}

// Warnings go to standard error, and only for a reason.

namespace {

constexpr const char* kWarning = "lauka: warning: ";

/// A session that would have been compared with itself, so that there is a warning.
std::vector<std::string> with_a_warning(const std::string& mode) {
  return {mode, "-r3", "-w0", "--", "true", "true"};
}

}  // namespace

TEST_CASE("warnings are on standard error only, and not there with -q") {
  const Said said = lauka(with_a_warning("-v"));
  CHECK(said.err_has(kWarning));
  CHECK_FALSE(said.out_has(kWarning));
  CHECK(lauka(with_a_warning("-q")).err.empty());
}

TEST_CASE("in a terminal warnings are below the table") {
  const Said said = lauka_in_terminal(with_a_warning("--no-progress"), 0);
  const std::size_t warning = said.out.find(kWarning);
  REQUIRE(warning != std::string::npos);
  CHECK(said.out.find("wall_time") < warning);
}

}  // namespace lauka::contract

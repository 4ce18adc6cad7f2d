#include "contract/program.h"
#include "places.h"

#include <algorithm>
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
  CHECK(times_run("-d 300ms -m 1 -w 0") > 20);
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
  CHECK(has(failure("-r2", {"--nosuch"}), "--nosuch: command not found"));
}

}  // namespace lauka::contract

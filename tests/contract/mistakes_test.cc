#include "contract/program.h"
#include "places.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

// What somebody who knows hyperfine, poop or perf is likely to type, and what lauka answers: in one
// line, what to type instead.

namespace lauka::contract {
namespace {

struct Mistake {
  std::vector<std::string> typed;
  std::string answer;  ///< somewhere on standard error
  int status = 2;
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = {
      // Commands and their quotes.
      {{"-r2", "sleep", "0.01"},
       "0.01: command not found; if it is an argument, quote it together with its program: 'sleep "
       "0.01'",
       1},
      {{"gcc", "-O2"},
       "unknown option '-O' in '-O2'; if '-O2' belongs to 'gcc', quote the command: 'gcc -O2'"},
      {{"-r2", "true | cat"}, "'true | cat' has an unquoted |, which the program gets as it is", 0},
      {{"-r2", "true && true"}, "has an unquoted &&, which", 0},
      {{"-r2", "echo $HOME"}, "has an unquoted $HOME, which", 0},
      {{"-r2", "FOO=1 true"}, "write 'env FOO=1 true', or run it by a shell with -S"},
      {{"-r2", "grep root /etc/passwd"}, "use --output pipe to measure all of its work", 0},
      // The shell.
      {{"-S", "bash", "true"}, "'bash' would be taken for a command; write --shell bash"},
      {{"-r2", "cd /"}, "cd: command not found; name a program in PATH, or use -S", 1},
      // Options that are spelled otherwise here.
      {{"--style", "fancy", "true"}, "write auto, basic, full, nocolor, color or none"},
      {{"--min-benchmarking-time", "x", "true"}, "--duration 'x' is not a time"},
      {{"--debug-mode", "true"}, "leave it out: lauka measures every command"},
      {{"-f", "false"}, "use --ignore-failure"},
      {{"--run", "3", "true"}, "did you mean --runs?"},
      {{"--sort", "mean", "true"}, "--sort 'mean' is not known; write command or time"},
      {{"-u", "m", "true"}, "--time-unit 'm' is not a unit of time; write ns, us, ms, s or min"},
      {{"--name", "x", "true"}, "use --command-name NAME"},
      {{"--threshold", "5", "true"}, "use --fail-if-slower=PCT"},
      // Values that are not where they should be.
      {{"--ignore-failure", "1", "true"}, "write --ignore-failure=1"},
      {{"--fail-if-slower", "5", "true", "true"}, "write --fail-if-slower=5"},
      {{"-L", "n", "-r", "3", "sleep {n}"},
       "--parameter-list lacks a value: '-r' after it is an option; write --parameter-list VAR "
       "a,b,c"},
      {{"-r2", "-P", "n", "1"}, "--parameter-scan needs three words after it"},
      {{"--warmup", "true", "false"}, "--warmup 'true' is not a whole number"},
      {{"-L", "n", "1,2", "true"}, "write {n} where its value belongs"},
      {{"-D", "2", "true"}, "--parameter-step-size without --parameter-scan"},
      {{"-p", "true", "-p", "true", "-p", "true", "true", "true"},
       "give it once for all, or once per command"},
      // Metrics.
      {{"--metrics", "wall_tme", "true"}, "did you mean wall_time?"},
      {{"--fail-if", "cpu_tme > 5", "true", "true"}, "did you mean cpu_time?"},
      {{"--precision", "cpu_tme:5", "true"}, "did you mean cpu_time?"},
  };
  return all;
}

}  // namespace

TEST_CASE("a plausible mistake is answered with what to type instead") {
  CHECK(mistakes().size() >= 20);
  for (const Mistake& mistake : mistakes()) {
    const Said said = lauka(mistake.typed);
    CAPTURE(mistake.answer);
    CAPTURE(said.err);
    CHECK(said.err_has(mistake.answer));
    if (mistake.status != 0) CHECK(said.status == mistake.status);
  }
}

TEST_CASE("what works in hyperfine by another spelling works here") {
  CHECK(lauka({"-r2", "-u", "millisecond", "true"}).out_has("ms ± "));
  CHECK(lauka({"-r2", "--metrics", "cpu_time, wall_time", "true"}).status == 0);
  CHECK(lauka({"-r2", "-S", "true | cat"}).err.find("unquoted") == std::string::npos);
}

TEST_CASE("a likely slip is told before the first run, and not under --quiet") {
  const Said said = lauka({"-r2", "--output=inherit", "echo first | cat"});
  CHECK(said.err_has("lauka: note: 'echo first | cat' has an unquoted |"));
  CHECK_FALSE(lauka({"-q", "-r2", "echo first | cat"}).err_has("unquoted"));
}

}  // namespace lauka::contract

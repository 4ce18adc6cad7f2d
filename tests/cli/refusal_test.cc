#include "cli/parsed.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

/// The line that refuses these words, before a command that is fine.
std::string line(Words words) {
  words.emplace_back("./old");
  return answer_to(words);
}

}  // namespace

TEST_CASE("a formula that cannot be read is refused with what is wrong about it") {
  CHECK(line({"--derive", "x"}) ==
        "--derive 'x' has no =; write, for example, 'mpki=1000*cache-misses/instructions'");
  CHECK(line({"--derive", "x="}) ==
        "--derive 'x=' has nothing after the =; write, for example, "
        "'mpki=1000*cache-misses/instructions'");
  CHECK(line({"--derive", "x=(a"}) == "--derive 'x=(a' has a ( without its ); add it");
  CHECK(line({"--derive", "x:ms:up=a"}) ==
        "--derive 'x:ms:up=a' has 'up', which is neither higher nor lower; write one of "
        "them");
  CHECK(line({"--derive", "x:$:higher=3*(a + b)"}) == "accepted");
}

TEST_CASE("an expression to scrape with that cannot be one is refused") {
  CHECK(
      line({"--scrape", "x=rate [0-9]+"}) ==
      "--scrape 'x=rate [0-9]+' has no group; put the number in parentheses: 'took ([0-9.]+) ms'");
  CHECK(line({"--scrape", "x=("}) ==
        "--scrape 'x=(' is not a regular expression: missing closing parenthesis, at character 2; "
        "put a "
        "\\ before characters that are meant as they are");
  CHECK(line({"--scrape", "x"}) ==
        "--scrape 'x' has no =; write, for example, 'rate:higher=([0-9.]+) requests/s'");
  CHECK(line({"--scrape", "x:a b=(1)"}) ==
        "--scrape 'x:a b=(1)' has 'a b' for a unit; write one like ms, MiB, % or $, or leave the "
        "colon "
        "out");
  CHECK(line({"--scrape", "x:%:higher=a=(.*)"}) == "accepted");
}

TEST_CASE("an unknown option is named, with the one that was meant") {
  CHECK(line({"--rusn", "3"}) ==
        "unknown option '--rusn'; did you mean --runs? lauka --help lists the options");
  CHECK(line({"--verb"}) ==  // nor is an abbreviation guessed
        "unknown option '--verb'; did you mean --verbose? lauka --help lists the options");
  CHECK(line({"-runs", "3"}) ==
        "unknown option '-runs'; did you mean --runs? lauka --help lists the options");
  CHECK(line({"--xyzzy"}) == "unknown option '--xyzzy'; lauka --help lists the options");
  CHECK(line({"-y"}) == "unknown option '-y'; lauka --help lists the options");
  CHECK(line({"-x"}) == "unknown option '-x'; use --export-csv FILE");
  CHECK(line({"-5"}) == "unknown option '-5'; lauka --help lists the options");
  CHECK(line({"-qx"}) == "unknown option '-x' in '-qx'; lauka --help lists the options");
  CHECK(line({"-iq3"}) == "unknown option '-3' in '-iq3'; lauka --help lists the options");
  CHECK(line({"--=5"}) == "unknown option '--'; lauka --help lists the options");
  CHECK(line({"---"}) == "unknown option '---'; lauka --help lists the options");
}

TEST_CASE("a number of runs is a whole number in its range") {
  const std::string whole = "is not a whole number; write a whole number from 1 to 1000000000";
  const std::string range = "is out of range; write a whole number from 1 to 1000000000";
  CHECK(line({"-r", "0"}) == "--runs '0' " + range);
  CHECK(line({"-r", "1000000001"}) == "--runs '1000000001' " + range);
  CHECK(line({"--runs=ten"}) == "--runs 'ten' " + whole);
  CHECK(line({"-r", "1.5"}) == "--runs '1.5' " + whole);
  CHECK(line({"-r", ""}) == "--runs '' " + whole);
  CHECK(line({"-m", "0"}) == "--min-runs '0' " + range);
  CHECK(line({"-M", "0"}) == "--max-runs '0' " + range);
  CHECK(line({"-w", "x"}) ==
        "--warmup 'x' is not a whole number; write a whole number from 0 to 1000000000");
}

TEST_CASE("a negative number in a word of its own is the value, and is refused as one") {
  CHECK(line({"-w", "-1"}) ==
        "--warmup '-1' is out of range; write a whole number from 0 to 1000000000");
  CHECK(line({"--runs", "-5"}) ==
        "--runs '-5' is out of range; write a whole number from 1 to 1000000000");
  CHECK(line({"--seed", "-1"}) ==
        "--seed '-1' is out of range; write a whole number from 0 to 18446744073709551615");
}

TEST_CASE("numbers of runs that contradict each other are refused") {
  CHECK(line({"-m", "5", "-M", "4"}) ==
        "--min-runs 5 is more than --max-runs 4; lower --min-runs or raise --max-runs");
  CHECK(line({"-r", "5", "-m", "4"}) ==
        "--runs and --min-runs contradict each other; use only one of them");
  CHECK(line({"-M", "9", "-r", "5"}) ==
        "--runs and --max-runs contradict each other; use only one of them");
  CHECK(line({"--precision", "2", "-r", "5"}) ==
        "--runs and --precision contradict each other; use only one of them");
}

TEST_CASE("a time is a number and a unit") {
  const std::string time = "is not a time; write 5s, 500ms or 2m (a bare number is seconds)";
  const std::string range = "is out of range; write a time above 0 and at most 8760h";
  CHECK(line({"-d", "nan"}) == "--duration 'nan' " + time);
  CHECK(line({"-d", "-1"}) == "--duration '-1' " + time);
  CHECK(line({"-d", "5 parsecs"}) == "--duration '5 parsecs' " + time);
  CHECK(line({"-d", "0"}) == "--duration '0' " + range);
  CHECK(line({"-d", "1000000h"}) == "--duration '1000000h' " + range);
  CHECK(line({"--timeout", "soon"}) == "--timeout 'soon' " + time);
  CHECK(line({"--timeout", "0s"}) == "--timeout '0s' " + range);
}

TEST_CASE("a percentage is in its range") {
  const std::string confidence = "write a number from 50 and below 100";
  CHECK(line({"--confidence", "100"}) == "--confidence '100' is out of range; " + confidence);
  CHECK(line({"--confidence", "0"}) == "--confidence '0' is out of range; " + confidence);
  CHECK(line({"--confidence", "nan"}) == "--confidence 'nan' is not a number; " + confidence);
  const std::string slower = "write a number above -100 and at most 1000000";
  CHECK(line({"--fail-if-slower=-100"}) == "--fail-if-slower '-100' is out of range; " + slower);
  CHECK(line({"--fail-if-slower=inf"}) == "--fail-if-slower 'inf' is not a number; " + slower);
  CHECK(line({"--fail-if", "cpu_time > -100"}) == "--fail-if '-100' is out of range; " + slower);
  CHECK(line({"--fail-if", "cpu_time > nan"}) == "--fail-if 'nan' is not a number; " + slower);
  CHECK(line({"--fail-if", "cpu_time > 5x"}) ==
        "--fail-if 'cpu_time > 5x' has the unit 'x', which is unknown; write a percentage as 5, a "
        "time as 200ms, 5s or 2min, a size as 64MiB, a count as 10K");
  CHECK(line({"--precision", "0"}) ==
        "--precision '0' is out of range; write a number above 0 and at most 1000");
  CHECK(line({"--fail-if-slower=%"}) == "--fail-if-slower '%' is not a number; " + slower);
}

TEST_CASE("a value that is not one of the choices is refused with these") {
  CHECK(line({"--order", "shuffled"}) ==
        "--order 'shuffled' is not known; write random, interleaved or sequential");
  CHECK(line({"--engine", "papi"}) ==
        "--engine 'papi' is not known; write auto, kperf, perf, cachegrind or none");
  CHECK(line({"--color", ""}) == "--color '' is not known; write auto, always or never");
}

TEST_CASE("a gate is a metric, > or <, and a limit") {
  const std::string example = "; write, for example, 'cpu_time > 2' or 'wall_time > 200ms'";
  for (const char* text : {"wall_time", "> 5", "  > 5", "< 5", "wall_time = 5", ""})
    CHECK(line({"--fail-if", text}) ==
          "--fail-if '" + std::string(text) + "' is not METRIC > LIMIT" + example);
  CHECK(line({"--fail-if", "ipc <"}) == "--fail-if 'ipc <' has no number after <" + example);
  CHECK(line({"--fail-if", "wall_time > -2ms"}).starts_with("--fail-if '-2ms' is out of range"));
  CHECK(line({"--fail-if", "wall_time > ms"}).starts_with("--fail-if 'ms' is not a number"));
  CHECK(line({"--fail-if", "wall_time > 2 fortnights"})
            .starts_with("--fail-if 'wall_time > 2 fortnights' has the unit 'fortnights'"));
  CHECK(line({"--fail-if", "wall_time >"}) ==
        "--fail-if 'wall_time >' has no number after >" + example);
  CHECK(line({"--fail-if", "wall_time > = 5"}).starts_with("--fail-if '= 5' is not a number"));
  CHECK(line({"--fail-if-inconclusive"}) ==
        "--fail-if-inconclusive without a gate; "
        "add --fail-if-slower=PCT or --fail-if 'METRIC > PCT'");
}

TEST_CASE("an option without the value it needs, or with one it does not take, says so") {
  CHECK(answer_to({"-r"}) == "--runs needs a value; write --runs N");
  CHECK(line({"-w", "-r", "3"}) == "--warmup needs a value; write --warmup N");
  CHECK(line({"--runs="}) == "--runs needs a value; write --runs N");
  CHECK(line({"--fail-if-slower="}) ==
        "--fail-if-slower needs a value; write --fail-if-slower[=PCT]");
  CHECK(line({"--quiet=3"}) == "--quiet takes no value; write --quiet");
  CHECK(line({"-q=3"}) == "-q takes no value; write -q");
}

TEST_CASE("a number after an option that takes one only with = is not run as a command") {
  CHECK(line({"--fail-if-slower", "5"}) ==
        "'5' after --fail-if-slower would be taken for a command; write --fail-if-slower=5");
  CHECK(line({"--fail-if-slower", "-2.5%"}) ==
        "unknown option '-2' in '-2.5%'; lauka --help lists the options");
  CHECK(line({"-i", "1,2"}) ==
        "'1,2' after -i would be taken for a command; write --ignore-failure=1,2");
  CHECK(line({"--fail-if-slower", "--", "5"}) == "accepted");
  CHECK(line({"--", "-i", "5"}) == "accepted");
}

TEST_CASE("lists are refused whole") {
  const std::string statuses =
      "is not a list of exit statuses; write numbers from 1 to 255 with commas between them";
  CHECK(line({"--ignore-failure=0"}) == "--ignore-failure '0' " + statuses);
  CHECK(line({"--ignore-failure=1,256"}) == "--ignore-failure '1,256' " + statuses);
  CHECK(line({"-i1,"}) == "--ignore-failure '1,' " + statuses);
  CHECK(line({"-e", "cycles,,branches"}) ==
        "--event 'cycles,,branches' has an empty name; write names with single commas between "
        "them");
  CHECK(line({"-e", ""}) ==
        "--event '' has an empty name; write names with single commas between them");
}

TEST_CASE("without a command there is nothing to do") {
  const std::string none =
      "no command to measure; write lauka -- COMMAND [COMMAND ...], or see lauka --help";
  CHECK(answer_to({}) == none);
  CHECK(answer_to({"-r", "5"}) == none);
  CHECK(answer_to({"--"}) == none);
}

TEST_CASE("an option that took the command says what it takes") {
  CHECK(answer_to({"-P", "n", "1", "sleep {n}"}) ==
        "no command to measure: --parameter-scan takes VAR MIN MAX, and 'sleep {n}' was taken for "
        "MAX; write --parameter-scan VAR MIN MAX COMMAND");
  CHECK(answer_to({"-P", "n", "1", "./old"}) ==
        "no command to measure: --parameter-scan takes VAR MIN MAX, and './old' was taken for MAX; "
        "write --parameter-scan VAR MIN MAX COMMAND");
  CHECK(answer_to({"-L", "n", "sleep {n}"}) ==
        "no command to measure: --parameter-list takes VAR a,b,c, and 'sleep {n}' was taken for "
        "its value; write --parameter-list VAR a,b,c COMMAND");
  CHECK(answer_to({"-r5", "-n", "sleep 1"}) ==
        "no command to measure: --command-name takes NAME, and 'sleep 1' was taken for its value; "
        "write --command-name NAME COMMAND");
  // Nothing was taken where the value is one.
  for (const Words& words :
       {Words{"-P", "n", "1", "8"}, Words{"-p", "sync"}, Words{"--fail-if", "ipc < 5"}})
    CHECK_MESSAGE(answer_to(words).starts_with("no command to measure; write lauka -- "),
                  words.front());
}

TEST_CASE("options of several words with fewer, steps without scans, empty lists are refused") {
  CHECK(answer_to({"./old", "-L", "n"}) ==
        "--parameter-list needs two words after it; if '-L' belongs to './old', quote the command: "
        "'./old -L n'");
  CHECK(answer_to({"-P", "n", "1", "--", "./old"}) ==
        "--parameter-scan needs three words after it; write --parameter-scan VAR MIN MAX");
  CHECK(line({"--parameter-list=n", "1"}) ==
        "--parameter-list needs two words after it; write --parameter-list VAR a,b,c");
  CHECK(line({"-L", "n", ""}) ==
        "--parameter-list n has an empty list; write values with commas between them");
  CHECK(line({"-D", "2"}) == "--parameter-step-size without --parameter-scan; leave it out");
  CHECK(line({"-D", "2", "-D", "3", "-P", "n", "1", "2"}) ==
        "2 steps (-D) for 1 scans (-P); give -D once, or once per scan");
}

TEST_CASE("hooks without text and variables without a value are refused") {
  CHECK(line({"-s", ""}) == "--setup '' is empty; write --setup CMD");
  CHECK(line({"--env", "A"}) ==
        "--env 'A' has 'A', which is not NAME=VALUE; write 'A=1 B=\"two words\"'");
  CHECK(line({"--env", "=1"}).starts_with("--env '=1' has '=1', which is not NAME=VALUE"));
  CHECK(line({"--env", ""}) == "--env '' sets nothing; write --env 'A=1 B=2'");
  CHECK(line({"--env", "A='1"}).starts_with("--env \"A='1\" has an unterminated single quote"));
  CHECK(line({"--metrics", "wall_time,,x"})
            .starts_with("--metrics 'wall_time,,x' has an empty name"));
}

TEST_CASE("more names than commands are refused") {
  CHECK(line({"-n", "a", "-n", "b"}) ==
        "2 names (-n) for 1 command; give -n at most once per command");
  CHECK(line({"-n", "a", "-n", "b", "--reference", "./older"}) ==
        "2 names (-n) for 1 command; name the reference with --reference-name");
  CHECK(line({"--reference-name", "a"}) ==
        "--reference-name without --reference; name the first command with -n");
}

TEST_CASE("a file, a shell or a reference needs a name") {
  CHECK(line({"--reference", ""}) == "--reference '' is empty; write --reference COMMAND");
  CHECK(line({"--input", ""}) == "--input '' is empty; write --input null|FILE");
  CHECK(line({"--output", ""}) == "--output '' is empty; write --output null|pipe|inherit|FILE");
  CHECK(line({"--export-csv", ""}) == "--export-csv '' is empty; write --export-csv FILE");
  CHECK(line({"--shell", " "}) == "--shell ' ' is empty; write a shell, default or none");
  CHECK(line({"--shell", "sh '"}) ==
        "--shell \"sh '\" has an unterminated single quote; close it, or write \\' for the "
        "character itself");
}

TEST_CASE("options that cannot both be had are refused") {
  CHECK(line({"--export-csv", "-", "--export-runs", "-"}) ==
        "--export-csv and --export-runs have the same target '-'; write two files");
  CHECK(line({"--export-runs", "a", "--export-json", "a"}) ==
        "--export-runs and --export-json have the same target 'a'; write two files");
  CHECK(
      line({"--engine", "none", "-e", "cycles"}) ==
      "--engine none counts nothing, so --event 'cycles' cannot be counted; use only one of them");
  CHECK(line({"-l", "cache"}) ==
        "--list-events runs nothing, so './old' has no effect; leave it out");
  CHECK(line({"-lcache"}) == "--list-events runs nothing, so './old' has no effect; leave it out");
}

TEST_CASE("a kpep database without a question about events is refused") {
  CHECK(line({"--kpep", "a14.plist"}) ==
        "--kpep 'a14.plist' works only with --list-events and --explain-events; add one of "
        "them, or leave --kpep out");
}

TEST_CASE("a sampling period of 0 is refused") {
  CHECK(line({"--period", "0"}) ==
        "--period '0' is out of range; write a time above 0 and at most 8760h");
}

TEST_CASE("what was typed stays on one line") {
  CHECK(line({"-r", "1\n2"}) ==
        "--runs '1\\n2' is not a whole number; write a whole number from 1 to 1000000000");
  CHECK(line({"-q\nb"}) == "unknown option '-\\n' in '-q\\nb'; lauka --help lists the options");
  CHECK(line({"-ü"}) == "unknown option '-ü'; lauka --help lists the options");
  CHECK(line({"--a\nb"}) == "unknown option '--a\\nb'; lauka --help lists the options");
}

}  // namespace lauka::cli

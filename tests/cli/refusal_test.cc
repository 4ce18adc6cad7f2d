#include "cli/option_table.h"
#include "cli/parsed.h"
#include "has.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

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
  CHECK(line({"--derive", "x="}).starts_with("--derive 'x=' has nothing after the =; "));
  CHECK(line({"--derive", "x=(a"}) == "--derive 'x=(a' has a ( without a matching ); add it");
  CHECK(line({"--derive", "x:ms:up=a"}) ==
        "--derive 'x:ms:up=a' has 'up', which is neither higher nor lower; write higher or lower");
  CHECK(line({"--derive", "x:$:higher=3*(a + b)"}) == "accepted");
}

TEST_CASE("an expression to scrape with that cannot be one is refused") {
  CHECK(
      line({"--scrape", "x=rate [0-9]+"}) ==
      "--scrape 'x=rate [0-9]+' has no group; put the number in parentheses: 'took ([0-9.]+) ms'");
  CHECK(line({"--scrape", "x=("}) ==
        "--scrape 'x=(' is not a regular expression: missing closing parenthesis, at character 2; "
        "put a \\ before each character that has no special meaning");
  CHECK(line({"--scrape", "x"}) ==
        "--scrape 'x' has no =; write, for example, 'rate:higher=([0-9.]+) requests/s'");
  CHECK(line({"--scrape", "x:a b=(1)"}) ==
        "--scrape 'x:a b=(1)' has the unit 'a b'; write a unit such as ms, MiB, % or $, or leave "
        "out the colon");
  CHECK(line({"--scrape", "x:%:higher=a=(.*)"}) == "accepted");
}

TEST_CASE("an unknown option is named, with the one that was meant") {
  CHECK(line({"--rusn", "3"}) ==
        "unknown option '--rusn'; did you mean --runs? lauka --help lists the options");
  check_order(line({"--verb"}), {" '--verb'; ", " --verbose?"});  // no abbreviation is guessed
  check_order(line({"-runs", "3"}), {" '-runs'; ", " --runs?"});
  CHECK(line({"-x"}).ends_with(" '-x'; use --export-csv FILE"));
  struct Row {
    const char* typed;
    const char* named;
  };
  for (const Row& row : {Row{"--xyzzy", " '--xyzzy'; "}, Row{"-y", " '-y'; "}, Row{"-5", " '-5'; "},
                         Row{"-qx", " '-x' in '-qx'; "}, Row{"-iq3", " '-3' in '-iq3'; "},
                         Row{"--=5", " '--'; "}, Row{"---", " '---'; "}}) {
    CAPTURE(row.typed);
    check_order(line({row.typed}), {"unknown option", row.named, "lauka --help"});
    CHECK_FALSE(has(line({row.typed}), "?"));
  }
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
  check_order(line({"-w", "x"}), {"--warmup 'x' ", " 0 to 1000000000"});
}

TEST_CASE("a negative number in a word of its own is the value, and is refused as one") {
  check_order(line({"-w", "-1"}), {"--warmup '-1' ", "out of range", " 0 to 1000000000"});
  check_order(line({"--runs", "-5"}), {"--runs '-5' ", " 1 to 1000000000"});
  check_order(line({"--seed", "-1"}), {"--seed '-1' ", " 0 to 18446744073709551615"});
}

TEST_CASE("numbers of runs that contradict each other are refused") {
  CHECK(line({"-m", "5", "-M", "4"}) ==
        "--min-runs 5 is more than --max-runs 4; lower --min-runs or raise --max-runs");
  CHECK(line({"-r", "5", "-m", "4"}) ==
        "--runs and --min-runs cannot be combined; use only one of them");
  CHECK(line({"-M", "9", "-r", "5"}).starts_with("--runs and --max-runs "));
  CHECK(line({"--precision", "2", "-r", "5"}).starts_with("--runs and --precision "));
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
  CHECK(line({"--confidence", "100"}) ==
        "--confidence '100' is out of range; write a number from 50 and below 100");
  CHECK(line({"--fail-if-slower=inf"}) ==
        "--fail-if-slower 'inf' is not a number; write a number above -100 and at most 1000");
  struct Row {
    Words words;
    const char* named;
  };
  for (const Row& row : {Row{{"--confidence", "0"}, "--confidence '0' "},
                         Row{{"--confidence", "nan"}, "--confidence 'nan' "},
                         Row{{"--fail-if-slower=-100"}, "--fail-if-slower '-100' "},
                         Row{{"--fail-if-slower=%"}, "--fail-if-slower '%' "},
                         Row{{"--fail-if", "cpu_time > -100"}, "--fail-if '-100' "},
                         Row{{"--fail-if", "cpu_time > nan"}, "--fail-if 'nan' "},
                         Row{{"--precision", "0"}, "--precision '0' "}})
    CHECK_MESSAGE(line(row.words).starts_with(row.named), row.named);
  CHECK(line({"--fail-if", "cpu_time > 5x"}) ==
        "--fail-if 'cpu_time > 5x' has the unit 'x', which is unknown; write a percentage as 5, a "
        "time as 200ms, 5s or 2min, a size as 64MiB, or a count as 10K");
}

TEST_CASE("conditions for keeping are refused where they cannot decide, with the reason") {
  CHECK(line({"--keep-if-faster=1", "--suite", "suite.toml"}) ==
        "--keep-if-faster decides about one candidate, but a suite has many benchmarks; leave it "
        "out, and measure the two commands in a call without --suite");
  check_order(line({"--keep-if", "wall_time < -1", "--baseline", "main.json", "./new"}),
              {"--keep-if", "same session", "--baseline", "first command"});
  check_order(line({"--keep-if", "wall_time < -1", "--from", "main.json"}),
              {"--from runs nothing", "--keep-if"});
  check_order(line({"--keep-if-faster", "--fail-if-inconclusive", "./old", "./new"}),
              {"--fail-if-inconclusive has no effect without a gate", "--fail-if"});
  CHECK(line({"--keep-if-faster=-1"}) ==
        "--keep-if-faster '-1' is out of range; write a number from 0 and below 100");
}

TEST_CASE("a value that is not one of the choices is refused with these") {
  CHECK(line({"--order", "shuffled"}) ==
        "--order 'shuffled' is not known; write random, interleaved or sequential");
  check_order(line({"--engine", "papi"}),
              {"--engine 'papi' ", "auto, kperf, perf, cachegrind, dhat, cachegrind,dhat or none"});
  check_order(line({"--color", ""}), {"--color '' ", "auto, always or never"});
}

TEST_CASE("a gate is a metric, > or <, and a limit") {
  const std::string example = "; write, for example, 'cpu_time > 2' or 'wall_time > 200ms'";
  for (const char* text : {"wall_time", "> 5", "  > 5", "< 5", "wall_time = 5", ""})
    CHECK(line({"--fail-if", text}) ==
          "--fail-if '" + std::string(text) + "' is not of the form METRIC > LIMIT" + example);
  CHECK(line({"--fail-if", "ipc <"}) == "--fail-if 'ipc <' has no number after <" + example);
  CHECK(line({"--fail-if", "wall_time > -2ms"}).starts_with("--fail-if '-2ms' "));
  CHECK(line({"--fail-if", "wall_time > ms"}).starts_with("--fail-if 'ms' "));
  CHECK(has(line({"--fail-if", "wall_time > 2 fortnights"}), " 'fortnights'"));
  CHECK(line({"--fail-if", "instructions > 1000000"}) ==
        "--fail-if 'instructions > 1000000' has a limit of more than 1,000 % of the reference; to "
        "limit the value itself, write 'value(instructions) > 1000000'");
  CHECK(line({"--fail-if", "cpu_time > 5000%"}) ==
        "--fail-if 'cpu_time > 5000%' has a limit of more than 1,000 % of the reference; to limit "
        "the value itself, write a unit, as in 'cpu_time > 200ms'");
  CHECK(has(line({"--fail-if-slower=2000"}), "at most 1000"));
  CHECK(has(line({"--fail-if", "value(rate) > 5%"}), "'value(rate) > 5000'"));
  CHECK(has(line({"--fail-if", "wall_time >"}), " after >"));
  CHECK(line({"--fail-if", "wall_time > = 5"})
            .starts_with("--fail-if 'wall_time > = 5' has an equals sign"));
  CHECK(line({"--fail-if-inconclusive"}) ==
        "--fail-if-inconclusive has no effect without a gate; add --fail-if-slower=PCT or "
        "--fail-if 'METRIC > PCT'");
}

TEST_CASE("an option without the value it needs, or with one it does not take, says so") {
  CHECK(answer_to({"-r"}) == "--runs needs a value; write --runs N");
  CHECK(line({"-w", "-r", "3"}).ends_with("; write --warmup N"));
  CHECK(line({"--runs="}).ends_with("; write --runs N"));
  CHECK(line({"--fail-if-slower="}).ends_with("; write --fail-if-slower[=PCT]"));
  CHECK(has(line({"-i="}), "--ignore-failure needs a value; write "));
  CHECK(has(line({"-qi="}), "--ignore-failure needs a value; write "));
  CHECK(line({"--quiet=3"}) == "--quiet takes no value; write --quiet");
  CHECK(line({"-q=3"}).ends_with("; write -q"));
}

TEST_CASE("a number after an option that takes one only with = is not run as a command") {
  CHECK(line({"--fail-if-slower", "5"}) ==
        "'5' after --fail-if-slower would be read as a command; write --fail-if-slower=5");
  CHECK(has(line({"--fail-if-slower", "-2.5%"}), " '-2' in '-2.5%'; "));
  CHECK(line({"-i", "3", "-r6", "--", "true"}) ==
        "'3' after -i would be read as a command; write --ignore-failure=3");
  check_order(line({"-i", "1,2"}), {"'1,2' after -i ", "; write --ignore-failure=1,2"});
  CHECK(line({"--fail-if-slower", "--", "5"}) == "accepted");
  CHECK(line({"--", "-i", "5"}) == "accepted");
}

TEST_CASE("the value of any option that takes one only with = is not run as a command") {
  for (const OptionInfo& option : option_table()) {
    if (!is_value_optional(option) || option.rules.scope == Scope::Call) continue;
    CAPTURE(option.name);
    const std::string spelling = option.spelling();
    CHECK(line({spelling, "5"}) ==
          "'5' after " + spelling + " would be read as a command; write " + spelling + "=5");
  }
  struct Row {
    const char* option;
    const char* value;
  };
  for (const Row& row : {Row{"--tune", "list"}, Row{"--tune", "compare"}, Row{"--tune", "cpus=2-5"},
                         Row{"--tune", "+smt,-turbo"}, Row{"--profile", "500us"},
                         Row{"--ignore-failure", "all-non-zero"}}) {
    CAPTURE(row.value);
    check_order(line({row.option, row.value}),
                {row.value, std::string("write ") + row.option + "=" + row.value});
  }
  CHECK(line({"--tune", "--", "list"}) == "accepted");
  CHECK(line({"--tune", "./list"}) == "accepted");
  CHECK(line({"--profile", "./500us"}) == "accepted");
}

TEST_CASE("a subcommand of another tool is refused, with what to write instead") {
  CHECK(line({"stat"}) ==
        "there is no subcommand 'stat'; leave it out, because lauka measures every command; if it "
        "is a program, quote it with its arguments: 'stat ./old'");
  check_order(line({"record"}), {"no subcommand 'record'", "--profile"});
  check_order(line({"compare", "a.json"}), {"no subcommand 'compare'", "--from"});
  CHECK(line({"stat ./x"}) == "accepted");
  CHECK(answer_to({"compare"}) == "accepted");
}

TEST_CASE("a condition with an equals sign is told the signs that there are") {
  const std::string words = " has an equals sign, but a condition has only > or <; write, for ";
  for (const char* const text : {"cpu_time >= 5", "cpu_time <=5", "cpu_time => 5", "x=<200ms"})
    CHECK(has(line({"--fail-if", text}), "--fail-if '" + std::string(text) + "'" + words));
  CHECK(line({"--fail-if", "cpu_time > 5", "./new"}) == "accepted");
  CHECK(has(line({"--fail-if", "instructions@operator= > 5"}), "--engine cachegrind"));
}

TEST_CASE("an error that an option after the command did not cause has both remedies") {
  CHECK(answer_to({"-r", "x", "./new", "-w", "3"}) ==
        "--runs 'x' is not a whole number; write a whole number from 1 to 1000000000; if '-w' "
        "belongs to './new', quote the command as './new -w 3'");
  CHECK(answer_to({"-w", "3", "./new", "-r", "x"}) ==
        "--runs 'x' is not a whole number; if '-r' belongs to './new', quote the command as './new "
        "-r x'");
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
  CHECK(line({"-e", ""}).starts_with("--event '' "));
}

TEST_CASE("without a command there is nothing to do") {
  const std::string none =
      "there is no command to measure; write lauka -- COMMAND [COMMAND ...], or see lauka --help";
  CHECK(answer_to({}) == none);
  CHECK(answer_to({"-r", "5"}) == none);
  CHECK(answer_to({"--"}) == none);
}

TEST_CASE("an option that took the command says what it takes") {
  CHECK(answer_to({"-P", "n", "1", "sleep {n}"}) ==
        "there is no command to measure, because --parameter-scan takes VAR MIN MAX, and lauka "
        "took 'sleep {n}' for MAX; write --parameter-scan VAR MIN MAX COMMAND");
  check_order(answer_to({"-P", "n", "1", "./old"}), {" './old' ", " MAX; "});
  check_order(answer_to({"-L", "n", "sleep {n}"}),
              {" 'sleep {n}' ", "; write --parameter-list VAR a,b,c COMMAND"});
  check_order(answer_to({"-r5", "-n", "sleep 1"}),
              {" 'sleep 1' ", "; write --command-name NAME COMMAND"});
  // Nothing was taken where the value is one.
  for (const Words& words :
       {Words{"-P", "n", "1", "8"}, Words{"-p", "sync"}, Words{"--fail-if", "ipc < 5"}})
    CHECK_MESSAGE(answer_to(words) == answer_to({}), words.front());
}

TEST_CASE("options of several words with fewer, steps without scans, empty lists are refused") {
  CHECK(answer_to({"./old", "-L", "n"}) ==
        "--parameter-list needs two words after it; if '-L' belongs to './old', quote the command "
        "as './old -L n'");
  check_order(answer_to({"-P", "n", "1", "--", "./old"}),
              {" three words ", "; write --parameter-scan VAR MIN MAX"});
  check_order(line({"--parameter-list=n", "1"}),
              {" two words ", "; write --parameter-list VAR a,b,c"});
  CHECK(line({"-L", "n", ""}) ==
        "--parameter-list n has an empty list; write values with commas between them");
  CHECK(line({"-D", "2"}) ==
        "--parameter-step-size has no effect without --parameter-scan; leave it out");
  CHECK(line({"-D", "2", "-D", "3", "-P", "n", "1", "2"}) ==
        "there are 2 steps (-D) for 1 scan (-P); give -D once, or once per scan");
}

TEST_CASE("names for more commands than there are, and variables without a value, are refused") {
  CHECK(line({"--env", "A"}) ==
        "--env 'A' has 'A', which is not of the form NAME=VALUE; write 'A=1 B=\"two words\"'");
  CHECK(line({"--env", "=1"}).starts_with("--env '=1' has '=1', "));
  CHECK(line({"--env", ""}) == "--env '' sets nothing; write --env 'A=1 B=2'");
  CHECK(line({"--env", "A='1"}).starts_with("--env \"A='1\" "));
  CHECK(line({"--metrics", "wall_time,,x"}).starts_with("--metrics 'wall_time,,x' "));
}

TEST_CASE("more names than commands are refused") {
  CHECK(line({"-n", "a", "-n", "b"}) ==
        "there are 2 names (-n) for 1 command; give -n at most once per command");
  CHECK(line({"-n", "a", "-n", "b", "--reference", "./older"})
            .ends_with("; name the reference with --reference-name"));
  CHECK(line({"--reference-name", "a"}) ==
        "--reference-name has no effect without --reference; name the first command with -n");
}

TEST_CASE("a file, a shell or a reference needs a name") {
  CHECK(line({"--reference", ""}) == "--reference '' is empty; write --reference COMMAND");
  CHECK(line({"--input", ""}).ends_with("; write --input null|FILE"));
  CHECK(line({"--output", ""}).ends_with("; write --output null|pipe|inherit|FILE"));
  CHECK(line({"--export-csv", ""}).ends_with("; write --export-csv FILE"));
  CHECK(line({"--shell", " "}).ends_with("; write a shell, default or none"));
  CHECK(line({"--shell", "sh '"}) ==
        "--shell \"sh '\" has a single quote that is not closed; close it, or write \\' for the "
        "character itself");
}

TEST_CASE("options that cannot both be had are refused") {
  CHECK(line({"--export-csv", "-", "--export-runs", "-"}) ==
        "--export-csv and --export-runs would both write '-'; name two different files");
  check_order(line({"--export-runs", "a", "--export-json", "a"}),
              {"--export-runs", "--export-json", " 'a'; "});
  CHECK(
      line({"--engine", "none", "-e", "cycles"}) ==
      "--engine none counts nothing, so --event 'cycles' cannot be counted; use only one of them");
  CHECK(line({"-l", "cache"}) ==
        "--list-events runs nothing, so './old' has no effect; leave it out");
  CHECK(line({"-lcache"}) == line({"-l", "cache"}));
}

TEST_CASE("an export of an answer that is only printed is refused") {
  for (const char* question :
       {"--list-events", "--list-metrics", "--explain-events", "--tune=list", "--untune"}) {
    CAPTURE(question);
    CHECK(answer_to({question, "--export-json", "a.json"}) ==
          fmt::format("the answer to {} is printed, so --export-json has no effect; leave it out",
                      question));
  }
  CHECK(answer_to({"--check", "--export-json", "a.json"}) == "accepted");
}

TEST_CASE("a kpep database without a question about events is refused") {
  CHECK(line({"--kpep", "a14.plist"}) ==
        "--kpep 'a14.plist' works only with --list-events and --explain-events; add one of "
        "them, or leave --kpep out");
}

TEST_CASE("a sampling period of 0 is refused") {
  CHECK(line({"--period", "0"}).starts_with("--period '0' "));
}

TEST_CASE("what was typed stays on one line") {
  CHECK(line({"-r", "1\n2"}).starts_with("--runs '1\\n2' "));
  CHECK(has(line({"-q\nb"}), " '-\\n' in '-q\\nb'; "));
  CHECK(has(line({"-ü"}), " '-ü'; "));
  CHECK(has(line({"--a\nb"}), " '--a\\nb'; "));
}

TEST_CASE(
    "numbers of runs that are no whole sweeps over the layouts are refused with both next ones") {
  const std::string refused = line({"--layouts", "8", "-r", "100"});
  check_order(refused, {" 100 ", " 8 ", " 96 or 104, "});
  check_order(line({"--layouts", "8", "-r", "5"}), {"; give 8, "});
  check_order(line({"--layouts", "8", "-M", "5"}), {"--max-runs 5 ", "allow 8 "});
  CHECK(line({"--layouts", "8", "-r", "16"}) == "accepted");
  CHECK(line({"--layouts", "4", "-m", "9", "-M", "10"}) ==
        "no multiple of 4, the number of layouts, lies between --min-runs 9 and --max-runs 10; "
        "raise --max-runs to 12, because each layout must run equally often");
  CHECK(line({"--layouts", "4", "-m", "9", "-M", "12"}) == "accepted");
  CHECK(line({"--layouts", "4", "-M", "10"}) == "accepted");
  for (const char* layouts : {"3", "1001", "x"})
    check_order(line({"--layouts", layouts}), {"--layouts", layouts});
}

TEST_CASE("options of builds need what they are about") {
  check_order(line({"--build", "make"}), {"--build has no effect without --layouts"});
  check_order(line({"--layouts", "4", "--build-jobs", "2"}),
              {"--build-jobs has no effect without --build;"});
  check_order(line({"--layouts", "4", "--tune=compare"}), {"--tune=compare", "--layouts"});
}

}  // namespace lauka::cli

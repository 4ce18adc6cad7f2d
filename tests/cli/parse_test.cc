#include "cli/option_table.h"
#include "cli/parsed.h"
#include "core/choices.h"
#include "core/machine.h"
#include "has.h"

#include <chrono>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The options, of a command line that must be right.
Options options(const Words& words) {
  auto read_options = parsed(words);
  if (!read_options) FAIL("refused: " << read_options.error().line());
  return *std::move(read_options);
}

/// Adds a command to the words that are tried.
Options with(Words words) {
  words.insert(words.end(), {"--", "./old"});
  return options(words);
}

std::string filter_of(const Words& words) {
  return options(words).inquiry.value().filter_or_topic;
}

}  // namespace

TEST_CASE("commands are the words that are no options, before, between and after these") {
  CHECK(options({"./old", "./new -O2"}).commands.command_lines == Words{"./old", "./new -O2"});
  CHECK(options({"--", "./old", "./new -O2"}).commands.command_lines ==
        Words{"./old", "./new -O2"});
  CHECK(options({"-r", "5", "./old", "-q", "./new"}).commands.command_lines ==
        Words{"./old", "./new"});
  const Options after = options({"./old", "./new", "-r", "5"});
  CHECK(after.commands.command_lines == Words{"./old", "./new"});
  CHECK(after.run.runs == 5);
}

TEST_CASE("after -- everything is a command") {
  CHECK(options({"--", "-x", "--help", "--", "-r"}).commands.command_lines ==
        Words{"-x", "--help", "--", "-r"});
  CHECK(options({"./old", "--", "--runs"}).commands.command_lines == Words{"./old", "--runs"});
}

TEST_CASE("without options the defaults are the contract's") {
  const Options o = options({"./old"});
  CHECK(o.run.min_runs == 10);
  CHECK(o.run.time_per_command == seconds(5));
  CHECK(o.run.warmup == 1);
  CHECK_FALSE(o.run.order.has_value());
  CHECK_FALSE(o.commands.shell.has_value());
  CHECK_FALSE(o.run.ignore_failure.has_value());
  CHECK_FALSE(o.run.as_root);
  CHECK(o.counting.metric_selection == MetricSelection::Default);
  CHECK(o.counting.engine == EngineChoice::Auto);
  CHECK_FALSE(o.gates.confidence.has_value());
  CHECK(o.output.color == ColorChoice::Auto);
  CHECK(o.output.verbosity == Verbosity::Normal);
  CHECK(o.output.shows_progress);
}

TEST_CASE("the number of runs: -r, -m, -M, -d, -w") {
  CHECK(with({"-r", "7"}).run.runs == 7);
  CHECK(with({"--runs=1000000000"}).run.runs == 1'000'000'000);
  CHECK(with({"-m", "3"}).run.min_runs == 3);
  CHECK(with({"-M", "30"}).run.max_runs == 30);
  CHECK(with({"-d", "500ms"}).run.time_per_command == milliseconds(500));
  CHECK(with({"-w", "0"}).run.warmup == 0);
}

TEST_CASE("--max-runs alone lowers the least number of runs, as far as it must") {
  CHECK(with({"-M", "4"}).run.min_runs == 4);
  CHECK(with({"-M", "11"}).run.min_runs == 10);
  CHECK(with({"-m", "4", "-M", "4"}).run.min_runs == 4);
}

TEST_CASE("the order of runs: --order, --seed, --timeout") {
  CHECK(with({"--order", "random"}).run.order == Order::Random);
  CHECK(with({"--order", "interleaved"}).run.order == Order::Interleaved);
  CHECK(with({"--order=sequential"}).run.order == Order::Sequential);
  CHECK(with({"--seed", "0"}).run.seed == 0);
  CHECK(with({"--seed", "18446744073709551615"}).run.seed == 18'446'744'073'709'551'615U);
  CHECK(with({"--timeout", "1.5"}).run.timeout == milliseconds(1500));
}

TEST_CASE("names go to the commands in order") {
  const Options o = options({"-n", "a", "./old", "--command-name", "b", "./new"});
  CHECK(o.commands.command_lines == Words{"./old", "./new"});
  CHECK(o.commands.names == Words{"a", "b"});
  CHECK(with({"-n", "-fast"}).commands.names == Words{"-fast"});
}

TEST_CASE("--reference comes first and does not shift the names of the others") {
  const Options o = options({"./new", "-n", "new", "--reference", "./old -x"});
  CHECK(o.commands.command_lines == Words{"./old -x", "./new"});
  CHECK(o.commands.names == Words{"", "new"});
  const Options named =
      options({"--reference", "./old", "--reference-name", "old", "./new", "./newer"});
  CHECK(named.commands.command_lines == Words{"./old", "./new", "./newer"});
  CHECK(named.commands.names == Words{"old"});
  CHECK(options({"--reference", "./old"}).commands.command_lines == Words{"./old"});
}

TEST_CASE("a shell is split into words; of --shell, -S and -N the last counts") {
  CHECK(with({"--shell", "bash --norc"}).commands.shell.value().words == Words{"bash", "--norc"});
  CHECK(with({"--shell", "default"}).commands.shell.value().words == Words{"sh"});
  CHECK(with({"-S"}).commands.shell.value().words == Words{"sh"});
  CHECK_FALSE(with({"-S", "--shell", "none"}).commands.shell.has_value());
  CHECK_FALSE(with({"--shell=zsh", "-N"}).commands.shell.has_value());
  CHECK(with({"-NS"}).commands.shell.value().words == Words{"sh"});
}

TEST_CASE("--ignore-failure takes statuses in its own word only, never the next command") {
  CHECK(options({"-i", "./old"}).commands.command_lines == Words{"./old"});
  CHECK(options({"-i", "./old"}).run.ignore_failure.value().ignores_all);
  CHECK(options({"--ignore-failure", "./old"}).commands.command_lines == Words{"./old"});
  CHECK(options({"./old", "--ignore-failure"}).run.ignore_failure.value().ignores_all);
  CHECK(with({"--ignore-failure"}).run.ignore_failure.value().ignores_all);
  for (const char* word : {"--ignore-failure=1,255", "-i1,255", "-i=1,255", "-qi1,255"}) {
    CAPTURE(word);
    const IgnoreFailure some = with({word}).run.ignore_failure.value();
    CHECK_FALSE(some.ignores_all);
    CHECK(some.statuses == std::vector<int>{1, 255});
  }
  CHECK(with({"-i3", "-i"}).run.ignore_failure.value().ignores_all);
}

TEST_CASE("input and output: --input, --output, --show-output") {
  CHECK(with({"--input", "a.txt"}).commands.inputs == std::vector<std::string>{"a.txt"});
  CHECK(with({"--input", "null"}).commands.inputs == std::vector<std::string>{""});
  CHECK(with({"--output", "null"}).commands.outputs.at(0).kind == OutputKind::Null);
  CHECK(with({"--output", "pipe"}).commands.outputs.at(0).kind == OutputKind::Pipe);
  CHECK(with({"--output", "inherit"}).commands.outputs.at(0).kind == OutputKind::Inherit);
  CHECK(with({"--show-output"}).commands.outputs.at(0).kind == OutputKind::Inherit);
  const OutputChoice file = with({"--output", "./pipe"}).commands.outputs.at(0);
  CHECK(file.kind == OutputKind::File);
  CHECK(file.path == "./pipe");
}

TEST_CASE("events add up without duplicates, and a comma between slashes is the event's own") {
  CHECK(with({"-e", "cycles,instructions", "--event=cycles,page-faults"}).counting.events ==
        Words{"cycles", "instructions", "page-faults"});
  CHECK(with({"-e", "cpu/event=0x3c,umask=0x1/,r01c2"}).counting.events ==
        Words{"cpu/event=0x3c,umask=0x1/", "r01c2"});
}

TEST_CASE("what is measured: --engine, --user-only, --single-pass, --metrics") {
  CHECK(with({"--engine", "auto"}).counting.engine == EngineChoice::Auto);
  CHECK(with({"--engine", "kperf"}).counting.engine == EngineChoice::Kperf);
  CHECK(with({"--engine", "perf"}).counting.engine == EngineChoice::Perf);
  CHECK(with({"--engine", "none"}).counting.engine == EngineChoice::None);
  CHECK(with({"--user-only"}).counting.counts_user_space_only);
  CHECK(with({"--single-pass"}).counting.single_pass);
  CHECK(with({"--metrics", "default"}).counting.metric_selection == MetricSelection::Default);
  CHECK(with({"--metrics", "time"}).counting.metric_selection == MetricSelection::Time);
  CHECK(with({"--metrics", "all"}).counting.metric_selection == MetricSelection::All);
}

TEST_CASE("the sampling period is a time, 1 ms where it is not given") {
  CHECK(with({}).counting.thread_sampling_period == std::chrono::milliseconds(1));
  CHECK(with({"--period", "500us"}).counting.thread_sampling_period ==
        std::chrono::microseconds(500));
}

TEST_CASE("--explain-events runs nothing, with or without commands, and takes a kpep database") {
  for (const Words& words :
       {Words{"--explain-events", "-e", "a,b", "--kpep", "f.plist"},
        Words{"--kpep", "f.plist", "--explain-events", "-e", "a,b", "./old"}}) {
    CAPTURE(words.front());
    const Options options = with(words);
    REQUIRE(options.inquiry.has_value());
    CHECK(options.inquiry->kind == InquiryKind::ExplainEvents);
    CHECK(options.counting.events == Words{"a", "b"});
    CHECK(options.counting.event_database_path == "f.plist");
  }
}

TEST_CASE("-l takes its text in the same word or the next one") {
  CHECK(filter_of({"-l"}).empty());
  CHECK(filter_of({"--list-events"}).empty());
  for (const Words& words :
       {Words{"-l", "cache"}, Words{"-lcache"}, Words{"-l=cache"}, Words{"--list-events=cache"},
        Words{"--list-events", "cache"}, Words{"-l", "-q", "cache"}, Words{"-ql", "cache"}})
    CHECK_MESSAGE(filter_of(words) == "cache", words.front());
}

TEST_CASE("--fail-if-slower is a gate on wall time, with a percentage in its own word or without") {
  const auto limit = [](const Words& words) {
    const Options o = options(words);
    CHECK(o.commands.command_lines == Words{"./old", "./new"});
    REQUIRE(o.gates.conditions.size() == 1);
    CHECK(o.gates.conditions.front().metric == "wall_time");
    return o.gates.conditions.front().limit.number;
  };
  CHECK(limit({"--fail-if-slower", "./old", "./new"}) == 0.0);
  CHECK(limit({"--fail-if-slower", "--", "./old", "./new"}) == 0.0);
  CHECK(limit({"./old", "./new", "--fail-if-slower"}) == 0.0);
  CHECK(limit({"--fail-if-slower=5", "./old", "./new"}) == 5.0);
  CHECK(limit({"--fail-if-slower=2.5%", "./old", "./new"}) == 2.5);
  CHECK(limit({"--fail-if-slower=-99.9", "./old", "./new"}) == -99.9);
  CHECK(limit({"--fail-if-slower=5", "--fail-if-slower=3", "./old", "./new"}) == 3.0);
}

TEST_CASE("--fail-if is a gate on any metric, and may be repeated") {
  const auto gate = [](const char* text) {
    const Options o = options({"--fail-if", text, "./old", "./new"});
    REQUIRE(o.gates.conditions.size() == 1);
    return o.gates.conditions.front().metric + "|" +
           std::to_string(o.gates.conditions.front().limit.number);
  };
  CHECK(gate("cpu_time > 5") == "cpu_time|5.000000");
  CHECK(gate("cpu_time>5") == "cpu_time|5.000000");
  CHECK(gate("  cpu_time\t>  2.5%  ") == "cpu_time|2.500000");
  CHECK(gate("ipc > -10") == "ipc|-10.000000");
  CHECK(gate("cpu_core/a>b/>1") == "cpu_core/a>b/|1.000000");
  CHECK(gate("ipc < -5") == "ipc|-5.000000");

  const Options several = options({"--fail-if", "cpu_time > 2", "--fail-if-slower=9", "--fail-if",
                                   "peak_rss > 1", "--fail-if-slower=5", "./old", "./new"});
  REQUIRE(several.gates.conditions.size() == 3);
  CHECK(several.gates.conditions[0].metric == "wall_time");
  CHECK(several.gates.conditions[0].limit == GateLimit::of_change(5.0));
  CHECK(several.gates.conditions[1].metric == "cpu_time");
  CHECK(several.gates.conditions[2].metric == "peak_rss");
}

TEST_CASE("--fail-if may be of a drop, and of a value with a unit") {
  const auto gate = [](const char* text) {
    return options({"--fail-if", text, "./old", "./new"}).gates.conditions.at(0);
  };
  CHECK(gate("ipc < -5").fails_below_limit);
  CHECK(gate("ipc < -5").limit.is_change());
  CHECK_FALSE(gate("ipc > 5").fails_below_limit);
  const Condition time = gate("wall_time > 200ms");
  CHECK(time.limit == GateLimit::of_value(0.2, "200ms", Unit::Seconds));
  CHECK_FALSE(time.fails_below_limit);
  CHECK(gate("peak_rss>64 MiB").limit.number == 67108864.0);
  CHECK(gate("peak_rss>64 MiB").limit.unit == Unit::Bytes);
  CHECK(gate("instructions < 1.5G").limit.number == 1.5e9);
  CHECK(gate("instructions < 1.5G").fails_below_limit);
}

TEST_CASE("--keep-if is the gate that must pass, and is written as --fail-if is") {
  const auto kept = [](const Words& words) {
    Words all = words;
    all.insert(all.end(), {"./old", "./new"});
    const Options o = options(all);
    REQUIRE(o.gates.conditions.size() == 1);
    CHECK(o.gates.conditions.front().is_for_keeping());
    return o.gates.conditions.front();
  };
  CHECK(kept({"--keep-if-faster"}).metric == "wall_time");
  CHECK(kept({"--keep-if-faster"}).limit == GateLimit::of_change(0.0));
  CHECK(kept({"--keep-if-faster=1.5"}).limit == GateLimit::of_change(-1.5));
  CHECK_FALSE(kept({"--keep-if-faster=1.5"}).fails_below_limit);
  CHECK(kept({"--keep-if-faster=1.5"}) == kept({"--keep-if", "wall_time < -1.5"}));
  CHECK(kept({"--keep-if", "wall_time < -1.5"}).sign() == '<');
  CHECK(kept({"--keep-if", "ipc > 5"}).fails_below_limit);
  CHECK(kept({"--keep-if", "ipc > 5"}).sign() == '>');
  CHECK(kept({"--keep-if", "wall_time < 200ms"}).limit == GateLimit::of_value(0.2, "200ms"));
  CHECK(kept({"--keep-if", "value(rate) > 5"}).limit == GateLimit::of_value(5.0, "5", Unit::Count));
}

TEST_CASE("a condition for keeping and the gate of the same text are two") {
  CHECK(options({"--fail-if", "wall_time > 5", "--keep-if", "wall_time < 5", "./old", "./new"})
            .gates.conditions.size() == 2);
}

TEST_CASE("events after a + are counted with the default ones") {
  const Options o = options({"-e", "+faults,migrations", "-e", "+minor", "./old"});
  CHECK(o.counting.adds_default_events);
  CHECK(o.counting.events == std::vector<std::string>{"faults", "migrations", "minor"});
  CHECK_FALSE(options({"-e", "faults", "./old"}).counting.adds_default_events);
}

TEST_CASE("a gate given twice is one, since each one makes the others stricter") {
  CHECK(options({"--fail-if", "wall_time > 5", "--fail-if-slower=5", "--fail-if", "wall_time > 6",
                 "--fail-if", "wall_time>5%", "./old", "./new"})
            .gates.conditions.size() == 2);
}

TEST_CASE("--fail-if limits the value of a metric without a unit as value(METRIC)") {
  const auto gate = [](const std::string& text) {
    return options({"--fail-if", text, "./old", "./new"}).gates.conditions.at(0);
  };
  const Condition plain = gate("value(rate) > 5000");
  CHECK(plain.metric == "rate");
  CHECK(plain.limit == GateLimit::of_value(5000.0, "5000", Unit::Count));
  CHECK(gate("value( rate ) < 0.5").fails_below_limit);
  CHECK(gate("value(wall_time) > 200ms") == gate("wall_time > 200ms"));
  CHECK(gate("rate > 1000").limit == GateLimit::of_change(1000.0));
}

TEST_CASE("--fail-if-inconclusive and --precision") {
  CHECK_FALSE(options({"./old"}).gates.inconclusive_status);
  CHECK(options({"--fail-if-inconclusive", "--fail-if-slower=5", "./old"})
            .gates.inconclusive_status == 4);
  CHECK(options({"--fail-if-inconclusive=125", "--fail-if-slower=5", "./old"})
            .gates.inconclusive_status == 125);
  CHECK_FALSE(options({"./old"}).gates.max_half_width.has_value());
  CHECK(options({"--precision", "0.5", "./old"}).gates.max_half_width == 0.005);
  CHECK(options({"--precision=2%", "./old"}).gates.max_half_width == 0.02);
  CHECK(options({"--precision=2%", "./old"}).gates.precision_metric == "wall_time");
  CHECK(options({"--precision", "cycles:u:3", "./old"}).gates.max_half_width == 0.03);
  CHECK(options({"--precision", "cycles:u:3", "./old"}).gates.precision_metric == "cycles:u");
  CHECK_FALSE(parsed({"--precision", "cpu_time:", "./old"}));
}

TEST_CASE("--confidence is a percentage, kept as a fraction") {
  CHECK(with({"--confidence", "99"}).gates.confidence == doctest::Approx(0.99).epsilon(1e-15));
  CHECK(with({"--confidence=50%"}).gates.confidence == 0.5);
}

TEST_CASE("hooks: --setup, --prepare, --conclude, --cleanup, each as often as it is given") {
  const Options o = with({"-s", "a", "-p", "b", "--prepare", "c d", "-C", "e", "--cleanup=f"});
  CHECK(o.commands.hooks[HookKind::Setup] == Words{"a"});
  CHECK(o.commands.hooks[HookKind::Prepare] == Words{"b", "c d"});
  CHECK(o.commands.hooks[HookKind::Conclude] == Words{"e"});
  CHECK(o.commands.hooks[HookKind::Cleanup] == Words{"f"});
}

TEST_CASE("--env is split as a shell does, --output may be given for each command") {
  const Options o = with({"--env", "A=1 B=\"two words\" C='x=y'", "--env", "{V}=2", "--output",
                          "pipe", "--show-output"});
  REQUIRE(o.commands.environment.size() == 2);
  CHECK(o.commands.environment[0] == Words{"A=1", "B=two words", "C=x=y"});
  CHECK(o.commands.environment[1] == Words{"{V}=2"});
  REQUIRE(o.commands.outputs.size() == 2);
  CHECK(o.commands.outputs[1].kind == OutputKind::Inherit);
}

TEST_CASE("an option of several words takes just these, in any place") {
  const Options o = options({"-L", "n", "1,2", "./old {n}", "-qP", "m", "-1", "4", "./new {m}",
                             "--parameter-list", "k", "-a,", "-D", "0.5"});
  CHECK(o.commands.command_lines == Words{"./old {n}", "./new {m}"});
  CHECK(o.output.verbosity == Verbosity::Quiet);
  REQUIRE(o.commands.parameters.size() == 3);
  CHECK(o.commands.parameters[0].name == "n");
  CHECK(o.commands.parameters[0].values == Words{"1", "2"});
  CHECK(o.commands.parameters[1].is_scan);
  CHECK(o.commands.parameters[1].min == "-1");
  CHECK(o.commands.parameters[1].max == "4");
  CHECK(o.commands.parameters[1].step == "0.5");
  CHECK(o.commands.parameters[2].values == Words{"-a", ""});
}

TEST_CASE("a backslash keeps a comma in a value") {
  CHECK(with({"-L", "n", "a\\,b,c\\\\,\\d"}).commands.parameters.at(0).values ==
        Words{"a,b", "c\\", "\\d"});
}

TEST_CASE("one step serves all scans, or each has its own, in their order") {
  const Options o = with({"-D", "2", "-P", "a", "1", "9", "-P", "b", "1", "9", "-D", "3"});
  CHECK(o.commands.parameters.at(0).step == "2");
  CHECK(o.commands.parameters.at(1).step == "3");
  const Options one = with({"-P", "a", "1", "9", "-P", "b", "1", "9", "-D", "3"});
  CHECK(one.commands.parameters.at(0).step == "3");
  CHECK(with({"-P", "a", "1", "9"}).commands.parameters.at(0).step.empty());
}

TEST_CASE("--metrics: default, time, all, or a list") {
  CHECK(with({"--metrics", "time"}).counting.metric_selection == MetricSelection::Time);
  CHECK(with({"--metrics", "all"}).counting.metric_selection == MetricSelection::All);
  const Options o = with({"--metrics", "wall_time:ms,cpu/event=1,umask=2/,peak_rss"});
  CHECK(o.counting.metric_selection == MetricSelection::Listed);
  CHECK(o.counting.listed_metrics == Words{"wall_time:ms", "cpu/event=1,umask=2/", "peak_rss"});
  CHECK(with({"--metrics", "peak_rss", "--metrics", "default"}).counting.metric_selection ==
        MetricSelection::Default);
}

TEST_CASE("output: --export-csv, --export-runs, --color, -q, -v, --no-progress") {
  using Targets = std::vector<ExportTarget>;
  CHECK(with({"--export-csv", "-"}).output.exports ==
        Targets{{ExportKind::Csv, "-", "export-csv"}});
  CHECK(
      with({"--export-runs=r.csv", "--export-json", "a", "--export-json", "b"}).output.exports ==
      Targets{{ExportKind::Runs, "r.csv", "export-runs"}, {ExportKind::Json, "b", "export-json"}});
  CHECK(with({"--color", "auto"}).output.color == ColorChoice::Auto);
  CHECK(with({"--color", "always"}).output.color == ColorChoice::Always);
  CHECK(with({"--color", "never"}).output.color == ColorChoice::Never);
  CHECK(with({"-v", "-q"}).output.verbosity == Verbosity::Quiet);
  CHECK(with({"--quiet", "--verbose"}).output.verbosity == Verbosity::Verbose);
  CHECK_FALSE(with({"--no-progress"}).output.shows_progress);
}

TEST_CASE("hyperfine's words for what lauka has: --style, --min-benchmarking-time, --sort, -i") {
  CHECK(with({"--style", "basic"}).output.color == ColorChoice::Never);
  CHECK_FALSE(with({"--style", "basic"}).output.shows_progress);
  CHECK(with({"--style", "nocolor"}).output.color == ColorChoice::Never);
  CHECK(with({"--style", "nocolor"}).output.shows_progress);
  CHECK(with({"--style", "full"}).output.color == ColorChoice::Always);
  CHECK(with({"--style", "color"}).output.color == ColorChoice::Always);
  CHECK_FALSE(with({"--style", "color"}).output.shows_progress);
  CHECK(with({"--style", "none"}).output.verbosity == Verbosity::Quiet);
  CHECK(with({"--style=auto"}).output.color == ColorChoice::Auto);
  CHECK_FALSE(parsed({"--style", "fancy", "--", "a"}));
  CHECK(with({"--min-benchmarking-time", "2"}).run.time_per_command ==
        with({"--duration", "2s"}).run.time_per_command);
  CHECK(with({"--min-benchmarking-time=1.5"}).run.time_per_command ==
        with({"-d", "1.5"}).run.time_per_command);
  CHECK(options({"--", "--min-benchmarking-time"}).commands.command_lines ==
        Words{"--min-benchmarking-time"});
  CHECK(with({"--sort", "mean-time"}).output.presentation.sort == SortChoice::Time);
  CHECK(with({"--sort", "auto"}).output.presentation.sort == SortChoice::Command);
  CHECK(with({"--ignore-failure=all-non-zero"}).run.ignore_failure->ignores_all);
}

TEST_CASE("how tables look: --table, --sort, --marks, --time-unit") {
  CHECK(with({}).output.presentation.marks == MarksChoice::Auto);
  CHECK(with({"--marks", "text"}).output.presentation.marks == MarksChoice::Text);
  CHECK(with({"--marks=emoji"}).output.presentation.marks == MarksChoice::Emoji);
  CHECK(with({}).output.presentation.table == TableChoice::Auto);
  CHECK(with({"--table", "full"}).output.presentation.table == TableChoice::Full);
  CHECK(with({"--table=compact"}).output.presentation.table == TableChoice::Compact);
  CHECK(with({}).output.presentation.sort == SortChoice::Command);
  CHECK(with({"--sort", "time"}).output.presentation.sort == SortChoice::Time);
  CHECK(with({}).output.presentation.time_unit == nullptr);
  CHECK(with({"-u", "ms"}).output.presentation.time_unit == find_display_unit("ms"));
  CHECK(with({"--time-unit", "min"}).output.presentation.time_unit == find_display_unit("min"));
  CHECK(with({"-u", "millisecond"}).output.presentation.time_unit == find_display_unit("ms"));
  CHECK(with({"-usecond"}).output.presentation.time_unit == find_display_unit("s"));
  CHECK(parsed({"-u", "MiB", "--", "a"}).error().line() ==
        "--time-unit 'MiB' is not a unit of time; write ns, us, ms, s or min");
}

TEST_CASE("blanks around the names of a list are no part of them") {
  CHECK(with({"--metrics", "wall_time, peak_rss"}).counting.listed_metrics ==
        Words{"wall_time", "peak_rss"});
  CHECK(with({"-e", " cycles , branches"}).counting.events == Words{"cycles", "branches"});
  CHECK_FALSE(parsed({"-e", "cycles, ", "--", "a"}));
}

TEST_CASE("help and version are answered without a command, whatever follows") {
  CHECK(options({"-h", "--bogus"}).inquiry.value().kind == InquiryKind::BriefHelp);
  CHECK(options({"./old", "--help"}).inquiry.value().kind == InquiryKind::Help);
  CHECK(options({"-V"}).inquiry.value().kind == InquiryKind::Version);
  CHECK(options({"--version", "-h"}).inquiry.value().kind == InquiryKind::Version);
}

TEST_CASE("the word after --help is its topic, even if it is an option that needs a value") {
  const auto topic_of = [](const Words& words) {
    return options(words).inquiry.value().filter_or_topic;
  };
  CHECK(topic_of({"--help", "gates"}) == "gates");
  CHECK(topic_of({"--help", "--shell"}) == "--shell");
  CHECK(topic_of({"--help", "-S"}) == "-S");
}

TEST_CASE("letters combine, and the last one's value may follow with or without =") {
  for (const Words& words : {Words{"-iqr10"}, Words{"-iqr", "10"}, Words{"-iqr=10"}}) {
    CAPTURE(words.front());
    const Options o = with(words);
    CHECK(o.run.ignore_failure.value().ignores_all);
    CHECK(o.output.verbosity == Verbosity::Quiet);
    CHECK(o.run.runs == 10);
  }
  CHECK(with({"-n=a"}).commands.names == Words{"a"});
  CHECK(with({"-nr5"}).commands.names == Words{"r5"});
}

TEST_CASE("--profile takes a period, which must be from 50us to 1s, and has functions") {
  using namespace std::chrono_literals;
  CHECK_FALSE(with({}).counting.profiling_period.has_value());
  CHECK(with({"--profile"}).counting.profiling_period == 1ms);
  CHECK(with({"--profile=250us"}).counting.profiling_period == 250us);
  for (const char* const wrong : {"--profile=49us", "--profile=1001ms", "--profile=often"})
    CHECK_FALSE(parsed({wrong, "./old"}));
  CHECK(parsed({"--profile", "--functions", "./old"}));
}

TEST_CASE("--functions takes a number of rows or a regular expression, and needs Cachegrind") {
  const auto functions = [](const std::string& option) {
    return with({"--engine", "dhat,cachegrind", option}).output.presentation.functions;
  };
  CHECK(functions("--functions") == FunctionChoice{});
  CHECK(functions("--functions=5") == FunctionChoice{5, ""});
  CHECK(functions("--functions=^parse") == FunctionChoice{20, "^parse"});
  CHECK(functions("--functions=3x") == FunctionChoice{20, "3x"});
  for (const char* const wrong :
       {"--functions=0", "--functions=(", "--functions=-1", "--functions=1.5", "--functions=+5"})
    CHECK_FALSE(parsed({"--engine", "cachegrind", wrong, "./old"}));
  CHECK_FALSE(parsed({"--functions", "./old"}));
  CHECK_FALSE(parsed({"--engine", "dhat", "--functions", "./old"}));
  CHECK(parsed({"--from", "a.json", "--functions"}));
}

TEST_CASE("a gate on a function needs Cachegrind, and its name may have quotes and operators") {
  const auto metric = [](const std::string& gate) {
    return with({"--engine", "cachegrind", "--fail-if", gate}).gates.conditions.at(0).metric;
  };
  CHECK(metric("instructions@parse > 1") == "instructions@parse");
  CHECK(metric("instructions@\"operator new(unsigned long)\" > 1") ==
        "instructions@operator new(unsigned long)");
  CHECK(metric("instructions@a::f<int, b>(c) const > 1") == "instructions@a::f<int, b>(c) const");
  CHECK(metric("instructions@operator<<> 1") == "instructions@operator<<");
  CHECK_FALSE(parsed({"--fail-if", "instructions@parse > 1", "./old", "./new"}));
}

TEST_CASE("of an option given twice the last counts") {
  CHECK(with({"-r", "5", "--runs", "6", "-r7"}).run.runs == 7);
  CHECK(with({"--color", "never", "--color", "always"}).output.color == ColorChoice::Always);
}

TEST_CASE("--tune takes switches and CPUs in one list") {
  CHECK_FALSE(with({}).run.tune);
  CHECK(with({"--tune"}).run.tune.value().choices.empty());
  const TuneRequest request = with({"--tune=+smt,cpus=1-2,5,-turbo"}).run.tune.value();
  REQUIRE(request.choices.size() == 2);
  CHECK(request.choices[0].name == "smt");
  CHECK(request.choices[0].on);
  CHECK(request.choices[1].name == "turbo");
  CHECK_FALSE(request.choices[1].on);
  CHECK(request.cpus == std::vector<std::uint32_t>{1, 2, 5});
  for (const char* const wrong : {"smt", "+", "+smt,,", "5", "cpus=", "cpus=1,1", "cpus=5-1"})
    CHECK_MESSAGE(!parsed({std::string("--tune=") + wrong, "./old"}), wrong);
  CHECK_FALSE(request.compares);
  CHECK(with({"--tune=-turbo,compare"}).run.tune.value().compares);
  const auto list = parsed({"--tune=list,+smt"}).value();
  CHECK(list.inquiry.value().kind == InquiryKind::TuneList);
}

namespace {

/// A question is alone: nothing is run.
bool asks(const OptionInfo& option) {
  return option.name == "list-events" || option.name == "list-metrics" || option.name == "check" ||
         option.name == "threads" || option.name == "untune";
}

}  // namespace

TEST_CASE("every option of the table is understood by its name and by its letter") {
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    std::string value;
    if (option.value_form != ValueForm::Nothing) {
      // The first of the choices, or something that suits any other option that takes one.
      value =
          option.value_placeholder.find('|') == std::string_view::npos
              ? "99"
              : std::string(option.value_placeholder.substr(0, option.value_placeholder.find('|')));
      if (option.name == "fail-if" || option.name == "keep-if") {
        value = "wall_time>99";
      } else if (option.name == "core-kinds") {
        value = "P=0,E=1";
      }
      if (option.name == "env") value = "A=99";
      if (option.name == "label") value = "a=99";
      if (option.name == "profile") value = "99ms";
      if (option.name == "tune") value = "+smt,cpus=1-2,5,-turbo";
      if (option.name == "derive" || option.name == "scrape") value = "x=(wall_time)";
    }
    // For --reference-name, --fail-if-inconclusive and -D.
    Words words = {"--reference", "./older", "./old", "--fail-if-slower", "-P", "n", "1", "9"};
    if (option.value_form == ValueForm::TwoWords || option.value_form == ValueForm::ThreeWords) {
      const Words own =
          option.value_form == ValueForm::TwoWords ? Words{"m", "1"} : Words{"m", "1", "2"};
      for (const std::string& spelled : {option.spelling(), std::string{'-', option.letter}}) {
        Words all = words;
        all.push_back(spelled);
        all.insert(all.end(), own.begin(), own.end());
        CHECK_MESSAGE(parsed(all).has_value(), spelled);
      }
      continue;
    }
    if (option.name == "from" || option.name == "suite") words.clear();
    if (option.name == "shard") value = "9/99";
    if (option.rules.needs_suite && option.name != "suite") words = {"--suite", "suite.toml"};
    if (option.name == "series") words.emplace_back("--keep-if-faster");
    if (option.name == "baseline") words.erase(words.begin(), words.begin() + 2);
    if (option.name == "race") words = {"./older", "./old"};
    if (option.name == "functions") words.insert(words.begin(), {"--engine", "cachegrind"});
    if (option.name == "call-graph" || option.name == "paths" || option.name == "export-folded" ||
        option.name == "export-speedscope")
      words.insert(words.begin(), "--profile");
    if (option.name == "interval") words = {"--threads", "1"};
    if (option.name.starts_with("build"))
      words.insert(words.end(), {"--layouts", "9", "--build", "make"});
    if (option.name == "kpep") words.insert(words.begin(), "--explain-events");
    if (!option.name.empty()) {
      words.push_back(option.spelling() + (value.empty() ? "" : "=" + value));
      CHECK_MESSAGE(parsed(asks(option) ? Words{words.back()} : words).has_value(), words.back());
      words.pop_back();
    }
    if (option.letter != '\0') {
      words.push_back(std::string{'-', option.letter} + value);
      CHECK_MESSAGE(parsed(option.letter == 'l' ? Words{words.back()} : words).has_value(),
                    words.back());
    }
  }
}

TEST_CASE("no name and no letter is in the table twice, and its groups are whole") {
  std::set<std::string> seen;
  OptionSection group = OptionSection::Runs;
  for (const OptionInfo& option : option_table()) {
    CAPTURE(option.spelling());
    CHECK((option.name.empty() || seen.insert(std::string(option.name)).second));
    CHECK((option.letter == '\0' || seen.insert(std::string{option.letter}).second));
    CHECK((option.value_form == ValueForm::Nothing) == option.value_placeholder.empty());
    CHECK(option.group >= group);
    group = option.group;
  }
}

namespace {

std::string kinds(const char* value) {
  const auto options = parsed({"--core-kinds", value, "true"});
  if (!options) return options.error().line();
  std::string text;
  for (const CoreKind& kind : options->counting.core_kinds)
    text += kind.name + "=" + cpu_list_text(kind.cpus) + " ";
  return text;
}

}  // namespace

TEST_CASE("kinds of core are named with their CPUs; a comma before a name begins the next") {
  CHECK(kinds("P=0-3,E=4-7") == "P=0-3 E=4-7 ");
  CHECK(kinds("P=0-3,8,E=4-7,9,LP=10") == "P=0-3,8 E=4-7,9 LP=10 ");
}

TEST_CASE("kinds of core that contradict themselves are refused in one line") {
  CHECK(kinds("P=0-3,E=3-7") ==
        "--core-kinds 'P=0-3,E=3-7' has CPU 3 in both P and E; put each CPU into one kind");
  CHECK(kinds("P=0,0,E=1") == "--core-kinds 'P=0,0,E=1' names CPU 0 twice; name each CPU once");
  CHECK(kinds("P=0,p=1") == "--core-kinds 'P=0,p=1' names p twice; put each CPU into one kind");
  CHECK(kinds("P=0-3") ==
        "--core-kinds 'P=0-3' names only one kind of core; write, for example, P=0-3,E=4-7");
  CHECK(kinds("P=0,cpu=1") ==
        "--core-kinds 'P=0,cpu=1' would make a second metric cpu_time; use another name");
  CHECK(kinds("P=,E=1") ==
        "--core-kinds 'P=,E=1' has no CPUs for P; write, for example, P=0-3,E=4-7");
  CHECK(kinds("0-3") ==
        "--core-kinds '0-3' has '0-3' where the name of a kind of core belongs; write, for "
        "example, P=0-3,E=4-7");
  CHECK_FALSE(parsed({"--core-kinds", "P=a,E=1", "true"}).has_value());
  CHECK_FALSE(parsed({"--core-kinds", "P x=0,E=1", "true"}).has_value());
}

TEST_CASE("a kind of core is preferred by its letter") {
  CHECK(parsed({"--cores", "p", "true"})->counting.core_preference == CorePreference::Performance);
  CHECK(parsed({"--cores", "e", "true"})->counting.core_preference == CorePreference::Efficiency);
  CHECK(parsed({"--cores", "any", "true"})->counting.core_preference == CorePreference::Any);
  CHECK_FALSE(parsed({"--cores", "fast", "true"}).has_value());
}

TEST_CASE("the least share is a percentage above 0 and of at most 100") {
  CHECK(parsed({"--min-p-share", "95", "true"})->counting.min_p_share == doctest::Approx(0.95));
  check_order(answer_to({"--min-p-share", "101", "true"}), {"--min-p-share '101' ", " 100"});
  CHECK_FALSE(parsed({"--min-p-share", "0", "true"}).has_value());
}

TEST_CASE("--threads takes several processes with --interval, and each once") {
  const auto both = parsed({"--threads", "42,7,42", "--interval", "10ms", "-d", "2s"}).value();
  CHECK(both.inquiry->processes == std::vector<std::int32_t>{42, 7});
  CHECK(both.inquiry->output_interval == std::chrono::milliseconds(10));
  CHECK(both.inquiry->measuring_time == std::chrono::seconds(2));
  CHECK(answer_to({"--threads", "42,7"}) ==
        "--threads shows the table of one process; name only one, or add --interval 10ms to print "
        "JSON for all of them");
  CHECK(answer_to({"--interval", "10ms", "true"}) ==
        "--interval has no effect without --threads; add --threads PID, or leave it out");
  CHECK(answer_to({"--threads", "42", "--interval", "10us"}) ==
        "--interval '10us' is not between 1ms and 1h; write, for example, 10ms");
  CHECK_FALSE(parsed({"--threads", "42,", "--interval", "10ms"}).has_value());
  CHECK_FALSE(parsed({"--threads", "42", "--interval", "2h"}).has_value());
}

TEST_CASE("--threads takes a process, and with -d how long to look") {
  const auto born = parsed({"--threads", "42"}).value();
  CHECK(born.inquiry->processes == std::vector<std::int32_t>{42});
  CHECK_FALSE(born.inquiry->measuring_time.has_value());
  const auto during = parsed({"--threads", "42", "-d", "2s"});
  REQUIRE(during.has_value());
  CHECK(during->inquiry->measuring_time == std::chrono::seconds(2));
  check_order(answer_to({"--threads", "42", "true"}), {"--threads ", " 'true' ", "; leave it out"});
  CHECK_FALSE(parsed({"--threads", "0"}).has_value());
  CHECK_FALSE(parsed({"--threads", "self"}).has_value());
}

}  // namespace lauka::cli

#include "cli/option_details.h"

#include <algorithm>
#include <array>

namespace lauka::cli {
namespace {

constexpr auto kDetails = std::to_array<OptionDetails>({
    {"runs",
     "Warm-up runs and runs that count events are not among the N. With --layouts, N must be a "
     "multiple of the number of layouts. The options --min-runs, --max-runs and --precision are "
     "refused with -r.",
     "lauka -r 20 ./old ./new"},
    {"min-runs",
     "lauka stops when --duration is used up and N runs are done. The option is refused with -r.",
     "lauka -m 30 ./old ./new"},
    {"max-runs", "The option is refused with -r.", "lauka -M 100 ./old ./new"},
    {"duration",
     "TIME is, for example, 5s, 500ms or 2m. A bare number is in seconds. TIME includes timed, "
     "counting and sampled runs, with their --prepare and --conclude. Warm-up runs, simulated "
     "runs, --setup, --cleanup and --build need additional time. lauka continues after TIME until "
     "--min-runs is reached, and with an undecided gate for up to four times TIME. With --threads, "
     "TIME says how long to watch the process.",
     "lauka -d 30s ./old ./new"},
    {"warmup", "Warm-up runs fill the caches. --prepare and --conclude are run for them, too.",
     "lauka -w 3 ./old ./new"},
    {"order",
     "With random, each round runs every command once, in an order that is shuffled for the round. "
     "With interleaved, each round has the order in which you gave the commands. With sequential, "
     "lauka finishes the runs of one command before it begins the next. If --setup or --cleanup is "
     "given, the default is sequential, because the setup of one command may undo that of another.",
     "lauka --order interleaved ./old ./new"},
    {"seed", "The seed of a session is in the file that --export-json writes.",
     "lauka --seed 7 ./old ./new"},
    {"precision",
     "lauka stops as soon as it knows every delta of wall time, or of METRIC, to within PCT "
     "percentage points. With one command, it has to know the mean to within PCT percent. lauka "
     "stops without this precision when --max-runs is reached or --duration is used up. The option "
     "is refused with -r.",
     "lauka --precision 1 -d 1m ./old ./new"},
    {"race",
     "Use this option to find the fastest of many commands. lauka runs them in common rounds, and "
     "drops a command as soon as it is significantly slower than another one. The time that this "
     "command did not use goes to the others. The race ends when one command is left, when the "
     "rest are shown to be within PCT percent of each other, or when --duration is used up. The "
     "last line names the fastest command, and is wrong in at most 5% of races (see --confidence). "
     "The race compares the first metric of --metrics. Gates, --baseline, --precision and -r are "
     "refused with --race.",
     "lauka --race -P threads 1 64 './prog --threads {threads}'"},
    {"timeout", "lauka also kills everything that the run has started.",
     "lauka --timeout 10s ./old ./new"},
    {"jobs",
     "Wall time covers all copies, CPU time is their sum, and throughput is N / wall time. Each "
     "copy finds its number, from 0, in the variable LAUKA_JOB. If one copy fails, the run has "
     "failed, and lauka kills the other copies. The option is refused with --until.",
     "lauka --jobs 4 ./old ./new"},
    {"until",
     "Use this option for a server that prints a line when it is ready. Wall time is measured up "
     "to that line. lauka then sends SIGTERM to the process group and, 2 s later, SIGKILL. A run "
     "that is stopped in this way has not failed, but a run that ends before such a line has. The "
     "options --jobs, --scrape and --expect-output and simulation with Valgrind are refused with "
     "--until.",
     "lauka --until 'listening on' ./server-old ./server-new"},
    {"layouts",
     "Write {layout}, which stands for the numbers from 1 to N, into the commands and into "
     "--build. It also works in names, hooks, --env, --cwd, --input, --output and --expect-output. "
     "Deltas, gates and --precision then compare layouts instead of single runs. docs/layouts.md "
     "explains when this is worth the time.",
     "lauka --layouts 8 --build 'make L={layout}' './app-{layout}'"},
    {"build",
     "lauka runs CMD with sh -c. --duration and --timeout do not apply to it. Give the option once "
     "for all commands, or once per command.",
     "lauka --layouts 8 --build 'make L={layout}' './app-{layout}'"},
    {"build-jobs", "See --build for an example of a build."},
    {"command-name",
     "Give the option once per command, in the order of the commands. The command of --reference "
     "is not one of them. Its name is set with --reference-name.",
     "lauka -n old -n new ./build-1/app ./build-2/app"},
    {"reference",
     "lauka runs COMMAND as the first command. If there are parameters, lauka compares each "
     "command with it at the same values of {VAR}. With --from, COMMAND is the name of a saved "
     "command. The option is refused with --baseline.",
     "lauka --reference ./old ./new-1 ./new-2"},
    {"reference-name", "Without --reference, the option is refused.",
     "lauka --reference ./old --reference-name old ./new"},
    {"shell",
     "The word 'default' stands for sh. lauka measures how long the shell takes to start, and "
     "subtracts that from wall time and CPU time.",
     "lauka --shell bash 'echo {1..100} | wc' 'seq 100 | wc'"},
    {"-S",
     "Use it for pipelines, variables, wildcards and other shell syntax, and quote each command as "
     "a whole. lauka measures how long the shell takes to start, and subtracts that from wall time "
     "and CPU time.",
     "lauka -S 'sort a.txt | uniq' 'sort -u a.txt'"},
    {"-N", "This is the default.", "lauka -N ./old ./new"},
    {"ignore-failure",
     "If you give exit statuses (128 + N for signal N), lauka continues only after a run that "
     "ended with one of them, and counts such a run as a success. Deltas and gates leave failed "
     "runs out. A gate between commands that fail at different rates is inconclusive. If every run "
     "of a gated command fails, lauka exits with status 1.",
     "lauka -i=1 'grep -q needle a.txt' 'rg -q needle a.txt'"},
    {"setup",
     "lauka runs CMD with sh -c. Give the option once for all commands, or once per command. You "
     "can also give --prepare, --conclude, --cleanup, --env, --cwd, --input, --output and "
     "--expect-output once per command.",
     "lauka --setup 'make clean all' ./old ./new"},
    {"prepare",
     "lauka runs CMD with sh -c. The variable LAUKA_ITERATION tells it which run this is: 0, 1, "
     "... for timed runs, and warmup-0, ... for warm-up runs. Give the option once for all "
     "commands, or once per command.",
     "lauka --prepare 'rm -rf out' './old --out out' './new --out out'"},
    {"conclude",
     "lauka runs CMD with sh -c. The variable LAUKA_ITERATION tells it which run this is: 0, 1, "
     "... for timed runs, and warmup-0, ... for warm-up runs. Give the option once for all "
     "commands, or once per command.",
     "lauka --conclude 'rm -rf out' './old --out out' './new --out out'"},
    {"cleanup",
     "lauka runs CMD with sh -c, even after you press Ctrl-C. Give the option once for all "
     "commands, or once per command.",
     "lauka --cleanup 'rm -rf out' './old --out out' './new --out out'"},
    {"env", "Give the option once for all commands, or once per command.",
     "lauka --env LC_ALL=C --env LC_ALL=C.UTF-8 'sort a.txt' 'sort a.txt'"},
    {"cwd",
     "Relative paths in the command and its hooks begin in DIR. The FILE of --input or --output "
     "remains relative to the folder in which you started lauka. Give the option once for all "
     "commands, or once per command.",
     "lauka --cwd old --cwd new './app' './app'"},
    {"input",
     "lauka opens FILE again for each run. Give the option once for all commands, or once per "
     "command.",
     "lauka --input words.txt 'sort' 'sort -u'"},
    {"output",
     "With null, the output disturbs the measurement least, but GNU grep then stops at its first "
     "match. With pipe, grep does all of its work. With inherit, you see the output. Give the "
     "option once for all commands, or once per command.",
     "lauka --output pipe 'grep a words.txt' 'rg a words.txt'"},
    {"expect-output",
     "lauka compares the output of each command's first run with that of the reference (same), "
     "with FILE, or with a hash. If an output is different, lauka shows the first difference and "
     "exits with status 1. The option is refused with --until.",
     "lauka --expect-output same './old in.txt' './new in.txt'"},
    {"parameter-list",
     "lauka replaces {VAR} in the command and its name, and in the values of --setup, --prepare, "
     "--conclude, --cleanup, --build, --env, --cwd, --input, --output and --expect-output. If you "
     "give the option several times, lauka measures all combinations.",
     "lauka -L threads 1,2,4 'make -j {threads}'"},
    {"parameter-scan", "See --parameter-list for where lauka replaces {VAR}.",
     "lauka -P level 1 9 'gzip -{level} -k -f a.txt'"},
    {"parameter-step-size",
     "Give the option once for all scans, or once per scan. Without --parameter-scan, it is "
     "refused.",
     "lauka -P size 100 500 -D 100 './app {size}'"},
    {"as-root", "Without this option, the commands run as the user who called sudo.",
     "sudo lauka --as-root ./old ./new"},
    {"tune",
     "lauka restores everything when it ends, even if it is killed. +NAME adds a setting, -NAME "
     "leaves one out, and cpus=2-5 chooses the CPUs of the commands. With compare, a quarter of "
     "the runs is not tuned, and lauka reports what tuning has changed. --tune=list shows all "
     "settings that lauka can change, and runs nothing.",
     "sudo lauka --tune=+smt,-turbo ./old ./new"},
    {"untune", "The next session that has the same rights undoes these changes, too.",
     "sudo lauka --untune"},
    {"event", "You may repeat the option. lauka -l lists the events.",
     "lauka -e +l1d-cache-misses ./old ./new"},
    {"engine",
     "The engine auto chooses the best engine that works on this machine: kperf on macOS, or perf "
     "on Linux. The engine cachegrind simulates instructions, branches and caches with Valgrind, "
     "in a few extra runs that are not timed. The engine dhat counts allocations in the same way, "
     "and cachegrind,dhat does both. With none, nothing is counted.",
     "lauka --engine cachegrind ./old ./new"},
    {"counting",
     "Counting slows a run down. With apart, times therefore come from runs that count nothing, "
     "and counts come from other runs. With together, each timed run also has counts, so that you "
     "can relate the two.",
     "lauka --counting together ./old ./new"},
    {"single-pass",
     "Without this option, lauka counts the events in several passes. Each pass counts events that "
     "the counters can count at once. lauka --explain-events shows the passes.",
     "lauka --single-pass -e l1d-cache-misses,branch-misses ./old ./new"},
    {"strategy",
     "With exit, lauka samples the counters of each thread as it ends. With pet, it samples "
     "running threads. With cpu, it counts the whole machine. With auto, it uses the first of "
     "these that counts a known command completely.",
     "sudo lauka --strategy pet ./old ./new"},
    {"period", "The kernel allows no shorter period than 1ms.",
     "sudo lauka --period 2ms ./old ./new"},
    {"metrics",
     "lauka shows the rows in the order of LIST. You may add a unit to a name. lauka counts an "
     "event if it is shown or asked for. The JSON and CSV exports always contain everything that "
     "was measured.",
     "lauka --metrics wall_time:ms,peak_rss:MiB,instructions ./old ./new"},
    {"scrape",
     "lauka reads the first group of the last match of REGEX in each run's standard output or, if "
     "nothing matches there, in its standard error. You may repeat the option. A program can also "
     "write its metrics to the file that the variable LAUKA_METRICS names. The option is refused "
     "with --until.",
     "lauka --scrape 'rate:higher=([0-9.]+) requests/s' ./old ./new"},
    {"region",
     "The program calls lauka_region_begin() and lauka_region_end(), which are in lauka/region.h. "
     "lauka then shows region_time, and counts events in that part only. --metrics all also shows "
     "the metrics of the whole run.",
     "lauka --region ./old ./new"},
    {"profile",
     "lauka takes a sample after every PERIOD of CPU time (default 1ms). Sampled runs are not "
     "timed. A gate such as --fail-if 'sampled_time@FUNCTION > 5' limits a single function. "
     "docs/functions.md explains the output.",
     "lauka --profile ./old ./new"},
    {"call-graph",
     "With fp, the kernel follows the frame pointers on the stack, so that lauka knows the calls "
     "that led to each sample. The programs and their libraries should be compiled with "
     "-fno-omit-frame-pointer. If the beginning of a path is unknown, lauka puts the path below "
     "the "
     "frame (stack incomplete). The option needs --profile.",
     "lauka --profile --call-graph none ./old ./new"},
    {"derive",
     "FORMULA consists of names of metrics and events, numbers, + - * / and parentheses. lauka "
     "computes it in each run that has all parts, and counts the events in it without -e. You may "
     "repeat the option. The metrics mpki, branch_miss_rate, cache_miss_rate, cpu_utilization, "
     "clock and, on Intel processors, topdown_retiring, topdown_bad_speculation, "
     "topdown_frontend_bound and topdown_backend_bound are built in. lauka shows these if you name "
     "them, and with --metrics all.",
     "lauka --derive 'miss_share=cache-misses/instructions' ./old ./new"},
    {"percentiles",
     "The row wall_time.p90 shows the time that 90 percent of the runs do not exceed, and the "
     "confidence interval of this time. lauka needs at least 36 runs for p90 and 368 runs for p99. "
     "A gate can limit such a row: --fail-if 'wall_time.p99 > 5'.",
     "lauka --percentiles 50,90 -m 100 ./old ./new"},
    {"core-kinds", "", "lauka --core-kinds P=0-3,E=4-7 ./old ./new"},
    {"cores",
     "On Linux, lauka sets the CPU affinity of the commands. On macOS, it sets their "
     "quality-of-service class. With any (the default), the system chooses.",
     "lauka --cores p ./old ./new"},
    {"min-p-share",
     "lauka repeats such a run at most 3 times. If this does not help, lauka prints a warning.",
     "lauka --min-p-share 95 ./old ./new"},
    {"threads",
     "The table shows the time, the cycles, the instructions and the IPC of each thread since it "
     "started. With -d TIME, lauka watches the process for TIME, and shows the values of that "
     "time. With --interval, lauka watches several processes.",
     "lauka --threads 4711 -d 2s"},
    {"interval",
     "TIME is between 1ms and 1h. lauka prints until the processes end, the time of -d has passed, "
     "or you press Ctrl-C.",
     "lauka --threads 4711 --interval 100ms"},
    {"list-events", "With TEXT, lauka lists only the events that contain TEXT.", "lauka -l cache"},
    {"list-metrics",
     "The list shows the name, the unit and the meaning of each metric, and says whether lauka can "
     "measure it on this machine.",
     "lauka --list-metrics"},
    {"explain-events",
     "lauka shows the counter of each event of -e, the number of passes, and which events compete "
     "for which counters.",
     "lauka --explain-events -e l1d-cache-misses,branch-misses"},
    {"kpep",
     "lauka then shows the events in FILE instead of those of this machine. This works on any "
     "system and without root.",
     "lauka --list-events --kpep a14.plist"},
    {"from",
     "FILE was written by --export-json or by hyperfine. All words after the option are files, "
     "too. lauka compares commands of one session within its rounds, and those of different "
     "sessions as independent samples. --reference NAME chooses the command that the others are "
     "compared with. If you give one file and no gate, lauka repeats the gates that are saved in "
     "it, and they decide the exit status. Options that change how commands are run are refused.",
     "lauka --from old.json new.json"},
    {"suite",
     "lauka interleaves the rounds of the benchmarks, and shows a row for each of them and the "
     "geometric mean of the changes. The options of a benchmark take precedence over those of the "
     "command line. Those of the command line take precedence over [defaults] in the file.",
     "lauka --suite bench.toml"},
    {"only", "", "lauka --suite bench.toml --only '^parse'"},
    {"shard", "Each benchmark belongs to exactly one part.",
     "lauka --suite bench.toml --shard 2/5"},
    {"resume",
     "lauka continues with the rounds that it kept in FILE.rounds, next to the FILE of "
     "--export-json. If there are no such rounds, the suite starts from the beginning.",
     "lauka --suite bench.toml --export-json out.json --resume"},
    {"anchor",
     "NAME is the command's name from -n, or else its text. lauka measures it in the same rounds "
     "as the others, so that sessions of different days can be compared.",
     "lauka --suite bench.toml --anchor v1.0"},
    {"fail-if-slower",
     "PCT is 0 if you leave it out. Use 1 or more, because two equal programs cannot be told from "
     "a limit of 0.",
     "lauka --fail-if-slower=2 ./old ./new"},
    {"fail-if",
     "You may repeat the option. 'instructions > 0.5' limits a change in percent, and 'ipc < -5' "
     "limits a drop. If the limit has a unit, it is a limit of the value itself, and no reference "
     "is needed: 'wall_time > 200ms', 'peak_rss > 64MiB'. For a metric without a unit, write "
     "'value(rate) > 5000'. lauka counts an event in a gate without -e. Without -r, runs go on "
     "until every gate is decided, for at most four times --duration. Until --duration is used up, "
     "a gate needs 10 rounds to fail and 57 to pass; after that, fewer can decide. To catch slow "
     "runs that happen less than once in 20, raise --min-runs.",
     "lauka --fail-if 'cpu_time > 2' --fail-if 'peak_rss > 5' ./old ./new"},
    {"accept",
     "Each [[accept]] table has a condition (as in --fail-if), a reason and the last day until; "
     "benchmark limits it to one benchmark of a suite. The gate on the same metric then tests this "
     "limit instead of its own. lauka names entries that have expired or are no longer needed.",
     "lauka --fail-if 'cpu_time > 2' --accept accepted.toml ./old ./new"},
    {"fail-if-inconclusive",
     "Without this option, lauka exits with status 0 in this case. With STATUS 125, git bisect run "
     "skips the commit.",
     "lauka --fail-if-slower=2 --fail-if-inconclusive ./old ./new"},
    {"keep-if-faster",
     "lauka needs exactly two commands, and the first one is the reference. PCT is 0 if you leave "
     "it out. The status is 5 if the second command is slower, if it is not faster by that much, "
     "or if the runs could not decide; the output says which. If a gate failed, the status is 3. "
     "--suite, --from and --baseline are refused.",
     "lauka --keep-if-faster=1 -- ./best ./candidate"},
    {"keep-if",
     "The condition is written as for --fail-if, but it says what you want: 'instructions < -1' "
     "keeps a command that executes at least 1 percent fewer instructions. 'ipc > 5' keeps a "
     "command whose value is at least 5 percent higher. 'peak_rss < 64MiB' keeps a command that "
     "stays below this value. You may repeat the option. All conditions must then hold.",
     "lauka --keep-if 'instructions < -1' -- ./best ./candidate"},
    {"series",
     "FILE remembers every decision. Each call gets its own level, so that the expected number of "
     "falsely kept candidates is at most 5 percent of the expected number kept (with a confidence "
     "of 95 percent). A candidate is false if its true gain is not larger than the limit. The "
     "first "
     "call creates FILE. Several calls may use it at the same time. Without commands, lauka shows "
     "the series, and --export-json exports it.",
     "lauka --series tries.jsonl --keep-if-faster=1 -- ./best ./candidate"},
    {"confidence",
     "A delta is the change of the typical round. With fewer than six rounds, or with values of 0, "
     "it is the change of the mean.",
     "lauka --confidence 99 ./old ./new"},
    {"baseline",
     "FILE is a file that --export-json has written, or a JSON file of hyperfine, which contains "
     "wall times only. If no command in FILE has the same name, lauka uses the command in the same "
     "position. The option is refused with --reference.",
     "lauka --baseline main.json ./new"},
    {"fdr",
     "With a confidence of 95 percent, on average at most 5 percent of the gates that fail are "
     "then false alarms. Without this option, the probability of any false alarm is at most 5 "
     "percent.",
     "lauka --suite bench.toml --fdr"},
    {"label",
     "You may repeat the option. In a git repository, lauka adds the labels commit, branch and "
     "dirty (yes or no) itself.",
     "lauka --label compiler=gcc-14 --export-json out.json ./old ./new"},
    {"no-git", "", "lauka --no-git --export-json out.json ./old ./new"},
    {"title", "Without this option, the title consists of the names of the commands.",
     "lauka --title 'Faster parser' --export-html out.html ./old ./new"},
    {"description", "", "lauka --description 'On CI' --export-html out.html ./old ./new"},
    {"table",
     "With auto (the default), lauka shows a compact table for five or more commands. For three or "
     "four commands, it shows a compact table before the full ones.",
     "lauka --table compact ./old ./new"},
    {"sort", "", "lauka --sort time ./a ./b ./c ./d ./e"},
    {"marks",
     "By default, lauka uses emoji in UTF-8 terminals, and text everywhere else, including "
     "Markdown.",
     "lauka --marks text ./old ./new"},
    {"time-unit", "", "lauka -u ms ./old ./new"},
    {"functions",
     "The option needs --engine cachegrind or --profile, or a saved session that was measured with "
     "one of them. ROWS is the number of functions to show, those with the largest differences "
     "first (default 20), or a regular expression for their names. With --engine cachegrind, lauka "
     "simulates each command three times, or six times if the counts vary.",
     "lauka --engine cachegrind --functions=10 ./old ./new"},
    {"paths",
     "The option needs --profile, or a saved session that was measured with it. lauka shows the "
     "call paths whose time differs significantly, with their callers, as a tree. If you measure a "
     "single command, it shows the paths that took the most time.",
     "lauka --profile --paths=20 ./old ./new"},
    {"histogram", "", "lauka --histogram ./old ./new"},
    {"color",
     "With auto, lauka uses colour on a terminal. The variable NO_COLOR switches that off, and "
     "CLICOLOR_FORCE switches colour on for any output.",
     "lauka --color always ./old ./new"},
    {"style",
     "The style nocolor is --color never, and full is --color always. The style basic is nocolor "
     "with --no-progress, and the style color is full with --no-progress. The style none is "
     "--quiet, and auto changes nothing.",
     "lauka --style basic ./old ./new"},
    {"quiet", "", "lauka -q --fail-if-slower=2 ./old ./new"},
    {"verbose",
     "lauka also shows all metrics, all warnings, and all differences that it sees between the two "
     "sides: compiler, recorded flags, size of the code, names of environment variables.",
     "lauka -v ./old ./new"},
    {"check",
     "lauka shows what it can measure, what it cannot measure and why, what makes times vary, and "
     "which command can help. --export-json writes the same information for programs.",
     "lauka --check"},
    {"help",
     "TOPIC is runs, commands, metrics, suite, gates, output, history, agents, or an option, as in "
     "--help seed or --help -S. You can also write TOPIC as the next word.",
     "lauka --help gates"},
    {"export-folded",
     "Each line contains the frames of a call path and its CPU time in microseconds: "
     "main;parse;read 1234. If two commands are compared, each line contains the times of both. "
     "flamegraph.pl, inferno and speedscope read the file. With more than two commands, FILE must "
     "contain {name}, and lauka writes a file for each candidate. The option needs --profile.",
     "lauka --profile --export-folded stacks.txt ./old ./new"},
    {"export-speedscope", "The option needs --profile.",
     "lauka --profile --export-speedscope profile.json ./old ./new"},
    {"export-csv",
     "If FILE is -, lauka writes to standard output. This works for all export options.",
     "lauka --export-csv - -q ./old ./new"},
    {"export-runs",
     "The file has a column for each metric, in seconds, bytes or counts. Other columns are the "
     "number of the run and of its round, the exit status and the outcome.",
     "lauka --export-runs runs.csv ./old ./new"},
    {"export-json",
     "docs/schema.json describes the file. lauka reads it with --from and --baseline.",
     "lauka --export-json out.json ./old ./new"},
    {"export-markdown",
     "The table shows the same rows as the terminal. Below it are the verdict and the gates. "
     "--metrics chooses the rows, and --table compact writes one row for each command. If FILE is "
     "-, the table is appended to standard output, so that you can add it to the summary of a job.",
     "lauka -q --export-markdown table.md ./old ./new"},
    {"export-asciidoc", "The table is the same as that of --export-markdown.",
     "lauka --export-asciidoc table.adoc ./old ./new"},
    {"export-orgmode", "The table is the same as that of --export-markdown.",
     "lauka --export-orgmode table.org ./old ./new"},
    {"export-jsonl",
     "Each line contains the command, its parameters, the exit status and the metrics of one run, "
     "in seconds, bytes or counts. pandas, jq and DuckDB can read the file.",
     "lauka --export-jsonl runs.jsonl ./old ./new"},
    {"export-bmf", "The file contains the mean of each metric, and the interval of the mean.",
     "lauka --export-bmf bencher.json ./old ./new"},
    {"export-benchfmt",
     "Compare the commands with: benchstat -col /command FILE. For a suite, write -col /role.",
     "lauka --export-benchfmt out.txt ./old ./new"},
    {"export-github-benchmark",
     "The format is customSmallerIsBetter, so metrics that are better when larger are left out.",
     "lauka --export-github-benchmark out.json ./old ./new"},
    {"export-html",
     "The page is a single file that needs no network. It begins with the verdict, and draws the "
     "charts of a metric when you open its section.",
     "lauka --export-html out.html ./old ./new"},
});

}  // namespace

OptionDetails details_of(const OptionInfo& option) {
  const std::string key = key_of(option);
  const auto* const found = std::ranges::find(kDetails, key, &OptionDetails::key);
  return found == kDetails.end() ? OptionDetails{} : *found;
}

}  // namespace lauka::cli

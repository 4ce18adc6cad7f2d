#include "cli/describe.h"
#include "cli/option_table.h"
#include "cli/suite.h"
#include "core/foreign_text.h"
#include "core/sha256.h"
#include "core/text.h"
#include "gate/verdict.h"
#include "invocation.h"
#include "os/clock.h"
#include "os/darwin_calls.h"
#include "os/files.h"
#include "os/signals.h"
#include "os/terminal.h"
#include "os/users.h"
#include "plan/gates.h"
#include "plan/told.h"
#include "report/lines.h"
#include "report/screen.h"
#include "results/analyse.h"
#include "run/kept_rounds.h"
#include "run/runner.h"
#include "run/suite.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

// A suite: the stages of main for each of its benchmarks, then one session of all.

namespace lauka {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // of a suite's file
constexpr std::size_t kMostOfLog = std::size_t{1} << 30U;

/// Where the rounds of a session are kept; none where no JSON is written to a file.
std::optional<std::string> log_of(const Options& options) {
  for (const ExportTarget& one : options.exports)
    if (one.kind == ExportKind::Json && one.file != "-" &&
        os::AppendLog::may_stand_beside(one.file))
      return one.file + ".rounds";
  return std::nullopt;
}

/// Returns the first line of a log; nullopt if a killed or full-disk session did not get so far.
Result<std::optional<KeptHead>> head_of_log(const std::string& text, const std::string& file) {
  const std::size_t end = text.find('\n');
  const std::string_view line = std::string_view(text).substr(0, end);
  if (end == std::string::npos &&
      (line.starts_with(KeptHead::kBegin) || KeptHead::kBegin.starts_with(line)))
    return std::optional<KeptHead>();
  auto head = head_of(line);
  if (head) return std::optional(*std::move(head));
  return Error{"--resume: " + cited(file) + " does not begin as this lauka's logs of rounds do",
               "begin again without --resume"};
}

/// The seed of the session that is gone on with decides its order.
Result<void> take_seed(const Invocation& call, Options& session) {
  if (!call.options.resumes) return {};
  session.resumes = true;
  const auto file = log_of(session);
  if (!file)
    return Error{"--resume goes on with the rounds kept beside the file of --export-json",
                 "add --export-json FILE, as it was when the suite was interrupted"};
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return Error{owner.error(), ""};
  const auto text = os::AppendLog::read(*file, kMostOfLog);
  if (!text) return text.error();
  const auto head = head_of_log(*text, *file);
  if (!head) return head.error();
  if (*head) session.seed = (*head)->seed;
  return {};
}

Result<cli::Suite> read_suite(const Invocation& call, std::string& kept_text) {
  const std::string& file = *call.options.suite;
  os::watch_for_interrupts();  // the file may be a named pipe
  const auto text = read_text(call, file, "--suite", kMostBytes);
  if (!text) return text.error();
  kept_text = *text;
  auto suite = cli::suite_of(call.options, *text);
  if (!suite) return suite;
  if (auto taken = take_seed(call, suite->session); !taken) return taken.error();
  return suite;
}

/// Of one benchmark: the session's would shuffle all alike.
std::uint64_t seed_of(std::uint64_t session, const std::string& benchmark) {
  Sha256 hash;
  hash.add(benchmark);
  return session ^ parse_hex(hash.digest().substr(0, 12)).value_or(0);
}

/// kperf takes the counters of the whole machine, for one selection of events at a time.
Result<void> spare_counters(Options& options, std::vector<std::string>& notes) {
  if (os::darwin_calls() == nullptr) return {};
  if (options.engine == EngineChoice::Kperf)
    return Error{"--engine kperf counts for one benchmark at a time, not for a suite",
                 "leave it out, or measure the benchmarks one by one (--only)"};
  if (options.engine != EngineChoice::Auto) return {};
  options.engine = EngineChoice::None;
  notes.emplace_back("a suite has no hardware counters on macOS");
  return {};
}

/// A refusal has been said; its exit status.
std::optional<int> make_part(Invocation& call, cli::Benchmark benchmark, std::uint64_t seed) {
  Invocation& part = call.parts.emplace_back();
  part.options = std::move(benchmark.options);
  part.benchmark = std::move(benchmark.name);
  part.options.exports.clear();
  part.options.seed = seed_of(seed, part.benchmark);
  part.launcher = call.launcher;
  if (call.parts.size() > 1) part.groups = (&part - 1)->groups;
  std::vector<std::string> notes;
  if (const auto spared = spare_counters(part.options, notes); !spared)
    return refuse(spared.error().of("benchmark " + cited(part.benchmark)), ExitStatus::Usage);
  const std::array stages = {kCoresDecided, kUserFound, kEngineChosen, kPlanMade, kBaselineAdded};
  if (const auto ended = pass(stages, part)) return ended;
  auto& said = part.plan.events.notes;
  said.insert(said.end(), notes.begin(), notes.end());
  return std::nullopt;
}

std::optional<int> make_parts(Invocation& call, cli::Suite suite) {
  const std::vector<TypedOption> typed = call.options.typed;
  const std::uint64_t seed =
      suite.session.seed.value_or(static_cast<std::uint64_t>(os::MonotonicClock().now().count()));
  call.options = std::move(suite.session);
  call.options.seed = seed;
  call.options.typed = typed;
  call.risk = call.options.controls_fdr ? gate::Risk::Share : gate::Risk::Any;
  call.parts.reserve(suite.benchmarks.size());
  for (cli::Benchmark& one : suite.benchmarks)
    if (const auto ended = make_part(call, std::move(one), seed)) return ended;
  std::size_t decisions = 0;
  for (const Invocation& part : call.parts) decisions += decisions_of(part.plan);
  for (Invocation& part : call.parts) part.plan.gates_of_job = decisions;
  return std::nullopt;
}

void tell_before_all(const Invocation& call) {
  Plan all;
  for (const Invocation& part : call.parts)
    for (const std::string& hint : part.plan.hints)
      all.hints.push_back(cited(part.benchmark) + ": " + hint);
  tell_before(call.options, all);
}

/// All benchmarks write to the same.
Result<std::unique_ptr<os::ToldFiles>> told_files_of(const Invocation& call) {
  for (const Invocation& part : call.parts) {
    auto files = open_told_files(part);
    if (!files || *files) return files;
  }
  return std::unique_ptr<os::ToldFiles>();
}

std::unique_ptr<Observer> observer_of(const Invocation& call) {
  Plan all;
  for (const Invocation& part : call.parts)
    all.commands.insert(all.commands.end(), part.plan.commands.begin(), part.plan.commands.end());
  return choose_observer(call.options, all);
}

/// Whom it ended, if anything did; the first in the file is told.
int status_of(const Invocation& call, const std::vector<SessionResult>& measured,
              const Report& suite) {
  int status = exit_status_of(suite.verdicts(), call.options.fail_if_inconclusive);
  for (const SessionResult& one : measured) {
    if (!one.session.cut_short) continue;
    status = exit_status_of(one.session, {}, std::nullopt);
    if (status != static_cast<int>(ExitStatus::Failed)) return status;  // a signal
  }
  return status;
}

/// An interruption ends all of them: it is told once.
void tell_endings(const Invocation& call, const std::vector<SessionResult>& measured) {
  bool is_told = false;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const Session& session = measured[i].session;
    if (!session.cut_short) continue;
    const bool is_interrupted = std::holds_alternative<Interrupted>(*session.cut_short);
    if (is_interrupted && is_told && session.also_failed.empty()) continue;
    is_told = is_told || is_interrupted;
    std::vector<std::string> names;
    for (const Command& command : call.parts[i].plan.commands)
      names.push_back(call.parts[i].benchmark + ": " + command.name);
    say_on_error(report::ending_lines(session, names, os::terminal_width(os::Stream::Error, 0)));
  }
}

int deliver(Invocation& call, std::vector<SessionResult>& measured, TimeOfDay began) {
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
  std::vector<gate::Findings*> findings;
  findings.reserve(measured.size());
  for (SessionResult& one : measured) findings.push_back(&one.findings);
  gate::settle_job(findings, 1.0 - call.options.confidence.value_or(kConfidence), call.risk);
  const Circumstances circumstances = circumstances_of(call, began);
  std::vector<Results> results;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    results.push_back(analyse(call.parts[i].plan, measured[i].session, measured[i].findings,
                              {os::MonotonicClock().resolution(), os::scheduler_tick()},
                              circumstances));
    results.back().benchmark = call.parts[i].benchmark;
  }
  const Report suite = report_of(std::move(results), call.risk);
  const int status = put_out(call, suite, status_of(call, measured, suite), !suite.complete());
  tell_endings(call, measured);
  return status;
}

using MadeOf = std::vector<std::pair<std::string, std::string>>;

/// Adds the options that would make other rounds, as they are typed, with the values.
void add_typed(const Invocation& call, MadeOf& all) {
  for (const TypedOption& one : call.options.typed) {
    const cli::OptionInfo* option = cli::option_of_key(one.key);
    const bool is_free = option == nullptr || option->group == cli::Group::Output ||
                         option->name == "resume" || option->name == "suite";
    if (is_free) continue;
    std::string value;
    for (const std::string& word : one.words) value += (value.empty() ? "" : " ") + word;
    const std::string name = option->spelling();
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const auto& other) { return other.first == name; });
    if (known == all.end())
      all.emplace_back(name, std::move(value));
    else
      known->second += ", " + value;
  }
}

/// Adds the programs as they are now; what a setup makes is not there yet.
void add_programs(const std::vector<SuitePart>& parts, MadeOf& all) {
  for (const SuitePart& part : parts) {
    std::vector<Fingerprint> programs;
    identify(part.plan, part.context, {0, part.plan.commands.size()}, programs);
    for (std::size_t c = 0; c < programs.size(); ++c)
      if (!part.plan.commands[c].hooks[HookKind::Setup])
        all.emplace_back("the program of " + cited(part.plan.commands[c].name) + " in benchmark " +
                             cited(part.name),
                         programs[c].executable);
  }
}

/// Returns all that would make other rounds of it: the file, what was typed but for looks and
/// exports, what is measured here, and the programs.
MadeOf made_of(const Invocation& call, const std::string& text,
               const std::vector<SuitePart>& parts) {
  MadeOf all = {{"lauka", std::string(cli::version())}};
  add_typed(call, all);
  Sha256 file;
  file.add(text);
  all.emplace_back("the suite's file", file.digest());
  for (const Invocation& part : call.parts) {
    Sha256 hash;
    const auto add = [&](std::string_view word) {
      hash.add(fmt::format("{}:", word.size()));
      hash.add(word);
    };
    for (const Metric& metric : part.plan.metrics) add(metric.name);
    for (const Command& command : part.plan.commands)
      for (const std::string& word : command.words) add(word);
    all.emplace_back("what is measured of benchmark " + cited(part.benchmark), hash.digest());
  }
  add_programs(parts, all);
  return all;
}

/// Says what is not as it was `then`; nullopt if all is.
std::optional<std::string> difference(const MadeOf& then, const MadeOf& now) {
  const auto find = [](const MadeOf& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  };
  for (const auto& [name, value] : now) {
    const auto before = find(then, name);
    const bool is_option = name.starts_with('-');
    if (before != then.end() && before->second == value) continue;
    if (!is_option) return name + " is another";
    if (before == then.end()) return name + " was not typed";
    return fmt::format("{} was {}, and is {}", name, cited(before->second), cited(value));
  }
  for (const auto& [name, value] : then)
    if (find(now, name) == now.end())
      return name.starts_with('-') ? fmt::format("{} {} was typed", name, value)
                                   : name + " was measured, too";
  return std::nullopt;
}

/// The rounds of all benchmarks: those that were finished, and where further ones are kept.
struct KeptSuite {
  std::unique_ptr<os::AppendLog> log{};  ///< null: they are not kept
  std::vector<RoundKeeper> keepers{};    ///< one for each benchmark
  TimeOfDay began{};
  std::uint64_t rounds = 0;  ///< that were finished
};

/// Reads the lines after the head; returns how many bytes are whole lines, as the last one may have
/// been under way.
Result<std::size_t> read_rounds(const std::string& text, const std::string& file,
                                const Invocation& call, KeptSuite& kept) {
  std::vector<KeptRoundsCheck> checks;
  for (const Invocation& part : call.parts) checks.emplace_back(part.plan);
  std::size_t number = 1;
  std::size_t end = text.find('\n') + 1;
  for (std::size_t next = text.find('\n', end); next != std::string::npos;
       next = text.find('\n', end)) {
    ++number;
    auto rounds = rounds_of(std::string_view(text).substr(end, next - end));
    if (!rounds || rounds->first >= checks.size() || !checks[rounds->first].take(rounds->second))
      return Error{fmt::format("--resume: line {} of {} has no rounds that can be this suite's",
                               number, cited(file)),
                   "begin again without --resume"};
    kept.keepers[rounds->first].finished.push_back(std::move(rounds->second));
    end = next + 1;
  }
  for (const KeptRoundsCheck& check : checks) kept.rounds += check.rounds();
  return end;
}

/// Takes the rounds of a log that goes on; the number of its bytes to keep, 0 of an empty one.
Result<std::size_t> take_up(const std::string& log, const std::string& file, const MadeOf& all,
                            const Invocation& call, KeptSuite& kept) {
  auto found = head_of_log(log, file);
  if (!found) return found.error();
  const std::optional<KeptHead> head = *std::move(found);
  if (!head) return std::size_t{0};
  if (const auto what = difference(head->made_of, all))
    return Error{fmt::format("--resume cannot go on with the rounds in {}: {}", cited(file), *what),
                 "make it as it was, or begin again without --resume"};
  kept.began = head->began;
  return read_rounds(log, file, call, kept);
}

Result<KeptSuite> open_log(const Invocation& call, const std::string& text,
                           const std::vector<SuitePart>& parts, TimeOfDay now) {
  KeptSuite kept;
  kept.keepers.resize(call.parts.size());
  kept.began = now;
  const auto file = log_of(call.options);
  if (!file) return kept;
  const MadeOf all = made_of(call, text, parts);
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return Error{owner.error(), ""};
  auto log = os::AppendLog::open(*file, kMostOfLog);
  if (!log && call.options.resumes) return log.error();
  if (!log) {  // nobody asked for it yet
    if (call.options.verbosity != Verbosity::Quiet)
      say_on_error(report::note_lines(
          {"the finished rounds are not kept for --resume: " + log.error().line()}));
    return kept;
  }
  const auto bytes = call.options.resumes ? take_up((*log)->text(), *file, all, call, kept)
                                          : Result<std::size_t>(std::size_t{0});
  if (!bytes) return bytes.error();
  if (auto cut = (*log)->cut(*bytes); !cut) return cut.error();
  kept.log = *std::move(log);
  if (*bytes == 0) kept.log->append(line_of(KeptHead{all, *call.options.seed, kept.began}));
  if (call.options.resumes && call.options.verbosity != Verbosity::Quiet)
    say_on_error(report::note_lines(
        {kept.rounds == 0
             ? fmt::format("--resume found no rounds in {}: the suite begins", cited(*file))
             : fmt::format("--resume goes on after {} kept in {}", plural(kept.rounds, "round"),
                           cited(*file))}));
  for (std::size_t i = 0; i < kept.keepers.size(); ++i)
    kept.keepers[i].keep = [log = kept.log.get(), i](const KeptRounds& rounds) {
      log->append(line_of(i, rounds));
    };
  return kept;
}

int carry_out(Invocation& call, const std::string& text) {
  const os::MonotonicClock clock;
  const auto told = told_files_of(call);
  if (!told) return refuse(told.error(), ExitStatus::Failed);
  const auto observer = observer_of(call);
  const auto texts = os::text_files(call.user);
  std::vector<SuitePart> parts;
  for (Invocation& part : call.parts)
    parts.push_back(
        {part.benchmark,
         part.plan,
         {*call.launcher, *part.chosen.engine, clock, *observer, os::interrupt, part.user,
          told->get(), part.groups.get(), texts.get(), tells_of_session(call.options)}});
  auto kept = open_log(call, text, parts, os::time_of_day());
  if (!kept) return refuse(kept.error(), ExitStatus::Usage);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].context.rounds = &kept->keepers[i];
  auto measured = carry_out_in_turns(parts, *call.options.seed);
  if (!measured) return refuse(measured.error(), ExitStatus::Failed);
  for (std::size_t i = 0; i < measured->size(); ++i)
    add_discovered(call.parts[i].plan, (*measured)[i].discovered,
                   call.parts[i].options.metrics != MetricSelection::Listed);
  const bool is_whole = std::none_of(measured->begin(), measured->end(), [](const auto& one) {
    return one.session.cut_short.has_value();
  });
  const int status = deliver(call, *measured, kept->began);
  if (!kept->log) return status;
  // An export that failed has left its room.
  const bool is_kept = kept->log->flush();
  const os::ActAs owner(call.user);
  if (is_whole && !call.has_lost_export) {
    if (owner.error().empty()) kept->log->remove();
  } else if (call.options.verbosity != Verbosity::Quiet) {
    if (!is_kept)
      say_on_error(report::note_lines({"the finished rounds could not be kept for --resume"}));
    else if (is_whole)
      say_on_error(report::note_lines(
          {fmt::format("all rounds are kept in {}: --resume exports them when there is room",
                       cited(*log_of(call.options)))}));
  }
  return status;
}

}  // namespace

int measure_suite(Invocation& call) {
  const std::array first = {kLauncherStarted, kUserFound};
  if (const auto ended = pass(first, call)) return *ended;
  std::string text;
  auto suite = read_suite(call, text);
  if (!suite) {
    if (const int signal = os::interrupt(); signal != 0) return status_of_signal(signal);
    return refuse(suite.error(), ExitStatus::Usage);
  }
  if (suite->benchmarks.empty()) {
    say_on_error(report::note_lines({"this part of the suite has no benchmark"}));
    return static_cast<int>(ExitStatus::Done);
  }
  call.options.as_root = suite->session.as_root;
  if (const auto ended = make_parts(call, *std::move(suite))) return *ended;
  const std::array last = {kUserFound, kGitAsked, kExportsOpened};
  if (const auto ended = pass(last, call)) return *ended;
  find_labels(call);
  tell_before_all(call);
  return carry_out(call, text);
}

int deliver_saved_suite(Invocation& call) {
  const os::ActAs owner(call.user);
  if (!owner.error().empty()) return refuse({owner.error(), ""}, ExitStatus::Failed);
  std::size_t decisions = 0;
  for (const Invocation& part : call.parts) decisions += decisions_of(part.plan);
  std::vector<Results> results;
  for (Invocation& part : call.parts) {
    part.plan.gates_of_job = decisions;
    results.push_back(results_of_saved(part, decisions));
    results.back().benchmark = part.benchmark;
  }
  Report suite = report_of(std::move(results), call.risk);
  if (decisions > 0) {
    std::vector<gate::Findings*> findings;
    for (Results& one : suite.benchmarks) findings.push_back(&one);
    const double confidence = suite.benchmarks.front().confidence;
    gate::settle_job(findings, 1.0 - confidence, call.risk);
  }
  return put_out(call, suite, exit_status_of(suite.verdicts(), call.options.fail_if_inconclusive),
                 false);
}

}  // namespace lauka

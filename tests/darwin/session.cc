#include "darwin/session.h"

#include "core/text.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::darwin {

namespace {

constexpr int kPrograms = 3;

/// The standard fixes the engine's numbers, but not what its distributions make of them.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  unsigned below(unsigned count) { return static_cast<unsigned>(engine_() % count); }
  bool in_hundred(unsigned percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& choices) {
    return choices.at(below(static_cast<unsigned>(choices.size())));
  }

 private:
  std::mt19937_64 engine_;
};

/// A program of the model, of steps at random.
class Writer {
 public:
  explicit Writer(Chance& chance) : chance_(chance) {}

  /// `becomes`: the first of the programs that it may spawn and become.
  std::string program(int becomes) {
    text_.clear();
    block(2, becomes);
    if (chance_.in_hundred(90)) line("wait");
    if (chance_.in_hundred(70)) line("join");
    if (chance_.in_hundred(25)) {
      if (chance_.in_hundred(50)) line("failed_exec");
      if (becomes < kPrograms) line("exec p" + std::to_string(becomes));
    } else if (chance_.in_hundred(20)) {
      line(chance_.in_hundred(50) ? "exit 3" : "signal 9");
    }
    return text_;
  }

 private:
  void line(const std::string& step) { text_ += step + "\n"; }

  std::string run() {
    std::string step = "run " + std::to_string(1 + chance_.below(900)) + "us";
    if (chance_.in_hundred(30)) step += " e";
    if (chance_.in_hundred(40)) step += " kernel=" + std::to_string(chance_.below(1000));
    return step;
  }

  void block(int depth, int becomes) {
    line(run());
    for (unsigned left = 1 + chance_.below(4); left > 0; --left) step(depth, becomes);
  }

  void inner(const std::string& head, int depth, int becomes) {
    line(head + " {");
    block(depth - 1, becomes);
    line("}");
  }

  void step(int depth, int becomes) {
    const unsigned kind = chance_.below(depth > 0 ? 9 : 3);
    if (kind <= 1) line(run());
    if (kind == 2) line("sleep " + std::to_string(1 + chance_.below(3000)) + "us");
    if (kind == 3 || kind == 4) {
      inner("threads " + std::to_string(1 + chance_.below(12)), 1, kPrograms);
      if (chance_.in_hundred(60)) line("join");
    }
    if (kind == 5 || kind == 6) {
      inner("fork", depth, becomes);
      if (chance_.in_hundred(60)) line("wait");
    }
    if (kind == 7 && becomes < kPrograms) {
      line("spawn p" + std::to_string(becomes));
      if (chance_.in_hundred(60)) line("wait");
    }
    if (kind == 8) inner("repeat " + std::to_string(1 + chance_.below(5)), 1, kPrograms);
  }

  Chance& chance_;
  std::string text_;
};

void choose_machine(Chance& chance, Session& session) {
  const std::string chip = chance.one_of<std::string>({"m1", "m2", "m3", "m4", "m5"});
  const int version = chance.one_of<int>({13, 14, 15, 26});
  Setup& setup = session.setup;
  setup = machine(chip);
  setup.pmu.user_only = version >= 15;
  setup.pmu.words_at_start = version >= 26;
  setup.pmu.selectors = selectors_of(version);
  session.rules.os_version = std::to_string(version) + ".4";
  if (chance.in_hundred(10)) setup.timebase_numerator = setup.timebase_denominator = 1;
  setup.neighbours = chance.in_hundred(25);
  setup.pids_are_few = chance.in_hundred(15);
  session.rules.has_frameworks = chance.in_hundred(70);
  session.rules.filter_is_obsolete = chance.in_hundred(10);
  if (chance.in_hundred(10)) setup.cpus_off = {setup.chip.cpus() - 1};
  session.reported = chip + " macOS " + session.rules.os_version;
}

void choose_others(Chance& chance, Session& session) {
  Setup& setup = session.setup;
  setup.earlier_actions = chance.one_of<unsigned>({0, 0, 1, 3, 32});
  setup.has_leftovers = chance.in_hundred(10);
  if (chance.in_hundred(30)) {
    Tool tool;
    tool.is_background = chance.in_hundred(50);
    tool.has_ended = chance.in_hundred(30);
    setup.tracer = tool;
    session.reported += tool.is_background ? ", a background" : ", a foreground";
    session.reported += tool.has_ended ? " owner that has ended" : " owner";
  }
  setup.force_is_taken = chance.in_hundred(3);
  setup.cpmu_is_busy = !setup.has_leftovers && !setup.force_is_taken && chance.in_hundred(3);
  session.reported += ", earlier actions " + std::to_string(setup.earlier_actions);
  if (setup.has_leftovers) session.reported += ", leftovers";
  if (setup.force_is_taken) session.reported += ", forced elsewhere";
  if (setup.cpmu_is_busy) session.reported += ", CPMU busy";
}

/// One thing at most goes wrong; the trial is the first run.
void choose_trouble(Chance& chance, Session& session) {
  const unsigned run = 2 + chance.below(3);
  CallRules& rules = session.rules;
  const unsigned kind = chance.below(16);
  if (kind == 0) rules.words_change_in_run = run;
  if (kind == 1) rules.lose_in_run = run;
  if (kind == 2) rules.wrapped_in_run = run;
  if (kind == 3) rules.silent_in_run = run;
  if (kind >= 4 && kind <= 6) {
    rules.late_in_run = run;
    rules.late_record = chance.one_of<std::uint32_t>(
        {id::kNewThread, id::kExec, id::kTerminatePid, id::kThreadCounters});
  }
  if (kind == 7) {
    TraceRules& trace = session.setup.trace;
    trace.may_be_small = true;
    trace.records_per_unit = 16;
    trace.most_records = 16U << chance.below(6);
  }
  constexpr std::array names = {"words change",  "records lost",  "wrapped flag",  "silence",
                                "a late record", "a late record", "a late record", "small buffer"};
  if (kind < names.size()) session.reported += std::string(", ") + names.at(kind);
  if (chance.in_hundred(25)) {
    rules.interrupt_at_call = 1 + chance.below(600);
    session.reported += ", interrupted at call " + std::to_string(*rules.interrupt_at_call);
  }
}

void choose_events(Chance& chance, Session& session) {
  if (chance.in_hundred(30)) session.events.emplace_back("instructions");
  const auto& all = session.setup.chip.events;
  for (unsigned left = 1 + chance.below(10); left > 0; --left) {
    const std::string name = lower_case(chance.one_of(all).name);
    if (std::count(session.events.begin(), session.events.end(), name) == 0)
      session.events.push_back(name);
  }
}

}  // namespace

Session session_of(std::uint64_t seed) {
  Chance chance(seed);
  Session session;
  choose_machine(chance, session);
  choose_others(chance, session);
  choose_trouble(chance, session);
  choose_events(chance, session);
  const unsigned strategy = chance.below(10);
  if (strategy == 7) session.strategy = KperfStrategyChoice::AtExit;
  if (strategy == 8) session.strategy = KperfStrategyChoice::SampleRunningThreads;
  if (strategy == 9) session.strategy = KperfStrategyChoice::Machine;
  constexpr std::array names = {"", ", at exit", ", pet", ", machine"};
  session.reported += names.at(static_cast<std::size_t>(session.strategy));
  Writer writer(chance);
  for (int i = 0; i < kPrograms; ++i) session.programs.push_back(writer.program(i + 1));
  for (unsigned left = 1 + chance.below(3); left > 0; --left)
    session.commands.push_back(writer.program(0));
  return session;
}

namespace {

constexpr unsigned kMaxSeconds = 600;  ///< a session takes a twentieth of one
/// The longest end of a thread after its last record: a periodic sample may come even then.
constexpr std::uint64_t kEndOfThread = 100'000;
constexpr int kMaxTries = 5;  ///< of a run that must be made again

/// Returns the set-up of a living owner of the tracing, which must stay.
std::string others_state(const Kernel& kernel) {
  const Process* owner = kernel.find(kernel.ktrace.owner());
  if (owner == nullptr || owner->pid == kernel.processes().at(1)->pid) return "";
  const Sampler& sampler = kernel.sampler;
  const Sampler::Action* action = sampler.action(1);
  return std::to_string(owner->pid) + " " + std::to_string(sampler.action_count()) + " " +
         std::to_string(action == nullptr ? 0 : action->samplers) + " " +
         std::to_string(static_cast<int>(kernel.trace.is_on())) + " " +
         std::to_string(kernel.trace.info(0).flags & ~Trace::kWrapped);  // that comes by itself
}

class Play {
 public:
  explicit Play(const Session& session) : session_(session), bench_(session.setup, session.rules) {
    for (std::size_t i = 0; i < session.programs.size(); ++i)
      bench_.folder.program("p" + std::to_string(i), session.programs[i]);
  }

  std::string faults() {
    const bool owner_stays = session_.setup.tracer && !session_.setup.tracer->is_background &&
                             !session_.setup.tracer->has_ended;
    const std::string before = others_state(bench_.driver.host.kernel);
    const auto left_by_others = bench_.driver.host.still_held();
    if (bench_.make(session_.strategy) == "" && bench_.select(session_.events) == "") {
      for (const std::string& command : session_.commands) {
        for (std::size_t pass = 0; pass < bench_.events.passes.size(); ++pass) count(command, pass);
      }
    }
    for (const std::string& held : bench_.end()) {
      const bool was_there =
          std::find(left_by_others.begin(), left_by_others.end(), held) != left_by_others.end();
      if (!was_there) faults_ += "still held: " + held + "\n";
    }
    const std::string after = others_state(bench_.driver.host.kernel);
    if (owner_stays && before != after)
      faults_ += "the other owner's: " + before + ", then " + after + "\n";
    return faults_;
  }

 private:
  void count(const std::string& command, std::size_t pass) {
    for (int tries = 0; tries < kMaxTries && os::first_interrupt_signal() == 0; ++tries) {
      const std::uint64_t before = bench_.latest().unique_id;
      const auto counted = bench_.run(command, pass);
      if (bench_.latest().unique_id != before) check(counted, pass);  // else it was not started
      if (!counted.redo) return;
    }
  }

  /// Present counts must be exact; absent ones must have a reason.
  void check(const engine::CountsOfRun& counted, std::size_t pass) {
    bool any = false;
    bool all = true;
    for (const auto& count : counted.counts) (count ? any : all) = count.has_value();
    if (!all && (!counted.why_missing_counts || counted.why_missing_counts->what.empty()) &&
        bench_.notes().empty())
      faults_ += "a value is absent without a reason\n";
    if (!any) return;
    const Process& command = bench_.latest();
    const std::vector<Note> notes = bench_.notes();
    const bool is_bound = has(notes, "sampled");
    const bool has_survivors = outlives(command, false);
    // A daemon whose birth was lost, and which has not ended, cannot be noticed.
    const bool may_be_unseen = session_.rules.late_in_run.has_value();
    if (outlives(command, true) && !may_be_unseen && !counted.redo && !is_machine(pass) &&
        !has(notes, "orphans"))
      faults_ += "survivors without a note\n";
    const Truth tree = has_survivors ? ended_with(command) : bench_.truth();
    for (const auto& [name, count] : bench_.named(counted, pass)) {
      if (!count) continue;
      const std::uint64_t did = done(tree, name);
      const bool is_right = is_machine(pass) ? *count >= did
                            : has_survivors  ? is_bound || *count >= did
                            : is_bound       ? *count <= did + tree.threads * kEndOfThread
                                             : *count == did;
      if (!is_right) wrong(name, *count, did, "");
    }
    if (is_machine(pass) || is_bound || counted.own_process_counts.empty()) return;
    engine::CountsOfRun own = counted;
    own.counts = counted.own_process_counts;
    for (const auto& [name, count] : bench_.named(own, pass)) {
      const std::uint64_t did = done(command.truth, name);
      if (count && *count != did) wrong(name, *count, did, " of its own");
    }
  }

  void wrong(const std::string& name, std::uint64_t count, std::uint64_t did, const char* of) {
    faults_ +=
        name + of + " is " + std::to_string(count) + ", but " + std::to_string(did) + " happened\n";
  }

  static std::uint64_t done(const Truth& truth, const std::string& name) {
    if (name == "instructions") return truth.instructions;
    if (name == "cycles") return truth.cycles;
    const auto found = truth.events.find(upper_case(name));
    return found == truth.events.end() ? 0 : found->second;
  }

  bool is_machine(std::size_t pass) const {
    for (const std::size_t event : bench_.events.passes.at(pass).event_indices)
      if (has(bench_.events.events.at(event).name_suffix, "system-wide")) return true;
    return false;
  }

  /// True if others of its tree ended later; `still_run`: and still run now.
  bool outlives(const Process& command, bool still_run) const {
    for (const auto& process : bench_.driver.host.kernel.processes()) {
      if (process->root_id != command.unique_id) continue;
      const bool is_over = process->life == Life::Zombie || process->life == Life::Reaped;
      const bool was_later = !is_over || process->ended_at_ns > command.ended_at_ns;
      const bool runs = std::any_of(process->threads.begin(), process->threads.end(),
                                    [](const auto& one) { return one->then == Then::NextStep; });
      if (still_run ? runs : was_later) return true;
    }
    return false;
  }

  /// Returns the work of the command and of those of its tree that ended before it.
  Truth ended_with(const Process& command) const {
    Truth sum;
    for (const auto& process : bench_.driver.host.kernel.processes()) {
      const bool is_over = process->life == Life::Zombie || process->life == Life::Reaped;
      const bool counts = process->root_id == command.unique_id && is_over &&
                          process->ended_at_ns <= command.ended_at_ns;
      if (counts) sum += process->truth;
    }
    return sum;
  }

  const Session& session_;
  KperfBench bench_;
  std::string faults_;
};

}  // namespace

std::string faults_of(const Session& session) {
  try {
    return Play(session).faults();
  } catch (const std::exception& error) {
    return std::string("it throws: ") + error.what() + "\n";
  }
}

std::string faults_in_child(const Session& session) {
  std::array ends = {-1, -1};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMaxSeconds);
    close(ends[0]);
    os::watch_for_interrupts();
    const std::string faults = faults_of(session);
    static_cast<void>(!write(ends[1], faults.data(), faults.size()));
    _exit(0);
  }
  close(ends[1]);
  std::string faults;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;)
    faults.append(piece.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return faults + "it does not end\n";
  if (status != 0) faults += "it ends with status " + std::to_string(status) + "\n";
  return faults;
}

}  // namespace lauka::darwin

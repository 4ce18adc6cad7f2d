#include "darwin/session.h"
#include "os/signals.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::darwin {
namespace {

constexpr unsigned kMostSeconds = 20;  ///< a session takes a twentieth of one
/// What a thread's end takes after its last record, at most: a periodic sample may come even then.
constexpr std::uint64_t kEndOfThread = 100'000;
constexpr int kMostTries = 5;  ///< of a run that must be made again

/// What a living owner of the tracing has set up, which is to stay.
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
    bench_.armed.clear();
    bench_.engine.reset();
    for (const std::string& held : bench_.driver.host.still_held()) {
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
    for (int tries = 0; tries < kMostTries && os::interrupt() == 0; ++tries) {
      const std::uint64_t before = latest().unique_id;
      const auto counted = bench_.run(command, pass);
      if (latest().unique_id != before) check(counted, pass);  // else it was not started
      if (!counted.redo) return;
    }
  }

  /// What is there is exact; what is absent has a reason.
  void check(const engine::Counted& counted, std::size_t pass) {
    bool any = false;
    bool all = true;
    for (const auto& count : counted.counts) (count ? any : all) = count.has_value();
    if (!all && (!counted.missing || counted.missing->what.empty()) && bench_.notes().empty())
      faults_ += "a value is absent without a reason\n";
    if (!any) return;
    const Process& command = latest();
    const std::string notes = bench_.notes();
    const bool is_bound = has(notes, "counts are sampled every");
    const bool has_survivors = outlives(command, false);
    // A daemon of which the birth was lost, and which has not ended, cannot be noticed.
    const bool may_be_unseen = session_.rules.late_in_run.has_value();
    if (outlives(command, true) && !may_be_unseen && !counted.redo && !is_machine(pass) &&
        !has(notes, "not ended with"))
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
    if (is_machine(pass) || is_bound || counted.own.empty()) return;
    engine::Counted own = counted;
    own.counts = counted.own;
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
    std::string own;
    for (const char c : name) own += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const auto found = truth.events.find(own);
    return found == truth.events.end() ? 0 : found->second;
  }

  bool is_machine(std::size_t pass) const {
    for (const std::size_t event : bench_.events.passes.at(pass).events)
      if (has(bench_.events.events.at(event).note, "system-wide")) return true;
    return false;
  }

  const Process& latest() const {
    const auto& processes = bench_.driver.host.kernel.processes();
    const Process* found = processes.at(1).get();  // lauka's own, where it has none so far
    for (const auto& process : processes)
      if (process->parent == processes.at(1)->pid) found = process.get();
    return *found;
  }

  /// True if others of its tree ended later; `still_run`: and have not come to their end by now.
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

  /// What those of its tree did that ended before it, and it itself.
  Truth ended_with(const Process& command) const {
    Truth sum;
    for (const auto& process : bench_.driver.host.kernel.processes()) {
      const bool is_over = process->life == Life::Zombie || process->life == Life::Reaped;
      const bool counts = process->root_id == command.unique_id && is_over &&
                          process->ended_at_ns <= command.ended_at_ns;
      if (!counts) continue;
      sum.threads += process->truth.threads;
      sum.cycles += process->truth.cycles;
      sum.instructions += process->truth.instructions;
      for (const auto& [name, count] : process->truth.events) sum.events[name] += count;
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
    alarm(kMostSeconds);
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

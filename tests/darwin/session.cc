#include "darwin/session.h"

#include <algorithm>
#include <array>
#include <random>

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

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

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
  session.told = chip + " macOS " + session.rules.os_version;
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
    session.told += tool.is_background ? ", a background" : ", a foreground";
    session.told += tool.has_ended ? " owner that has ended" : " owner";
  }
  setup.force_is_taken = chance.in_hundred(3);
  setup.cpmu_is_busy = !setup.has_leftovers && !setup.force_is_taken && chance.in_hundred(3);
  session.told += ", earlier actions " + std::to_string(setup.earlier_actions);
  if (setup.has_leftovers) session.told += ", leftovers";
  if (setup.force_is_taken) session.told += ", forced elsewhere";
  if (setup.cpmu_is_busy) session.told += ", CPMU busy";
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
  if (kind < names.size()) session.told += std::string(", ") + names.at(kind);
  if (chance.in_hundred(25)) {
    rules.interrupt_at_call = 1 + chance.below(600);
    session.told += ", interrupted at call " + std::to_string(*rules.interrupt_at_call);
  }
}

void choose_events(Chance& chance, Session& session) {
  if (chance.in_hundred(30)) session.events.emplace_back("instructions");
  const auto& all = session.setup.chip.events;
  for (unsigned left = 1 + chance.below(10); left > 0; --left) {
    const std::string name = lower(chance.one_of(all).name);
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
  if (strategy == 7) session.strategy = StrategyChoice::AtExit;
  if (strategy == 8) session.strategy = StrategyChoice::Pet;
  if (strategy == 9) session.strategy = StrategyChoice::Machine;
  constexpr std::array names = {"", ", at exit", ", pet", ", machine"};
  session.told += names.at(static_cast<std::size_t>(session.strategy));
  Writer writer(chance);
  for (int i = 0; i < kPrograms; ++i) session.programs.push_back(writer.program(i + 1));
  for (unsigned left = 1 + chance.below(3); left > 0; --left)
    session.commands.push_back(writer.program(0));
  return session;
}

}  // namespace lauka::darwin

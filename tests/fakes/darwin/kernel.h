#pragma once

#include "fakes/darwin/chip.h"
#include "fakes/darwin/ktrace.h"
#include "fakes/darwin/pmu.h"
#include "fakes/darwin/process.h"
#include "fakes/darwin/sampler.h"
#include "fakes/darwin/trace.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

namespace lauka::darwin {

inline constexpr std::uint64_t kSpawnNs = 60'000;
inline constexpr std::uint64_t kCallNs = 1'000;
inline constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

/// Another program that uses kperf and kdebug, or did.
struct Tool {
  Pid pid = 77;
  std::string name = "Instruments";
  bool is_background = false;
  bool has_ended = false;
};

/// The model's machine, and its faults.
struct Setup {
  Chip chip{};
  PmuRules pmu{};
  TraceRules trace{};
  std::uint32_t timebase_numerator = 125;
  std::uint32_t timebase_denominator = 3;
  bool is_root = true;
  bool is_virtual = false;        ///< no counters, no kpc, no kperf
  bool cpmu_is_busy = false;      ///< EBUSY on kpc
  bool force_is_taken = false;    ///< by another process: EACCES
  std::set<unsigned> cpus_off{};  ///< their counters cannot be read
  bool pids_are_few = false;      ///< they come back soon
  bool neighbours = false;        ///< other processes come and go
  std::optional<Tool> tracer{};   ///< the holder of ktrace
  unsigned earlier_actions = 0;   ///< of a tool that has reset kperf and ended
  bool has_leftovers = false;     ///< of a killed run: counting, filter, actions, buffer
};

/// The kernel of the model: time, CPUs, threads and processes, and what they write into the trace.
/// Written after the facts of the real one, and not after the engine that is tested on it. Time is
/// the model's own and moves only in pass and wait_until, so every run of a test is the same.
class Kernel {
 public:
  explicit Kernel(Setup with);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() = default;

  // ---- time

  std::uint64_t now_ns() const { return now_ns_; }
  std::uint64_t mach(std::uint64_t ns) const {
    return ns * setup.timebase_denominator / setup.timebase_numerator;
  }
  std::uint64_t ns_of_mach(std::uint64_t ticks) const {
    return ticks * setup.timebase_numerator / setup.timebase_denominator;
  }

  /// lauka's thread works for so long in a call; everything else goes on meanwhile.
  void pass(std::uint64_t ns);

  /// lauka's thread sleeps until `done`, at most for `ns`. False: the time is up.
  bool wait_until(const std::function<bool()>& done, std::uint64_t ns);

  // ---- processes

  /// Loads a program: its script, or an errno.
  using Loader = std::function<int(const std::string& path, const std::vector<std::string>& words,
                                   Script& script)>;
  Loader load = nullptr;  // NOLINT(misc-non-private-member-variables-in-classes): given once

  struct Birth {
    std::string path{};
    std::vector<std::string> words{};
    std::shared_ptr<Descriptors> descriptors{};
    std::shared_ptr<Region> region{};
    bool suspended = false;
    bool own_group = true;
    int qos_clamp = 0;
    unsigned user = 0;
  };
  /// posix_spawn by lauka. 0 or an errno.
  int spawn(const Birth& birth, Pid& pid);
  /// 0 or an errno; `pid` below 0: a group.
  int send_signal(Pid pid, int number);
  /// Null if unknown. Zombies are found, reaped processes are not.
  Process* find(Pid pid);
  const Process* find(Pid pid) const;
  /// Starts a process that only makes calls, until it ends.
  Process& start_beside(Pid pid, unsigned user, const std::string& name);
  void end_beside(Process& process);
  void reap(Process& process);
  const std::deque<std::unique_ptr<Process>>& processes() const { return processes_; }
  Process& lauka() { return *processes_.at(1); }
  Thread& lauka_thread() { return *lauka().threads.front(); }

  /// Returns the work of all its threads, inheritance included; of running ones as far as recount
  /// knows.
  Work recounted(const Process& process) const;

  /// Every CPU's counters are brought up to now.
  void settle_all();
  /// `caller` null: it has no thread of the model's.
  void set_thread_counting(std::uint32_t classes, Thread* caller);
  /// kpc's, for the threads of a process that are older than thread counting.
  void make_buffers(Process& process);
  void start_sampling();
  /// Another client of kpc puts its own words in so much later.
  void change_words_in(std::uint64_t ns);

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): the machine's parts, by name
  Setup setup;
  Pmu pmu;
  Trace trace;
  Sampler sampler;
  Ktrace ktrace;
  bool child_changed = false;  ///< a child of lauka has ended or stopped: SIGCHLD
                               // NOLINTEND(misc-non-private-member-variables-in-classes)

 private:
  struct Cpu {
    Level level = Level::Performance;
    bool for_lauka = false;
    Thread* running = nullptr;
    std::uint64_t settled_ns = 0;
    std::uint64_t slice_began_ns = 0;
    std::uint64_t slice = 0;  ///< number of its latest event
    Tid idle_tid = 0;
    Tid to_bury = 0;  ///< a thread that ended here: its TERMINATE is written by the next one
  };
  struct Event {
    std::uint64_t at_ns = 0;
    std::uint64_t number = 0;
    enum class Kind : std::uint8_t { Slice, Wake, Timer, Words } kind = Kind::Slice;
    std::uint64_t whom = 0;  ///< CPU, tid, or generation of the timer
    std::uint64_t which = 0;
    bool operator>(const Event& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };

  // kernel_life.cc
  void add_event(std::uint64_t at_ns, Event::Kind kind, std::uint64_t whom, std::uint64_t which);
  void handle(const Event& event);
  bool handle_next(std::uint64_t until_ns);
  void settle(unsigned cpu);
  void ready(Thread& thread);
  void dispatch();
  bool dispatch_once();
  void switch_on(unsigned cpu, Thread& thread);
  void switch_off(unsigned cpu);
  void begin_slice(unsigned cpu);
  void end_slice(unsigned cpu);
  void sleep(Thread& thread, std::uint64_t ns);
  void wake(Thread& thread);
  void charge(unsigned cpu, std::uint64_t user_ns, std::uint64_t kernel_ns);

  // kernel_steps.cc
  void go_on(unsigned cpu);
  void next_step(Thread& thread, unsigned cpu);
  void take(const Step& step, Thread& thread, unsigned cpu);
  void take_of_process(const Step& step, Thread& thread, unsigned cpu);
  void start_threads(const Step& step, Thread& thread, unsigned cpu);
  void fork(const Step& step, Thread& thread, unsigned cpu);
  void spawn_step(const Step& step, Thread& thread, unsigned cpu);
  void exec(const Step& step, Thread& thread, unsigned cpu);
  void failed_exec(Thread& thread, unsigned cpu);
  bool has_to_wait(const Step& step, Thread& thread);
  static bool pays_first(const Step& step, Thread& thread);

  // kernel_life.cc
  Process& add_process(Pid parent, const std::string& name);
  Thread& add_thread(Process& process, Script script);
  Process& fork_of(const Process& parent);
  void announce(const Thread& made, Tid creator, unsigned cpu, bool exec_copy);
  void announce_image(const Thread& made, unsigned cpu);
  void end_process(Process& process, int status);
  void stop(Process& process, int number);
  void carry_on(Process& process);
  void condemn(Thread& thread);
  void terminate_self(Thread& thread, unsigned cpu);
  void tell_of_exit(const Thread& thread, unsigned cpu);
  void become_zombie(Process& process);
  void bury(Thread& thread, unsigned cpu);
  void wake_those_who_wait(Pid parent);
  void note_truth(const Thread& thread);
  Pid free_pid();

  void emit(unsigned cpu, Tid tid, std::uint32_t debugid, std::array<std::uint64_t, 4> arguments);
  void emit_text(unsigned cpu, Tid tid, std::uint32_t debugid, const std::string& text);
  void emit_name(unsigned cpu, Tid tid, std::uint32_t debugid, const std::string& name);
  void sample(unsigned cpu, Thread* thread, std::uint32_t action, std::uint64_t flags);
  void emit_thread_data(unsigned cpu, const Thread& thread, std::uint32_t samplers);
  void emit_values(unsigned cpu, Thread* thread, std::uint32_t samplers);
  void emit_counters(unsigned cpu, Tid tid, const std::vector<std::uint64_t>& values,
                     std::uint32_t debugid);
  std::vector<std::uint64_t> counters_of_thread(unsigned cpu, Thread* thread);
  void pet_on_switch(unsigned cpu, Thread& thread);
  void pet_fires(std::uint64_t whom);
  void walk_all_threads();
  void make_buffer(unsigned cpu, Thread& thread);
  Ktrace::Hooks hooks_of_ktrace();

  unsigned lauka_cpu() const { return setup.chip.performance_cpus - 1; }

  std::uint64_t now_ns_ = 8'000'003'000'000;
  std::uint64_t event_number_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Cpu> cpus_;
  std::array<std::deque<Thread*>, kLevels> ready_;
  std::deque<std::unique_ptr<Process>> processes_;
  std::array<std::uint64_t, 4> stale_{};  ///< leftovers in unused arguments of samples
  Pid next_pid_ = 812;
  std::uint64_t next_unique_id_ = 4712;
  Tid next_tid_ = 107184;
  std::uint64_t pet_generation_ = 0;
  std::uint64_t walks_ = 0;  ///< of ordinary PET's thread, whose own counts grow with them
  std::uint64_t timer_starts_ = 0;
  std::map<Tid, Thread*> threads_;
};

/// Returns the work of the command with that unique id and of all that descends from it.
Truth tree_of(const Kernel& kernel, std::uint64_t root);

/// Programs of the model are text files whose first line is "# model" and whose others are the
/// steps of script.h. sh and its -c are the model's own: they exec the words after it.
Kernel::Loader loader_of_files();

}  // namespace lauka::darwin

#pragma once

#include "fakes/darwin/kernel.h"
#include "os/darwin_calls.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lauka::darwin {

/// The buffers of a call to sysctl or sysctlbyname.
struct Io {
  void* old_value = nullptr;
  std::size_t* old_length = nullptr;
  const void* new_value = nullptr;
  std::size_t new_length = 0;
};

/// A sysctl call, as seen by its handler: the rules for lengths, for copying, and for the reported
/// length, which all handlers share. Each call returns 0 or an errno.
class Request {
 public:
  explicit Request(const Io& io);

  bool has_old() const { return io_.old_value != nullptr; }
  bool has_new() const { return io_.new_value != nullptr && io_.new_length != 0; }
  std::size_t room() const { return room_; }
  std::size_t new_length() const { return io_.new_length; }
  void* old_bytes() const { return io_.old_value; }
  const void* new_bytes() const { return io_.new_value; }

  /// Gives `count` bytes, or ENOMEM where less is left; without a buffer it only counts them.
  int give(const void* bytes, std::size_t count);
  int give(const std::string& text) { return give(text.c_str(), text.size() + 1); }
  /// Takes `count` bytes of the new value, or returns EINVAL if fewer are left. Does nothing
  /// without one.
  int take(void* bytes, std::size_t count);

  /// Returns the number, then takes a new one if there is one. `place` null: it cannot be set.
  int number(std::int64_t value, std::int32_t* place);
  int number(std::int64_t value, std::uint32_t* place);
  int number(std::int64_t value, std::uint64_t* place);

  /// For handlers that do their own copying: the length to report.
  void tell(std::size_t length) { reported_ = length; }

  /// At the end: 0 and ENOMEM set the length, any other errno leaves it alone.
  int finish(int error) const;

 private:
  template <typename T>
  int small_number(std::int64_t value, T* place);

  Io io_;
  std::size_t room_ = 0;
  std::size_t reported_ = 0;
  std::size_t taken_ = 0;
};

/// A function of kperf.framework by the facts (1.2): thin wrappers of sysctls, which they call
/// through `calls`. Null if the framework has no such symbol.
void* framework_symbol(const os::DarwinCalls& calls, const std::string& name);

/// The faults of calls.
struct CallRules {
  /// By the sysctl's or call's name: this errno, from its n-th use on (1: always).
  struct Failure {
    int error = 0;
    unsigned from = 1;
    unsigned times = ~0U;
  };
  std::map<std::string, Failure> failures{};
  std::optional<std::uint64_t> interrupt_at_call{};  ///< the process gets a signal in the n-th call
  int interrupt_signal = 2;
  // In the n-th run, counted from 1:
  std::optional<unsigned> words_change_in_run{};  ///< another client puts its words in
  std::optional<unsigned> lose_in_run{};     ///< the next read is short of records, and says so
  std::uint64_t loss_argument = 0;           ///< arg1 of its LOST_EVENTS
  std::optional<unsigned> silent_in_run{};   ///< tracing is off for good, though it says it is not
  std::optional<unsigned> wrapped_in_run{};  ///< only the flag shows a loss
  std::optional<unsigned> late_in_run{};     ///< a record comes too late for its time
  std::uint32_t late_record = id::kNewThread;  ///< its debugid
  bool has_frameworks = true;
  std::set<std::string> missing_symbols{};
  int newest_rusage = 6;
  bool filter_is_obsolete = false;  ///< KDSETREG is refused
  std::string os_version = "15.4";
};

/// The system calls of the model, as a DarwinCalls table. Each takes a microsecond.
class Host {
 public:
  Host(Setup setup, CallRules rules);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  /// Calls on this host; there is one at a time.
  const os::DarwinCalls& calls() const;

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): tests look at the machine's parts
  Kernel kernel;
  CallRules rules;
  std::uint64_t calls_made = 0;
  std::set<std::string> libraries{};  ///< that were asked for
  // NOLINTEND(misc-non-private-member-variables-in-classes)

  /// Returns what lauka should have given back by now, one line each; empty if all is.
  std::vector<std::string> still_held() const;

  /// Sets the caller from now on, which comes on a CPU for it; nullopt: lauka.
  void call_as(std::optional<Caller> who);

  // The calls, as DarwinCalls has them. host_*.cc
  int sysctlbyname(const std::string& name, const Io& io);
  int sysctl(const int* name, unsigned length, const Io& io);
  int spawn(const os::SpawnRequest& request, pid_t* pid);
  int kill(pid_t pid, int number);
  int waitid(idtype_t kind, id_t id, siginfo_t* info, int options);
  pid_t wait4(pid_t pid, int* status, int options, rusage* usage);
  int kqueue();
  int kevent(int queue, const os::Kevent* changes, int change_count, os::Kevent* events,
             int event_count, const timespec* timeout);
  int proc_pid_rusage(int pid, int flavour, void* buffer);
  int proc_pidinfo(int pid, int flavour, std::uint64_t argument, void* buffer, int bytes);
  int proc_listchildpids(pid_t parent, void* buffer, int bytes);
  int proc_name(int pid, void* buffer, std::uint32_t bytes);

  /// Lets the time of a call pass. False with errno: the call must fail.
  bool enter(const std::string& call);

 private:
  struct Watch {
    os::Kevent wanted{};
    std::int64_t pending = 0;
  };
  using Queue = std::map<std::pair<std::uint64_t, std::int16_t>, Watch>;

  // host_processes.cc
  static int list_threads(const Process& process, bool right_ids, void* buffer, int bytes);
  static int thread_info(const Thread& thread, void* buffer, int bytes);
  int thread_counts(const Thread& thread, void* buffer, int bytes) const;
  void play_past();
  void call_for(const std::string& name, std::uint32_t value);
  void call_for(const std::string& name, std::uint64_t which, std::uint64_t value);
  void trace_for(const std::vector<int>& name);
  void sample_for(unsigned actions);
  void trace_all_for();
  void leave_leftovers();
  // host_sysctls.cc
  int facts_by_name(const std::string& name, Request& request) const;
  int perflevel_by_name(const std::string& name, Request& request) const;
  int kpc_by_name(const std::string& name, Request& request);
  int kpc_count(bool of_counters, Request& request);
  int kpc_setting(const std::string& name, Request& request);
  int kpc_words(Request& request);
  int kpc_counters(Request& request);
  int kpc_thread_counters(Request& request);
  using PairGetter = int (*)(const Sampler& sampler, std::uint32_t which, std::uint64_t& value);
  using PairSetter = int (*)(Sampler& sampler, std::uint32_t which, std::uint64_t value,
                             bool in_background);
  int kperf_by_name(const std::string& name, Request& request);
  int kperf_pair(PairGetter get, PairSetter set, Request& request);
  int trigger_filter(Request& request);
  int reset_kperf(Request& request);
  int blessed_pid(Request& request);
  bool is_in_background() const;
  Caller caller() const;
  int ktrace_by_name(const std::string& name, Request& request);
  int kdebug(const int* name, unsigned length, Request& request);
  int set_trace(int operation, int value);
  int use_trace(int operation, Request& request);
  int trace_info(Request& request);
  int read_trace(Request& request);
  int wait_for_buffer(Request& request);
  std::size_t threads_now() const;
  // host_processes.cc
  int change(Queue& queue, const os::Kevent& change);
  void note_signals();
  void note_ends();
  int collect(Queue& queue, os::Kevent* events, int capacity);

  std::optional<Caller> caller_{};
  std::int32_t may_preempt_ = 0;  ///< kperf.blessed_preempt
  std::map<std::string, unsigned> uses_;
  std::map<int, Queue> queues_;
  unsigned runs_ = 0;
  bool raised_ = false;
};

/// As the kernel sees a process that calls.
Caller caller_of(const Process& process);

}  // namespace lauka::darwin

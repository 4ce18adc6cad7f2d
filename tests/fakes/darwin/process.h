#pragma once

#include "fakes/darwin/script.h"
#include "fakes/darwin/work.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lauka::darwin {

using Tid = std::uint64_t;
using Pid = int;

inline constexpr std::size_t kCounters = 10;  ///< PMC0 to PMC9
using Counters = std::array<std::uint64_t, kCounters>;

/// The state of a thread.
enum class State : std::uint8_t {
  Held,   ///< spawned suspended, or stopped
  Ready,  ///< waits for a CPU
  Running,
  Sleeping,  ///< until a time
  Waiting,   ///< for threads or children
  Ended,
};

/// The next state after the work of a thread.
enum class Then : std::uint8_t { NextStep, Gone, CacheTotals, BecomeZombie };

/// A place in a script: the body, the next step in it, and how often it is still to be repeated.
struct Place {
  Script body;
  std::size_t next = 0;
  unsigned repeats = 0;
};

struct Process;

struct Thread {
  Tid tid = 0;
  Process* process = nullptr;
  std::string name{};
  bool is_replaced = false;  ///< by an exec: its totals went over to the new thread
  bool has_paid = false;     ///< for the step it is at, which takes time before it does anything
  State state = State::Ready;
  std::vector<Place> places{};
  std::set<Tid> started{};  ///< threads that it waits for with join

  std::uint64_t left_user_ns = 0;  ///< of the burst it is in
  std::uint64_t left_kernel_ns = 0;
  Level level = Level::Performance;
  Then then = Then::NextStep;
  std::uint64_t wakes = 0;  ///< number of its latest event; older ones are void
  int cpu = -1;

  Work ran{};        ///< since birth: the truth
  Work inherited{};  ///< by recount from before an exec
  Work accounted{};  ///< the part of `ran` that recount knows: up to the last switch
  std::optional<Counters> buffer{};  ///< kpc's, PMC by PMC; nullopt: not made yet
  bool wants_buffer = false;         ///< older than thread counting: made at its next switch
  std::uint64_t sampled = 0;         ///< of `ran`, instructions up to the latest sample
  std::uint64_t pet_generation = 0;
};

/// The work of an ended process, for the tests alone.
struct Truth {
  std::uint64_t threads = 0;
  std::uint64_t cycles = 0;        ///< thread by thread, from birth to THREAD_TERMINATE_PID
  std::uint64_t instructions = 0;  ///< likewise
  std::uint64_t sampled = 0;       ///< before each thread's last sample
  std::map<std::string, std::uint64_t> events{};  ///< of the levels that are counted

  Truth& operator+=(const Truth& other);
};

enum class Life : std::uint8_t { Alive, Stopped, Zombie, Reaped };

/// Standard input, output and error; closed with the last process that has them.
struct Descriptors {
  std::array<int, 3> fds = {-1, -1, -1};
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors();
};

class Region;

struct Process {
  Pid pid = 0;
  std::uint64_t unique_id = 0;
  Pid parent = 0;
  Pid group = 0;
  unsigned user = 501;
  std::string name{};
  std::string folder{};  ///< its program's
  Life life = Life::Alive;
  bool stop_is_reported = false;
  bool is_killed = false;
  int status = 0;  ///< as wait4 gives it
  int qos_clamp = 0;
  std::shared_ptr<Descriptors> descriptors{};
  std::shared_ptr<Region> region{};  ///< null if it got none
  std::set<unsigned> ignored{};
  std::vector<std::unique_ptr<Thread>> threads{};  ///< that have not ended
  Tid main = 0;
  std::uint64_t peak_bytes = 1'458'176;
  std::uint64_t started_at_ns = 0;
  std::uint64_t ended_at_ns = 0;
  Work ended_threads{};  ///< recount of threads that have gone, exec's inheritance included
  Work cached{};         ///< its final totals
  Work children{};       ///< of the reaped ones and theirs
  Truth truth{};
  std::uint64_t root_id = 0;  ///< unique id of the command that it descends from
};

}  // namespace lauka::darwin

#include "fakes/darwin/kernel.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace lauka::darwin {

// How processes and threads begin and end: facts, 4.5, 4.8, 7.1.

namespace {

constexpr std::uint64_t kThreadExitNs = 1'000;
constexpr std::uint64_t kProcessExitNs = 18'000;
constexpr Pid kFewPids = 100;
constexpr Pid kFirstPid = 812;

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Descriptors::~Descriptors() {
  for (const int fd : fds) {
    if (fd >= 0) close(fd);
  }
}

Truth& Truth::operator+=(const Truth& other) {
  threads += other.threads;
  cycles += other.cycles;
  instructions += other.instructions;
  sampled += other.sampled;
  for (const auto& [name, count] : other.events) events[name] += count;
  return *this;
}

Truth tree_of(const Kernel& kernel, std::uint64_t root) {
  Truth all;
  for (const auto& process : kernel.processes())
    if (process->root_id == root) all += process->truth;
  return all;
}

Pid Kernel::free_pid() {
  for (Pid tried = 0;; ++tried) {
    if (setup.pids_are_few && tried > kFewPids) throw std::runtime_error("no pid is free");
    const Pid pid = next_pid_++;
    if (setup.pids_are_few && next_pid_ > kFirstPid + kFewPids) next_pid_ = kFirstPid + 1;
    if (find(pid) == nullptr) return pid;
  }
}

Process& Kernel::add_process(Pid parent, const std::string& name) {
  auto made = std::make_unique<Process>();
  made->pid = free_pid();
  made->unique_id = next_unique_id_++;
  made->parent = parent;
  made->group = made->pid;
  made->name = name;
  made->started_at_ns = now_ns_;
  processes_.push_back(std::move(made));
  return *processes_.back();
}

Process& Kernel::fork_of(const Process& parent) {
  Process& child = add_process(parent.pid, parent.name);
  child.group = parent.group;
  child.user = parent.user;
  child.folder = parent.folder;
  child.descriptors = parent.descriptors;
  child.qos_clamp = parent.qos_clamp;
  child.region = parent.region;
  child.ignored = parent.ignored;
  child.root_id = parent.root_id;
  return child;
}

Thread& Kernel::add_thread(Process& process, Script script) {
  auto made = std::make_unique<Thread>();
  made->tid = next_tid_++;
  made->process = &process;
  if (process.threads.empty()) process.main = made->tid;
  if (script) made->places.push_back({std::move(script), 0, 1});
  if (pmu.thread_counting() != 0) made->buffer.emplace();
  threads_[made->tid] = made.get();
  process.threads.push_back(std::move(made));
  return *process.threads.back();
}

void Kernel::announce(const Thread& made, Tid creator, unsigned cpu, bool exec_copy) {
  const Process& process = *made.process;
  const auto pid = static_cast<std::uint64_t>(process.pid);
  emit(cpu, creator, id::kNewThread, {made.tid, pid, exec_copy ? 1U : 0U, process.unique_id});
  emit_text(cpu, creator, id::kStringNewThread, process.name);
}

/// EXEC names the thread of the new image, whichever thread activated it.
void Kernel::announce_image(const Thread& made, unsigned cpu) {
  const auto pid = static_cast<std::uint64_t>(made.process->pid);
  emit(cpu, made.tid, id::kExec, {pid, 16777234, 0xfffffff0009d000 + pid});
  emit_text(cpu, made.tid, id::kStringExec, made.process->name);
}

int Kernel::spawn(const Birth& birth, Pid& pid) {
  Script script;
  if (const int error = load(birth.path, birth.words, script); error != 0) return error;
  Process& child = add_process(lauka().pid, base_name(birth.path));
  child.root_id = child.unique_id;
  child.folder = birth.path.substr(0, birth.path.rfind('/'));
  child.user = birth.user;
  if (!birth.own_group) child.group = lauka().group;
  child.descriptors = birth.descriptors;
  child.region = birth.region;
  child.qos_clamp = birth.qos_clamp;
  Thread& made = add_thread(child, script);
  announce(made, lauka_thread().tid, lauka_cpu(), false);
  announce_image(made, lauka_cpu());
  pid = child.pid;
  if (birth.suspended) {
    made.state = State::Held;
  } else {
    ready(made);
  }
  pass(kSpawnNs);
  return 0;
}

const Process* Kernel::find(Pid pid) const {
  const auto found = std::find_if(processes_.begin(), processes_.end(), [pid](const auto& process) {
    return process->pid == pid && process->life != Life::Reaped;
  });
  return found == processes_.end() ? nullptr : found->get();
}

Process* Kernel::find(Pid pid) {
  return const_cast<Process*>(std::as_const(*this).find(pid));
}

Process& Kernel::start_beside(Pid pid, unsigned user, const std::string& name) {
  const Pid next = std::exchange(next_pid_, pid);
  Process& made = add_process(1, name);
  next_pid_ = next;
  made.user = user;
  add_thread(made, nullptr).state = State::Sleeping;
  return made;
}

void Kernel::end_beside(Process& process) {
  process.life = Life::Reaped;
  pmu.forget(process.unique_id);
  for (const auto& thread : process.threads) threads_.erase(thread->tid);
  process.threads.clear();
}

// NOLINTNEXTLINE(misc-no-recursion): a group is its members
int Kernel::send_signal(Pid pid, int number) {
  if (pid < 0) {
    int error = ESRCH;
    for (const auto& process : processes_) {
      const bool is_meant = process->group == -pid && process->life != Life::Reaped;
      if (is_meant && send_signal(process->pid, number) == 0) error = 0;
    }
    return error;
  }
  Process* process = find(pid);
  if (process == nullptr) return ESRCH;
  if (process->life == Life::Zombie || number == 0) return 0;
  switch (number) {
    case SIGCONT:
      carry_on(*process);
      break;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      stop(*process, number);
      break;
    case SIGCHLD:
    case SIGWINCH:
    case SIGURG:
      break;
    default:
      if (number == SIGKILL || process->ignored.count(static_cast<unsigned>(number)) == 0)
        end_process(*process, number);
  }
  dispatch();
  return 0;
}

void Kernel::carry_on(Process& process) {
  process.life = Life::Alive;
  for (const auto& thread : process.threads) {
    if (thread->state == State::Held) ready(*thread);
  }
}

void Kernel::stop(Process& process, int number) {
  process.life = Life::Stopped;
  process.status = number << 8 | 0x7f;
  process.stop_is_reported = false;
  for (const auto& thread : process.threads) {
    if (thread->state == State::Running) {
      switch_off(static_cast<unsigned>(thread->cpu));
      thread->state = State::Held;
    } else if (thread->state == State::Ready) {
      thread->state = State::Held;
    }
  }
  if (process.parent == lauka().pid) child_changed = true;
}

/// The first to end a process decides its status; every thread of it then ends itself.
void Kernel::end_process(Process& process, int status) {
  if (process.is_killed) return;
  process.is_killed = true;
  process.life = Life::Alive;
  process.status = status;
  for (const auto& thread : process.threads) condemn(*thread);
}

/// Makes `thread` end at the next moment it runs.
void Kernel::condemn(Thread& thread) {
  if (thread.then != Then::NextStep) return;
  if (thread.state == State::Running) settle(static_cast<unsigned>(thread.cpu));
  thread.left_user_ns = 0;
  thread.left_kernel_ns = 0;
  ++thread.wakes;
  if (thread.state == State::Running) {
    const auto cpu = static_cast<unsigned>(thread.cpu);
    add_event(now_ns_, Event::Kind::Slice, cpu, ++cpus_.at(cpu).slice);
  } else if (thread.state != State::Ready) {
    ready(thread);
  }
}

void Kernel::note_truth(const Thread& thread) {
  Truth& truth = thread.process->truth;
  ++truth.threads;
  truth.cycles += cycles_of(thread.ran, kBothModes);
  truth.instructions += instructions_of(thread.ran, kBothModes);
  const Modes modes = setup.pmu.user_only ? kUserOnly : kBothModes;
  for (const ChipEvent& event : setup.chip.events) {
    // Two names of one selector are one event.
    const ChipEvent& counted = event.fixed ? event : *setup.chip.event(event.number);
    truth.events[event.name] += event_count(counted, thread.ran, event.fixed ? kBothModes : modes);
  }
}

void Kernel::terminate_self(Thread& thread, unsigned cpu) {
  settle(cpu);
  thread.accounted = thread.ran;
  const Process& process = *thread.process;
  const bool is_last =
      std::none_of(process.threads.begin(), process.threads.end(), [&thread](const auto& other) {
        const bool same_task = other->is_replaced == thread.is_replaced;
        return other.get() != &thread && same_task && other->then == Then::NextStep;
      });
  note_truth(thread);
  tell_of_exit(thread, cpu);
  thread.process->truth.sampled += thread.sampled;
  if (is_last) {
    const Work all = recounted(process);
    const auto totals = [&](Level level) {
      return std::pair{instructions_of(all, level, kBothModes), cycles_of(all, level, kBothModes)};
    };
    const auto [p_instructions, p_cycles] = totals(Level::Performance);
    const auto [e_instructions, e_cycles] = totals(Level::Efficiency);
    emit(cpu, thread.tid, id::kProcExit,
         {p_instructions + e_instructions, p_cycles + e_cycles, mach(all.of(Mode::Kernel)),
          mach(all.of(Mode::User))});
    emit(cpu, thread.tid, id::kProcExitP,
         {p_instructions, p_cycles, mach(all.at(Level::Performance, Mode::Kernel)),
          mach(all.at(Level::Performance, Mode::User))});
    emit_text(cpu, thread.tid, id::kStringProcExit, process.name);
  }
  const bool ends_process = is_last && !thread.is_replaced;
  thread.then = ends_process ? Then::CacheTotals : Then::Gone;
  thread.left_user_ns = 0;
  thread.left_kernel_ns = ends_process ? kProcessExitNs : kThreadExitNs;
}

/// On the ending thread itself, in this order; records that the filter drops trigger nothing.
void Kernel::tell_of_exit(const Thread& thread, unsigned cpu) {
  if (!thread.name.empty()) emit_name(cpu, thread.tid, id::kThreadNamePrevious, thread.name);
  Work all = thread.ran;
  all += thread.inherited;
  emit(cpu, thread.tid, id::kThreadExit,
       {instructions_of(all, kBothModes), cycles_of(all, kBothModes), mach(all.of(Mode::Kernel)),
        mach(all.of(Mode::User))});
  emit(cpu, thread.tid, id::kThreadExitP,
       {instructions_of(all, Level::Performance, kBothModes),
        cycles_of(all, Level::Performance, kBothModes),
        mach(all.at(Level::Performance, Mode::Kernel)),
        mach(all.at(Level::Performance, Mode::User))});
  const auto pid = static_cast<std::uint64_t>(thread.process->pid);
  emit(cpu, thread.tid, id::kTerminatePid, {pid, thread.process->unique_id});
}

Work Kernel::recounted(const Process& process) const {
  Work all = process.ended_threads;
  for (const auto& thread : process.threads) {
    if (thread->is_replaced) continue;
    all += thread->inherited;
    all += thread->accounted;
  }
  return all;
}

void Kernel::bury(Thread& thread, unsigned cpu) {
  Process& process = *thread.process;
  cpus_.at(cpu).to_bury = thread.tid;
  switch_off(cpu);
  thread.state = State::Ended;
  if (!thread.is_replaced) {
    process.ended_threads += thread.inherited;
    process.ended_threads += thread.ran;
  }
  const Tid tid = thread.tid;
  threads_.erase(tid);
  auto& threads = process.threads;
  threads.erase(std::find_if(threads.begin(), threads.end(),
                             [&thread](const auto& one) { return one.get() == &thread; }));
  for (const auto& other : threads) {
    const bool was_awaited = other->started.erase(tid) != 0;
    if (was_awaited && other->started.empty() && other->state == State::Waiting) wake(*other);
  }
}

void Kernel::become_zombie(Process& process) {
  process.life = Life::Zombie;
  process.ended_at_ns = now_ns_;
  process.descriptors.reset();
  for (const auto& child : processes_) {
    if (child->parent != process.pid || child->life == Life::Reaped) continue;
    child->parent = 1;
    if (child->life == Life::Zombie) child->life = Life::Reaped;
  }
  if (process.parent == lauka().pid) {
    child_changed = true;
  } else if (process.parent == 1) {
    process.life = Life::Reaped;
  } else {
    wake_those_who_wait(process.parent);
  }
}

void Kernel::wake_those_who_wait(Pid parent) {
  Process* found = find(parent);
  if (found == nullptr) return;
  for (const auto& thread : found->threads) {
    if (thread->state == State::Waiting && thread->started.empty()) wake(*thread);
  }
}

void Kernel::reap(Process& process) {
  process.life = Life::Reaped;
  if (Process* parent = find(process.parent)) {
    parent->children += process.cached;
    parent->children += process.children;
  }
}

// Time, CPUs and the scheduler.

namespace {

constexpr std::uint64_t kQuantumNs = 10'000'000;
constexpr std::uint64_t kSwitchNs = 75;  ///< the kernel's work when a thread comes on a CPU
constexpr std::uint64_t kMinTimerNs = 50'000;
constexpr std::uint64_t kMinPetNs = 1'000'000;
/// Nothing in a test takes longer; a wait that would is a wait for ever.
constexpr std::uint64_t kForEverNs = 100'000'000'000'000;

}  // namespace

Kernel::Kernel(Setup with)
    : setup(std::move(with)),
      pmu(setup.chip, setup.pmu),
      trace(setup.trace),
      sampler({mach(kMinTimerNs), mach(kMinPetNs), mach(kMinPetNs)}),
      ktrace(hooks_of_ktrace()),
      cpus_(setup.chip.cpus()) {
  for (unsigned i = 0; i < cpus_.size(); ++i) {
    Cpu& cpu = cpus_[i];
    cpu.level = i < setup.chip.performance_cpus ? Level::Performance : Level::Efficiency;
    cpu.idle_tid = 100 + i;
    cpu.settled_ns = now_ns_;
  }
  cpus_.at(lauka_cpu()).for_lauka = true;
  Process& launchd = add_process(0, "launchd");
  launchd.pid = 1;
  launchd.user = 0;
  next_pid_ = 812;
  Process& own = add_process(1, "lauka");
  own.user = setup.is_root ? 0 : 501;
  add_thread(own, nullptr).state = State::Sleeping;
  if (setup.neighbours) {
    Process& make = add_process(1, "make");
    ready(add_thread(make,
                     read_script("repeat 1000000 {\nsleep 700us\nfork {\nrun 400us\n}\nwait\n}")));
    dispatch();
  }
}

Ktrace::Hooks Kernel::hooks_of_ktrace() {
  const auto is_alive = [this](std::uint64_t unique_id) {
    return std::any_of(processes_.begin(), processes_.end(), [unique_id](const auto& process) {
      const bool has_ended = process->life == Life::Zombie || process->life == Life::Reaped;
      return process->unique_id == unique_id && !has_ended;
    });
  };
  const auto reset = [this](std::uint32_t parts) {
    if ((parts & kKperfPart) != 0) sampler.reset();
    if ((parts & kKdebugPart) != 0) trace.remove();
  };
  return {is_alive, reset};
}

void Kernel::add_event(std::uint64_t at_ns, Event::Kind kind, std::uint64_t whom,
                       std::uint64_t which) {
  events_.push({at_ns, event_number_++, kind, whom, which});
}

bool Kernel::handle_next(std::uint64_t until_ns) {
  if (events_.empty() || events_.top().at_ns > until_ns) return false;
  const Event event = events_.top();
  events_.pop();
  now_ns_ = std::max(now_ns_, event.at_ns);
  handle(event);
  return true;
}

void Kernel::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::Slice:
      if (cpus_.at(event.whom).slice == event.which) end_slice(static_cast<unsigned>(event.whom));
      break;
    case Event::Kind::Wake: {
      const auto found = threads_.find(event.whom);
      if (found != threads_.end() && found->second->wakes == event.which) wake(*found->second);
      break;
    }
    case Event::Kind::Timer:
      pet_fires(event.whom);
      break;
    case Event::Kind::Words:
      settle_all();
      pmu.overwrite_words(setup.chip.any_selector());
      break;
  }
  dispatch();
}

void Kernel::pass(std::uint64_t ns) {
  const unsigned cpu = lauka_cpu();
  const std::uint64_t until_ns = now_ns_ + ns;
  switch_on(cpu, lauka_thread());
  while (handle_next(until_ns)) {
  }
  now_ns_ = until_ns;
  settle(cpu);
  switch_off(cpu);
  lauka_thread().state = State::Sleeping;
}

bool Kernel::wait_until(const std::function<bool()>& done, std::uint64_t ns) {
  const std::uint64_t until_ns = ns > kForEverNs ? now_ns_ + kForEverNs : now_ns_ + ns;
  while (!done()) {
    if (handle_next(until_ns)) continue;
    if (ns > kForEverNs) throw std::runtime_error("the model's lauka waits for ever");
    now_ns_ = until_ns;
    return done();
  }
  return true;
}

void Kernel::change_words_in(std::uint64_t ns) {
  add_event(now_ns_ + ns, Event::Kind::Words, 0, 0);
}

void Kernel::charge(unsigned cpu, std::uint64_t user_ns, std::uint64_t kernel_ns) {
  Thread& thread = *cpus_.at(cpu).running;
  const Level level = cpus_.at(cpu).level;
  const Work before = thread.ran;
  thread.ran.at(level, Mode::User) += user_ns;
  thread.ran.at(level, Mode::Kernel) += kernel_ns;
  pmu.count(cpu, before, thread.ran);
}

/// The running thread's work up to now.
void Kernel::settle(unsigned number) {
  Cpu& cpu = cpus_.at(number);
  const std::uint64_t elapsed = now_ns_ - cpu.settled_ns;
  cpu.settled_ns = now_ns_;
  Thread* thread = cpu.running;
  if (thread == nullptr || elapsed == 0) return;
  if (cpu.for_lauka) {
    charge(number, 0, elapsed);
    return;
  }
  const std::uint64_t left = thread->left_user_ns + thread->left_kernel_ns;
  const std::uint64_t done = std::min(elapsed, left);
  const std::uint64_t user = left == 0 ? 0 : done * thread->left_user_ns / left;
  thread->left_user_ns -= user;
  thread->left_kernel_ns -= done - user;
  charge(number, user, done - user);
}

void Kernel::settle_all() {
  for (unsigned i = 0; i < cpus_.size(); ++i) settle(i);
}

void Kernel::ready(Thread& thread) {
  if (thread.process->life == Life::Stopped && !thread.process->is_killed) {
    thread.state = State::Held;
    return;
  }
  thread.state = State::Ready;
  const Level level = thread.process->qos_clamp >= 2 ? Level::Efficiency : thread.level;
  ready_.at(static_cast<std::size_t>(level)).push_back(&thread);
}

void Kernel::dispatch() {
  // A thread that comes on a CPU may go on to one of the other kind, which has been passed by then.
  while (dispatch_once()) {
  }
}

bool Kernel::dispatch_once() {
  bool any = false;
  for (unsigned i = 0; i < cpus_.size(); ++i) {
    auto& waiting = ready_.at(static_cast<std::size_t>(cpus_[i].level));
    while (!cpus_[i].for_lauka && cpus_[i].running == nullptr && !waiting.empty()) {
      Thread* thread = waiting.front();
      waiting.pop_front();
      if (thread->state != State::Ready) continue;
      any = true;
      switch_on(i, *thread);
      if (thread->left_user_ns + thread->left_kernel_ns == 0) {
        go_on(i);
      } else {
        begin_slice(i);
      }
    }
  }
  return any;
}

void Kernel::switch_on(unsigned number, Thread& thread) {
  Cpu& cpu = cpus_.at(number);
  pmu.switch_off(number, nullptr);  // the idle thread's
  cpu.running = &thread;
  cpu.settled_ns = now_ns_;
  cpu.slice_began_ns = now_ns_;
  thread.state = State::Running;
  thread.cpu = static_cast<int>(number);
  charge(number, 0, kSwitchNs);
  if (cpu.to_bury != 0) {
    emit(number, thread.tid, id::kTerminate, {cpu.to_bury});
    cpu.to_bury = 0;
  }
  pet_on_switch(number, thread);
  if (thread.wants_buffer) make_buffer(number, thread);
}

void Kernel::switch_off(unsigned number) {
  Cpu& cpu = cpus_.at(number);
  Thread& thread = *cpu.running;
  settle(number);
  pmu.switch_off(number, thread.buffer ? &*thread.buffer : nullptr);
  thread.accounted = thread.ran;
  thread.cpu = -1;
  cpu.running = nullptr;
  ++cpu.slice;
  if (cpu.to_bury != 0 && ready_.at(static_cast<std::size_t>(cpu.level)).empty()) {
    emit(number, cpu.idle_tid, id::kTerminate, {cpu.to_bury});
    cpu.to_bury = 0;
  }
}

void Kernel::begin_slice(unsigned number) {
  Cpu& cpu = cpus_.at(number);
  const std::uint64_t left = cpu.running->left_user_ns + cpu.running->left_kernel_ns;
  const std::uint64_t used = now_ns_ - cpu.slice_began_ns;
  const std::uint64_t room = used < kQuantumNs ? kQuantumNs - used : kQuantumNs;
  add_event(now_ns_ + std::min(left, room), Event::Kind::Slice, number, ++cpu.slice);
}

void Kernel::end_slice(unsigned number) {
  settle(number);
  Cpu& cpu = cpus_.at(number);
  Thread& thread = *cpu.running;
  if (thread.left_user_ns + thread.left_kernel_ns == 0) {
    go_on(number);
    return;
  }
  // Its time on the CPU is up. It comes back at once if no other waits, but the kernel's accounting
  // is brought up to date all the same.
  switch_off(number);
  ready(thread);
}

void Kernel::sleep(Thread& thread, std::uint64_t ns) {
  thread.state = State::Sleeping;
  add_event(now_ns_ + ns, Event::Kind::Wake, thread.tid, ++thread.wakes);
}

void Kernel::wake(Thread& thread) {
  if (thread.state != State::Sleeping && thread.state != State::Waiting) return;
  ++thread.wakes;
  ready(thread);
}

}  // namespace lauka::darwin

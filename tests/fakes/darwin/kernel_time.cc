#include "fakes/darwin/kernel.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

// Time, CPUs and the scheduler.

namespace lauka::darwin {
namespace {

constexpr std::uint64_t kQuantumNs = 10'000'000;
constexpr std::uint64_t kSwitchNs = 75;  ///< the kernel's work when a thread comes on a CPU
constexpr std::uint64_t kLeastTimerNs = 50'000;
constexpr std::uint64_t kLeastPetNs = 1'000'000;
/// Nothing in a test takes longer; a wait that would is a wait for ever.
constexpr std::uint64_t kForEverNs = 100'000'000'000'000;

}  // namespace

Kernel::Kernel(Setup with)
    : setup(std::move(with)),
      pmu(setup.chip, setup.pmu),
      trace(setup.trace),
      sampler({mach(kLeastTimerNs), mach(kLeastPetNs), mach(kLeastPetNs)}),
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
  // Whoever comes on a CPU may go on to one of the other kind, which has been passed by then.
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
  // Its time on the CPU is up. It comes back at once where nobody else waits, but the kernel's
  // accounting is brought up to date all the same.
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

#include "fakes/darwin/kernel.h"
#include "fakes/darwin/region.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <unistd.h>

// What the threads of the model do, step by step.

namespace lauka::darwin {
namespace {

constexpr std::uint64_t kNewThreadNs = 2'000;
constexpr std::uint64_t kForkNs = 30'000;
constexpr std::uint64_t kExecNs = 40'000;
constexpr std::uint64_t kAfterCachingNs = 2'000;

}  // namespace

/// The thread on `cpu` has done its work: what comes then.
void Kernel::go_on(unsigned number) {
  Thread& thread = *cpus_.at(number).running;
  while (cpus_.at(number).running == &thread) {
    if (thread.left_user_ns + thread.left_kernel_ns > 0) {
      const bool is_moved = thread.level != cpus_.at(number).level && thread.process->qos_clamp < 2;
      if (!is_moved) {
        begin_slice(number);
        return;
      }
      switch_off(number);
      ready(thread);
      return;
    }
    switch (thread.then) {
      case Then::NextStep:
        next_step(thread, number);
        break;
      case Then::CacheTotals:
        settle(number);
        thread.accounted = thread.ran;
        thread.process->cached = recounted(*thread.process);
        thread.left_kernel_ns = kAfterCachingNs;
        thread.then = Then::BecomeZombie;
        break;
      case Then::BecomeZombie: {
        Process& process = *thread.process;
        bury(thread, number);
        become_zombie(process);
        return;
      }
      case Then::Gone:
        bury(thread, number);
        return;
    }
  }
}

void Kernel::next_step(Thread& thread, unsigned cpu) {
  Process& process = *thread.process;
  while (!thread.places.empty() && thread.places.back().next == thread.places.back().body->size()) {
    Place& place = thread.places.back();
    if (place.repeats > 1) {
      --place.repeats;
      place.next = 0;
    } else {
      thread.places.pop_back();
    }
  }
  if (!process.is_killed && !thread.is_replaced && thread.places.empty() &&
      thread.tid == process.main)
    end_process(process, 0);
  if (process.is_killed || thread.is_replaced || thread.places.empty()) {
    terminate_self(thread, cpu);
    return;
  }
  Place& place = thread.places.back();
  const Script body = place.body;  // an exec drops the places
  const Step& step = body->at(place.next);
  if (pays_first(step, thread) || has_to_wait(step, thread)) {
    if (thread.state == State::Waiting) switch_off(cpu);
    return;
  }
  ++place.next;
  take(step, thread, cpu);
}

/// Work that comes before a step has its effect.
bool Kernel::pays_first(const Step& step, Thread& thread) {
  if (step.what != Do::Exec && step.what != Do::FailedExec) return false;
  thread.has_paid = !thread.has_paid;
  if (thread.has_paid) thread.left_kernel_ns = kExecNs;
  return thread.has_paid;
}

bool Kernel::has_to_wait(const Step& step, Thread& thread) {
  if (step.what == Do::Join && !thread.started.empty()) {
    thread.state = State::Waiting;
    return true;
  }
  if (step.what != Do::Wait) return false;
  bool has_children = false;
  for (const auto& child : processes_) {
    if (child->parent != thread.process->pid || child->life == Life::Reaped) continue;
    if (child->life == Life::Zombie) {
      reap(*child);
    } else {
      has_children = true;
    }
  }
  if (has_children) thread.state = State::Waiting;
  return has_children;
}

void Kernel::take(const Step& step, Thread& thread, unsigned cpu) {
  switch (step.what) {
    case Do::Run:
      thread.left_kernel_ns = step.ns * step.kernel_permille / 1000;
      thread.left_user_ns = step.ns - thread.left_kernel_ns;
      thread.level = step.level;
      break;
    case Do::Sleep:
      switch_off(cpu);
      sleep(thread, step.ns);
      break;
    case Do::Repeat:
      if (step.count > 0) thread.places.push_back({step.body, 0, step.count});
      break;
    case Do::Threads:
      start_threads(step, thread, cpu);
      break;
    case Do::Name:
      thread.name = step.text;
      emit_name(cpu, thread.tid, id::kThreadName, step.text);
      break;
    case Do::Join:
    case Do::Wait:
      break;
    default:
      take_of_process(step, thread, cpu);
  }
}

void Kernel::take_of_process(const Step& step, Thread& thread, unsigned cpu) {
  Process& process = *thread.process;
  switch (step.what) {
    case Do::Fork:
      fork(step, thread, cpu);
      break;
    case Do::Spawn:
      spawn_step(step, thread, cpu);
      break;
    case Do::Exec:
      exec(step, thread, cpu);
      break;
    case Do::FailedExec:
      emit(cpu, thread.tid, id::kNewThread,
           {next_tid_++, static_cast<std::uint64_t>(process.pid), 1, process.unique_id});
      break;
    case Do::Write: {
      const int given = process.descriptors ? process.descriptors->fds.at(step.count) : -1;
      const int fd = given >= 0 ? given : static_cast<int>(step.count);
      static_cast<void>(::write(fd, step.text.data(), step.text.size()));
      thread.left_kernel_ns = kCallNs;
      break;
    }
    case Do::Region: {
      settle(cpu);
      if (!process.region) break;
      Work all = thread.inherited;
      all += thread.ran;
      process.region->call(step.count == 1, {thread.tid, all, now_ns_});
      break;
    }
    case Do::Memory:
      process.peak_bytes = step.ns;
      break;
    case Do::Ignore:
      process.ignored.insert(step.count);
      break;
    case Do::Exit:
      end_process(process, static_cast<int>(step.count) << 8);
      break;
    case Do::Signal:
      send_signal(process.pid, static_cast<int>(step.count));
      break;
    default:
      break;
  }
}

void Kernel::start_threads(const Step& step, Thread& thread, unsigned cpu) {
  // One at a time, so that the first ones run while the later ones are made.
  Thread& made = add_thread(*thread.process, step.body);
  thread.started.insert(made.tid);
  announce(made, thread.tid, cpu, false);
  thread.left_kernel_ns = kNewThreadNs;
  ready(made);
  if (step.count < 2) return;
  Step rest = step;
  --rest.count;
  thread.places.push_back({std::make_shared<const std::vector<Step>>(1, std::move(rest)), 0, 1});
}

void Kernel::fork(const Step& step, Thread& thread, unsigned cpu) {
  Process& child = fork_of(*thread.process);
  if (step.own_group) child.group = child.pid;
  if (step.detached) child.parent = 1;
  Thread& made = add_thread(child, step.body);
  announce(made, thread.tid, cpu, false);
  thread.left_kernel_ns = kForkNs;
  ready(made);
}

void Kernel::spawn_step(const Step& step, Thread& thread, unsigned cpu) {
  const Process& parent = *thread.process;
  Script script;
  thread.left_kernel_ns = kSpawnNs;  // the image is activated on the parent's thread
  if (load(parent.folder + "/" + step.words.front(), step.words, script) != 0) return;
  Process& child = fork_of(parent);
  child.name = step.words.front();
  Thread& made = add_thread(child, script);
  announce(made, thread.tid, cpu, false);
  announce_image(made, cpu);
  ready(made);
}

/// A new task with a thread of its own takes over the pid; recount's totals are copied to it, kpc's
/// are not. The old thread then ends like any other.
void Kernel::exec(const Step& step, Thread& thread, unsigned cpu) {
  Process& process = *thread.process;
  Script script;
  if (load(process.folder + "/" + step.words.front(), step.words, script) != 0) {
    end_process(process, 127 << 8);
    return;
  }
  settle(cpu);
  Thread& made = add_thread(process, script);
  made.inherited = thread.inherited;
  made.inherited += thread.ran;
  announce(made, thread.tid, cpu, true);
  announce_image(made, cpu);
  process.main = made.tid;
  process.name = step.words.front();
  for (const auto& old : process.threads) {
    if (old.get() == &made) continue;
    old->is_replaced = true;
    if (old.get() != &thread) condemn(*old);
  }
  ready(made);
}

}  // namespace lauka::darwin

#include "fakes/darwin/kernel.h"
#include "fakes/darwin/region.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace lauka::darwin {

// The steps of the model's threads.

namespace {

constexpr std::uint64_t kNewThreadNs = 2'000;
constexpr std::uint64_t kForkNs = 30'000;
constexpr std::uint64_t kExecNs = 40'000;
constexpr std::uint64_t kAfterCachingNs = 2'000;

}  // namespace

/// The thread on `cpu` has done its work; does the next thing.
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

// The records of the trace: facts, 4.5, 4.6, 4.7, 5.1.

namespace {

constexpr std::size_t kValuesInRecord = 4;
constexpr std::size_t kMaxKernelCounters = 11;
constexpr std::uint64_t kTriggerFlags = 17;
constexpr std::uint64_t kSwitchFlags = 33;
constexpr std::uint64_t kTimerFlags = 1;
constexpr std::uint64_t kRunMode = 4294705155;
constexpr Tid kWalker = 99;
constexpr std::size_t kPiece = sizeof(std::array<std::uint64_t, 4>);

}  // namespace

// A record starts a sample, which writes records; those start none.
// NOLINTBEGIN(misc-no-recursion)
void Kernel::emit(unsigned cpu, Tid tid, std::uint32_t debugid,
                  std::array<std::uint64_t, 4> arguments) {
  const Record record{mach(now_ns_), arguments, tid, debugid, cpu};
  if (!trace.write(record) || !sampler.triggers(debugid)) return;
  sample(cpu, cpus_.at(cpu).running, sampler.trigger_action(), kTriggerFlags);
}

void Kernel::emit_text(unsigned cpu, Tid tid, std::uint32_t debugid, const std::string& text) {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), text.data(), std::min(text.size(), sizeof words));
  emit(cpu, tid, debugid, words);
}

/// A name of any length: a record holds 32 bytes, the first and the last one are marked.
void Kernel::emit_name(unsigned cpu, Tid tid, std::uint32_t debugid, const std::string& name) {
  for (std::size_t at = 0; at < name.size(); at += kPiece) {
    const std::uint32_t first = at == 0 ? id::kFunctionStart : 0;
    const std::uint32_t last = at + kPiece >= name.size() ? id::kFunctionEnd : 0;
    emit_text(cpu, tid, debugid | first | last, name.substr(at, kPiece));
  }
}

/// kpc_get_curthread_counters: always the thread on that CPU. Empty: its buffer is not there.
std::vector<std::uint64_t> Kernel::counters_of_thread(unsigned cpu, Thread* thread) {
  settle(cpu);
  if (thread == nullptr || !thread->buffer) return {};
  pmu.switch_off(cpu, &*thread->buffer);
  std::vector<std::uint64_t> values;
  for (const std::size_t i : pmu.thread_counters()) values.push_back(thread->buffer->at(i));
  return values;
}

void Kernel::emit_counters(unsigned cpu, Tid tid, const std::vector<std::uint64_t>& values,
                           std::uint32_t debugid) {
  for (std::size_t first = 0; first < values.size(); first += kValuesInRecord) {
    const bool is_last = first + kValuesInRecord >= values.size();
    // Unused values hold leftovers of an earlier sample.
    for (std::size_t i = 0; i < kValuesInRecord && first + i < values.size(); ++i)
      stale_.at(i) = values[first + i];
    const std::uint32_t function = first == 0 ? id::kFunctionStart : is_last ? id::kFunctionEnd : 0;
    emit(cpu, tid, debugid | function, stale_);
  }
}

/// `thread` null: the CPU is idle.
void Kernel::sample(unsigned cpu, Thread* thread, std::uint32_t number, std::uint64_t flags) {
  const Sampler::Action* action = sampler.action(number);
  if (action == nullptr) return;
  const Pid pid = thread == nullptr ? 0 : thread->process->pid;
  if (action->pid_filter != -1 && action->pid_filter != pid) return;
  const Tid tid = thread == nullptr ? cpus_.at(cpu).idle_tid : thread->tid;
  const std::uint32_t samplers = action->samplers;
  settle(cpu);
  emit(cpu, tid, id::kSample | id::kFunctionStart, {samplers, number, action->userdata, flags});
  const bool idle_is_skipped = thread == nullptr && (samplers & sampler_bit::kThreadInfo) != 0;
  if (!idle_is_skipped) {
    if (thread != nullptr) emit_thread_data(cpu, *thread, samplers);
    emit_values(cpu, thread, samplers);
  }
  emit(cpu, tid, id::kSample | id::kFunctionEnd, {samplers, idle_is_skipped ? 1U : 0U});
}

void Kernel::emit_thread_data(unsigned cpu, const Thread& thread, std::uint32_t samplers) {
  if ((samplers & sampler_bit::kThreadInfo) != 0) {
    emit(cpu, thread.tid, id::kThreadData,
         {static_cast<std::uint64_t>(thread.process->pid), thread.tid, 0x1892b0000 + thread.tid,
          kRunMode});
  }
  if ((samplers & sampler_bit::kInsCyc) == 0) return;
  Work all = thread.ran;
  all += thread.inherited;
  emit(cpu, thread.tid, id::kInsCycData,
       {instructions_of(all, kBothModes), cycles_of(all, kBothModes),
        instructions_of(all, Level::Performance, kBothModes),
        cycles_of(all, Level::Performance, kBothModes)});
}

void Kernel::emit_values(unsigned cpu, Thread* thread, std::uint32_t samplers) {
  if ((samplers & sampler_bit::kThreadCounters) == 0) return;
  auto values = counters_of_thread(cpu, thread);
  if (values.empty())
    values.assign(kMaxKernelCounters, 0);
  else
    thread->sampled = instructions_of(thread->ran, kBothModes);
  emit_counters(cpu, thread == nullptr ? cpus_.at(cpu).idle_tid : thread->tid, values,
                id::kThreadCounters);
}
// NOLINTEND(misc-no-recursion)

void Kernel::pet_on_switch(unsigned cpu, Thread& thread) {
  const bool is_on = sampler.is_sampling() && sampler.is_lightweight() && sampler.pet_action() != 0;
  if (!is_on || thread.pet_generation == pet_generation_) return;
  thread.pet_generation = pet_generation_;
  sample(cpu, &thread, sampler.pet_action(), kSwitchFlags);
}

void Kernel::start_sampling() {
  ++timer_starts_;
  ++pet_generation_;
  for (std::uint32_t i = 0; i < sampler.timer_count(); ++i) {
    const Sampler::Timer& timer = *sampler.timer(i);
    if (timer.period == 0 || timer.action == 0) continue;
    add_event(now_ns_ + ns_of_mach(timer.period), Event::Kind::Timer, timer_starts_ << 8U | i, 0);
  }
}

/// Ordinary PET: a thread of the kernel walks over all threads and labels its samples with them,
/// but the counters it reads are its own.
void Kernel::walk_all_threads() {
  const Sampler::Action* action = sampler.action(sampler.pet_action());
  if (action == nullptr) return;
  for (const auto& [tid, thread] : threads_) {
    const Pid pid = thread->process->pid;
    if (action->pid_filter != -1 && action->pid_filter != pid) continue;
    emit(0, kWalker, id::kSample | id::kFunctionStart,
         {action->samplers, sampler.pet_action(), action->userdata, kTimerFlags});
    emit(0, kWalker, id::kThreadData, {static_cast<std::uint64_t>(pid), tid, 0, kRunMode});
    ++walks_;
    std::vector<std::uint64_t> own(pmu.thread_counters().size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = walks_ * (4000 - 300 * i);
    emit_counters(0, kWalker, own, id::kThreadCounters);
    emit(0, kWalker, id::kSample | id::kFunctionEnd, {action->samplers});
  }
}

/// One of kperf's timers, PET's or a plain one.
void Kernel::pet_fires(std::uint64_t whom) {
  const auto number = static_cast<std::uint32_t>(whom & 0xff);
  const Sampler::Timer* timer = sampler.timer(number);
  if (!sampler.is_sampling() || whom >> 8U != timer_starts_ || timer == nullptr) return;
  add_event(now_ns_ + ns_of_mach(timer->period), Event::Kind::Timer, whom, 0);
  const bool is_pet = number == sampler.pet_timer();
  if (is_pet && !sampler.is_lightweight()) {
    walk_all_threads();
    return;
  }
  if (is_pet) ++pet_generation_;
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    Thread* running = cpus_[cpu].running;
    if (running != nullptr && is_pet) running->pet_generation = pet_generation_;
    sample(cpu, running, is_pet ? sampler.pet_action() : timer->action, kTimerFlags);
  }
}

void Kernel::set_thread_counting(std::uint32_t classes, Thread* caller) {
  settle_all();
  pmu.set_thread_counting(classes);
  if (pmu.thread_counting() == 0) return;
  for (const auto& [tid, thread] : threads_) {
    if (thread->buffer || thread->state == State::Ended) continue;
    thread->wants_buffer = true;
  }
  // The caller's is made on its way out of the call; its CPU's earlier counts are in it.
  if (caller != nullptr) make_buffer(lauka_cpu(), *caller);
}

void Kernel::make_buffers(Process& process) {
  for (const auto& thread : process.threads)
    if (thread->wants_buffer) make_buffer(lauka_cpu(), *thread);
}

/// By an AST, which writes an empty sample.
void Kernel::make_buffer(unsigned cpu, Thread& thread) {
  thread.wants_buffer = false;
  if (pmu.thread_counting() == 0 || thread.buffer) return;
  thread.buffer.emplace();
  emit(cpu, thread.tid, id::kSample | id::kFunctionStart, {});
  emit(cpu, thread.tid, id::kSample | id::kFunctionEnd, {});
}

}  // namespace lauka::darwin

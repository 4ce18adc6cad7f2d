#include "core/result.h"
#include "os/turns.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

namespace lauka::os {
namespace {

/// While it lives, no signal comes to this thread: to whoever has the turn.
class SignalsElsewhere : NonCopyable {
 public:
  SignalsElsewhere() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~SignalsElsewhere() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

  const sigset_t& usual() const { return saved_; }

 private:
  sigset_t saved_{};
};

class Stage {
 public:
  explicit Stage(std::size_t activities) : nobody_(activities), whose_(activities) {}

  /// Gives the turn to `activity` and waits until it gives it back.
  void give_to(std::size_t activity) {
    std::unique_lock lock(mutex_);
    whose_ = activity;
    changed_.notify_all();
    changed_.wait(lock, [&] { return whose_ == nobody_; });
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    whose_ = nobody_;
    changed_.notify_all();
  }

  /// False: nothing is to begin any more.
  bool wait_for(std::size_t activity) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return whose_ == activity || is_called_off_; });
    return !is_called_off_;
  }

  void call_off() {
    const std::lock_guard lock(mutex_);
    is_called_off_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t nobody_;
  std::size_t whose_;
  bool is_called_off_ = false;
};

/// What threads have in common; they are waited for, whatever happens.
struct Cast : NonCopyable {
  explicit Cast(std::size_t activities) : stage(activities), over(activities, 0) {}
  ~Cast() {
    stage.call_off();
    for (std::thread& thread : threads) thread.join();
  }

  Stage stage;
  std::vector<char> over;
  std::exception_ptr thrown{};
  std::vector<std::thread> threads{};
};

void act(std::size_t self, const std::function<void(const Yield&)>& activity, const sigset_t& usual,
         Cast& cast) {
  if (!cast.stage.wait_for(self)) return;
  pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  try {
    activity([&cast, self] {
      const SignalsElsewhere elsewhere;
      cast.stage.give_back();
      cast.stage.wait_for(self);
    });
  } catch (...) {
    if (!cast.thrown) cast.thrown = std::current_exception();
  }
  const SignalsElsewhere elsewhere;
  cast.over[self] = 1;
  cast.stage.give_back();
}

}  // namespace

void take_turns(const std::vector<std::function<void(const Yield&)>>& activities,
                const std::function<std::size_t(std::span<const std::size_t>)>& next) {
  Cast cast(activities.size());
  {
    const SignalsElsewhere elsewhere;  // threads begin with the mask of whoever makes them
    for (std::size_t i = 0; i < activities.size(); ++i)
      cast.threads.emplace_back([&cast, &activities, usual = elsewhere.usual(), i] {
        act(i, activities[i], usual, cast);
      });
    for (std::size_t i = 0; i < activities.size(); ++i) cast.stage.give_to(i);
    for (;;) {
      std::vector<std::size_t> waiting;
      for (std::size_t i = 0; i < activities.size(); ++i)
        if (cast.over[i] == 0) waiting.push_back(i);
      if (waiting.empty()) break;
      cast.stage.give_to(next(waiting));
    }
  }
  if (cast.thrown) std::rethrow_exception(cast.thrown);
}

}  // namespace lauka::os

#include "cores/threads.h"

#include <algorithm>

namespace lauka::cores {

Result<Threads> threads_of(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                           const os::LinuxCalls* linux, const os::DarwinCalls* darwin) {
  auto threads = linux != nullptr ? linux_threads(wanted, kinds, wait, *linux)
                 : darwin != nullptr
                     ? darwin_threads(wanted, wait, *darwin)
                     : Result<Threads>(Error{"--threads is for Linux and macOS", "leave it out"});
  if (threads)
    std::stable_sort(
        threads->lines.begin(), threads->lines.end(), [](const ThreadLine& a, const ThreadLine& b) {
          return a.cpu_seconds != b.cpu_seconds ? a.cpu_seconds > b.cpu_seconds : a.id < b.id;
        });
  return threads;
}

}  // namespace lauka::cores

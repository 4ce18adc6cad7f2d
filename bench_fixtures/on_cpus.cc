// Uses CPU time on CPUs that are named, one after the other: what it spends where is known.
#include "arguments.h"
#include "burning.h"

#include <cstdint>
#include <cstdio>

#ifdef __linux__
#include <sched.h>
#endif

namespace {

/// False where the system does not let this process run there, or knows no such wish.
bool move_to(std::uint64_t cpu) {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  static_cast<void>(cpu);
  return false;
#endif
}

/// "1:30ms"
struct Share {
  std::uint64_t cpu = 0;
  std::chrono::nanoseconds time{};
};

std::optional<Share> share_of(std::string_view text) {
  const auto cpu = fixture::take_number(text);
  if (!cpu || *cpu >= 1024 || !text.starts_with(':')) {
    return std::nullopt;
  }
  const auto time = fixture::to_time(text.substr(1));
  return time ? std::optional(Share{*cpu, *time}) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage = "on_cpus CPU:CPU_TIME [CPU:CPU_TIME ...]   (0:30ms 1:10ms)";
  std::vector<Share> shares;
  for (const std::string_view argument : fixture::arguments_of(argc, argv)) {
    const auto share = share_of(argument);
    if (!share) {
      fixture::refuse(usage);
    }
    shares.push_back(*share);
  }
  if (shares.empty()) {
    fixture::refuse(usage);
  }
  for (const Share& share : shares) {
    if (!move_to(share.cpu)) {
      static_cast<void>(std::fputs("on_cpus: it may not run on that CPU\n", stderr));
      return 1;
    }
    fixture::burn(share.time);
  }
  return 0;
}

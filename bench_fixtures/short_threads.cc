// Starts threads one after the other; each uses so many microseconds of CPU time, less than a
// millisecond, and ends: too short for anyone who looks from time to time.
#include "arguments.h"
#include "burning.h"

#include <chrono>
#include <cstdint>
#include <thread>

int main(int argc, char** argv) {
  const char* const usage = "short_threads THREADS [MICROSECONDS]   (1 to 900 each; 300)";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.empty() || arguments.size() > 2) {
    fixture::refuse(usage);
  }
  const auto threads = fixture::to_number(arguments[0], 1'000'000);
  const auto each = arguments.size() == 2 ? fixture::to_number(arguments[1], 900) : 300;
  if (!threads || !each || *each == 0) {
    fixture::refuse(usage);
  }
  const std::chrono::microseconds cpu_time{*each};
  for (std::uint64_t i = 0; i < *threads; ++i) {
    std::thread([cpu_time] { fixture::burn(cpu_time); }).join();
  }
  return 0;
}

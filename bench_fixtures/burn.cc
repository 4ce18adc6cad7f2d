// Uses the given CPU time in all, in equal parts on each of the threads, which run side by side.
#include "arguments.h"
#include "burning.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const char* const usage = "burn CPU_TIME [THREADS]   (CPU_TIME in all: 50ms, 2s)";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.empty() || arguments.size() > 2) {
    fixture::refuse(usage);
  }
  const auto cpu_time = fixture::to_time(arguments[0]);
  const auto threads = arguments.size() == 2 ? fixture::to_number(arguments[1], 10'000) : 1;
  if (!cpu_time || !threads || *threads == 0) {
    fixture::refuse(usage);
  }
  const auto part = *cpu_time / static_cast<std::int64_t>(*threads);
  std::vector<std::thread> others;
  for (std::uint64_t i = 1; i < *threads; ++i) {
    others.emplace_back([part] { fixture::burn(part); });
  }
  fixture::burn(part);
  for (std::thread& other : others) {
    other.join();
  }
  return 0;
}

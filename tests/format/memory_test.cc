#include "core/record.h"
#include "format/json.h"
#include "must.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

// How much memory reading takes, by counting all that this program allocates.

namespace {

constexpr std::size_t kHead = alignof(std::max_align_t);  // holds the size, and is malloc's share

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): operators have no object
std::size_t allocated = 0;
std::size_t most_allocated = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc,misc-new-delete-overloads): these are the operators
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size + kHead);
  if (memory == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(memory) = size + kHead;
  allocated += size + kHead;
  if (allocated > most_allocated) most_allocated = allocated;
  return static_cast<char*>(memory) + kHead;
}

/// AddressSanitizer's would not be the partner of this delete.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  void* const begin = static_cast<char*>(memory) - kHead;
  allocated -= *static_cast<std::size_t*>(begin);
  std::free(begin);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc,misc-new-delete-overloads)

namespace lauka {
namespace {

constexpr int kRuns = 20'000;

/// A list of `kRuns` items, `item` of each run's number.
template <typename Item>
std::string list_of_runs(const Item& item) {
  std::string list = "[";
  for (int run = 0; run < kRuns; ++run) list += (run > 0 ? "," : "") + item(run);
  return list + "]";
}

std::string time_of(int run) {
  return fmt::format("0.{:03}", 100 + run % 90);
}

/// Bytes for each value of a document, without its text, at the time when they are most.
std::size_t bytes_per_value(const std::string& text, std::size_t values) {
  const std::size_t before = allocated;
  most_allocated = allocated;
  const FileSessions file = must(read_sessions(text));
  CHECK(file.benchmarks.front().recording.runs.size() == kRuns);
  return (most_allocated - before) / values;
}

}  // namespace

TEST_CASE("two runs take less than 4 kB, as a suite has thousands of sessions") {
  const std::size_t before = allocated;
  Runs runs;
  for (int run = 0; run < 2; ++run)
    for (std::size_t metric = 0; metric < 12; ++metric)
      runs.set_value(metric == 0 ? runs.add({}) : runs.size() - 1, metric, 1.0);
  CHECK(runs.size() == 2);
  CHECK(allocated - before < 4096);
}

TEST_CASE("reading a session takes 12 bytes for each value at most, and 64 for a run with one") {
  const std::string times = list_of_runs(time_of);
  // A run of which only the time is known has more fields than values.
  CHECK(bytes_per_value(R"({"results":[{"command":"a","times":)" + times + "}]}", kRuns) <= 64);
  const std::string measurements = list_of_runs([](int run) {
    return fmt::format(
        R"({{"time_wall_clock":{{"value":{0},"unit":"second"}},"time_user":{{"value":{0},)"
        R"("unit":"second"}},"memory_peak_resident":{{"value":{1},"unit":"byte"}},"exit_code":0}})",
        time_of(run), 1'000'000 + run);
  });
  CHECK(bytes_per_value(R"({"schema_version":2,"results":[{"command":"a","measurements":)" +
                            measurements + "}]}",
                        11 * kRuns) <= 12);
  const std::string runs = list_of_runs([](int run) {
    return fmt::format(R"({{"run":{},"kind":"{}","round":{},"pass":1,"exit_code":0,)"
                       R"("coverage":null,"order":{}}})",
                       run + 1, run % 5 == 0 ? "counting" : "timed", run + 1, run % 3 + 1);
  });
  std::string metrics;
  for (const char* const name : {"wall_time", "cpu_time", "user_time", "system_time"})
    metrics += fmt::format(R"({}"{}":{{"unit":"s","samples":{}}})", metrics.empty() ? "" : ",",
                           name, times);
  CHECK(bytes_per_value(R"({"results":[{"command":"a","lauka":{"metrics":{)" + metrics +
                            R"(},"runs":)" + runs + R"(}}],"lauka":{"format":2,"metrics":[]}})",
                        12 * kRuns) <= 12);
}

}  // namespace lauka

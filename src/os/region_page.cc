#include "os/region_page.h"

#include "os/platform.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <fcntl.h>
#include <lauka/region.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lauka::os {
namespace {

// Above what shells and scripts give numbers to.
constexpr int kFirstNumber = 100;
constexpr int kFirstNumberOfFew = 10;

template <typename T>
T read(const T& shared) {
  return __atomic_load_n(&shared, __ATOMIC_RELAXED);
}

}  // namespace

RegionPage::~RegionPage() {
  for (std::size_t i = 0; i < count_; ++i) close(handed_.at(i));
  if (memory_ != nullptr) munmap(memory_, sizeof *memory_);
}

/// Gives the number that the program is to use, or -1 with errno. Not closed by exec; this process
/// starts nothing else before it closes it.
int RegionPage::hand_down(int descriptor) {
  if (count_ == handed_.size()) {
    errno = EMFILE;
    return -1;
  }
  int number = fcntl(descriptor, F_DUPFD, kFirstNumber);                   // NOLINT: fcntl is so
  if (number < 0) number = fcntl(descriptor, F_DUPFD, kFirstNumberOfFew);  // NOLINT: as above
  if (number >= 0) handed_.at(count_++) = number;
  return number;
}

bool RegionPage::hand_down() {
  const int file = open_shared_memory(sizeof *memory_);
  if (file < 0) return false;
  const int number = hand_down(file);
  void* memory = mmap(nullptr, sizeof *memory_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  close(file);
  errno = error;
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<lauka_region_memory_*>(memory);
  if (number < 0) return false;
  memory_->page.magic = LAUKA_REGION_MAGIC_;
  memory_->page.version = LAUKA_REGION_VERSION_;
  std::snprintf(variable_.data(), variable_.size(), "%s=%d", kRegionVariable,  // NOLINT: a number
                number);
  return true;
}

bool RegionPage::hand_down_counter(int descriptor) {
  lauka_region_page_& page = memory_->page;
  if (page.counters == LAUKA_REGION_MOST_COUNTERS_) {
    errno = EMFILE;
    return false;
  }
  const int number = hand_down(descriptor);
  if (number < 0) return false;
  page.descriptors[page.counters] = number;
  ++page.counters;
  return true;
}

void RegionPage::count_threads() {
  memory_->page.counts_threads = 1;
}

RegionUse RegionPage::use() const {
  RegionUse use;
  if (memory_ == nullptr) return use;
  const lauka_region_page_& page = memory_->page;
  use.entries = read(page.entries);
  use.time_ns = read(page.time_ns);
  use.stray = read(page.stray);
  use.failures = read(page.failures);
  use.is_open = read(page.depth) != 0 || read(page.lock) != 0;
  use.instructions = read(page.instructions);
  use.cycles = read(page.cycles);
  use.uncounted_threads = read(page.uncounted);
  for (const lauka_region_thread_& thread : memory_->threads)
    if (read(thread.id) != 0) ++use.uncounted_threads;
  return use;
}

}  // namespace lauka::os

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
  if (page_ != nullptr) munmap(page_, sizeof *page_);
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
  const int file = open_shared_memory(sizeof *page_);
  if (file < 0) return false;
  const int number = hand_down(file);
  void* memory = mmap(nullptr, sizeof *page_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  close(file);
  errno = error;
  if (memory == MAP_FAILED) return false;
  page_ = static_cast<lauka_region_page_*>(memory);
  if (number < 0) return false;
  page_->magic = LAUKA_REGION_MAGIC_;
  page_->version = LAUKA_REGION_VERSION_;
  std::snprintf(variable_.data(), variable_.size(), "%s=%d", kRegionVariable,  // NOLINT: a number
                number);
  return true;
}

bool RegionPage::hand_down_counter(int descriptor) {
  if (page_->counters == LAUKA_REGION_MOST_COUNTERS_) {
    errno = EMFILE;
    return false;
  }
  const int number = hand_down(descriptor);
  if (number < 0) return false;
  page_->descriptors[page_->counters] = number;
  ++page_->counters;
  return true;
}

RegionUse RegionPage::use() const {
  RegionUse use;
  if (page_ == nullptr) return use;
  use.entries = read(page_->entries);
  use.time_ns = read(page_->time_ns);
  use.stray = read(page_->stray);
  use.failures = read(page_->failures);
  use.is_open = read(page_->depth) != 0 || read(page_->lock) != 0;
  return use;
}

}  // namespace lauka::os

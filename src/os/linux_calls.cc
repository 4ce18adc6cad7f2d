#include "os/linux_calls.h"

#include "os/descriptor.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lauka::os {
namespace {

// The header here may be older than config3 or newer than our copy: their common part must agree.
static_assert(offsetof(perf_event_attr, type) == offsetof(PerfEventAttr, type));
static_assert(offsetof(perf_event_attr, size) == offsetof(PerfEventAttr, size));
static_assert(offsetof(perf_event_attr, config) == offsetof(PerfEventAttr, config));
static_assert(offsetof(perf_event_attr, sample_type) == offsetof(PerfEventAttr, sample_type));
static_assert(offsetof(perf_event_attr, read_format) == offsetof(PerfEventAttr, read_format));
static_assert(offsetof(perf_event_attr, wakeup_events) == offsetof(PerfEventAttr, wakeup_events));
static_assert(offsetof(perf_event_attr, config1) == offsetof(PerfEventAttr, config1));
static_assert(offsetof(perf_event_attr, config2) == offsetof(PerfEventAttr, config2));
static_assert(offsetof(perf_event_attr, clockid) == offsetof(PerfEventAttr, clockid));
static_assert(offsetof(perf_event_attr, aux_watermark) == offsetof(PerfEventAttr, aux_watermark));
static_assert(PERF_ATTR_SIZE_VER0 == kPerfSizeWithConfig1);
static_assert(PERF_ATTR_SIZE_VER1 == kPerfSizeWithConfig2);
static_assert(PERF_TYPE_HARDWARE == kPerfTypeHardware && PERF_TYPE_SOFTWARE == kPerfTypeSoftware);
static_assert(PERF_TYPE_HW_CACHE == kPerfTypeCache && PERF_TYPE_RAW == kPerfTypeRaw);
static_assert(PERF_FORMAT_TOTAL_TIME_ENABLED == kPerfReadEnabled);
static_assert(PERF_FORMAT_TOTAL_TIME_RUNNING == kPerfReadRunning);
static_assert(PERF_FORMAT_GROUP == kPerfReadGroup);

int open_counter(const PerfEventAttr& attributes, const CounterPlace& place, int group) {
  // A copy: on E2BIG the kernel writes the size it knows into it.
  PerfEventAttr copy = attributes;
  const long descriptor =
      syscall(SYS_perf_event_open, &copy, place.thread, place.cpu, group, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

int enable_group(int leader) {
  return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0 ? -errno : 0;
}

int disable_group(int leader) {
  return ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) != 0 ? -errno : 0;
}

long read_counter(int descriptor, std::uint64_t* words, std::size_t capacity) {
  const ssize_t bytes = read(descriptor, words, capacity * sizeof *words);
  return bytes < 0 ? -errno : bytes / static_cast<long>(sizeof *words);
}

void close_counter(int descriptor) {
  close(descriptor);
}

constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

std::vector<std::uint32_t> allowed_cpus() {
  std::vector<unsigned long> bits(16);
  long bytes = -1;
  // Too small a buffer is EINVAL; no kernel has more than a million CPUs.
  for (; bits.size() <= (1U << 14U); bits.resize(bits.size() * 2)) {
    bytes = syscall(SYS_sched_getaffinity, 0, bits.size() * sizeof bits[0], bits.data());
    if (bytes >= 0 || errno != EINVAL) break;
  }
  std::vector<std::uint32_t> cpus;
  for (std::size_t cpu = 0; cpu / 8 < static_cast<std::size_t>(std::max(bytes, 0L)); ++cpu)
    if ((bits[cpu / kWordBits] >> cpu % kWordBits & 1U) != 0)
      cpus.push_back(static_cast<std::uint32_t>(cpu));
  return cpus;
}

int run_on(const std::vector<std::uint32_t>& cpus) {
  std::vector<unsigned long> bits;
  for (const std::uint32_t cpu : cpus) {
    bits.resize(std::max<std::size_t>(bits.size(), cpu / kWordBits + 1));
    bits[cpu / kWordBits] |= 1UL << cpu % kWordBits;
  }
  return syscall(SYS_sched_setaffinity, 0, bits.size() * sizeof bits[0], bits.data()) != 0 ? -errno
                                                                                           : 0;
}

std::optional<std::string> read_file(const std::string& path) {
  static constexpr std::size_t kMost = 64UL * 1024;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_rest(file.get(), kMost) : std::nullopt;
}

std::vector<std::string> list_folder(const std::string& path) {
  return names_in(Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

/// A folder has one link more for each folder in it, besides its own two.
long count_folder(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) != 0 ? -1 : static_cast<long>(about.st_nlink) - 2;
}

int open_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

long read_again(int descriptor, char* bytes, std::size_t capacity) {
  const ssize_t got = pread(descriptor, bytes, capacity, 0);
  return got < 0 ? -errno : got;
}

constexpr LinuxCalls kLinuxCalls{&open_counter,  &enable_group, &disable_group, &read_counter,
                                 &close_counter, &allowed_cpus, &run_on,        &read_file,
                                 &list_folder,   &count_folder, &open_file,     &read_again};

}  // namespace

const LinuxCalls* linux_calls() {
  return &kLinuxCalls;
}

}  // namespace lauka::os

/* lauka/counters.h measures the time, the cycles and the instructions of the calling thread. If the
 * processor has several kinds of core, it also measures them for each kind. Use it for benchmarks
 * inside a program.
 *
 *   #include <lauka/counters.h>
 *
 *   lauka_counters* counters = lauka_counters_begin();
 *   struct lauka_reading before, after;
 *   lauka_counters_read(counters, &before);
 *   work();
 *   lauka_counters_read(counters, &after);
 *   if (after.has_counts)
 *     printf("%g cycles\n", (double)(after.all.cycles - before.all.cycles));
 *   else
 *     puts(lauka_counters_why_not(counters));
 *   lauka_counters_end(counters);
 *
 * The header works in C99 and C++, with gcc and clang, on Linux and macOS. It needs no library, and
 * it does not need the program lauka. It counts one thread: the one that called
 * lauka_counters_begin. The same thread must read and end. A forked child must begin its own
 * counting.
 *
 * Counts are exact or missing, and never extrapolated. On Linux they are perf events of the thread.
 * They are read in user space if the processor and the kernel allow that (x86), and otherwise by a
 * system call. On macOS they are what the kernel records about the thread, which needs no root.
 *
 * Names that end with an underscore are internal. Do not use them.
 *
 * SPDX-License-Identifier: MIT (the terms of lauka itself, see its file LICENSE).
 */
#ifndef LAUKA_COUNTERS_H
#define LAUKA_COUNTERS_H

#include <stdint.h>

#define LAUKA_COUNTERS_MOST_KINDS 4

/* What the thread used on the cores of one kind, or on all cores. */
struct lauka_counts {
  uint64_t cpu_ns;
  uint64_t cycles;
  uint64_t instructions;
};

/* What the thread used since lauka_counters_begin. */
struct lauka_reading {
  uint64_t wall_ns;
  struct lauka_counts all;
  int has_counts;   /* 0 if cycles and instructions are unknown; they are then 0, too */
  int is_user_only; /* 1 if the counts lack the kernel's part, because the system hides it */
  unsigned kinds;   /* number of kinds of core; 0 if there is one kind, or if it is unknown */
  /* The kinds of core, the fastest first. On Arm they are in any order. */
  struct lauka_counts kind[LAUKA_COUNTERS_MOST_KINDS];
};

typedef struct lauka_counters lauka_counters;

/* Starts counting. Returns null if no memory is left. If the system cannot count cycles and
 * instructions, readings still have times. */
static inline lauka_counters* lauka_counters_begin(void);

/* Reads what the thread used since it began. Returns 1. Returns 0 and a reading that is all 0 if
 * another thread called lauka_counters_begin. */
static inline int lauka_counters_read(lauka_counters* counters, struct lauka_reading* reading);

/* Returns one line that says why cycles and instructions are not counted. Returns null if they are
 * counted. */
static inline const char* lauka_counters_why_not(const lauka_counters* counters);

/* Returns the name of a kind of core, for example "P" or "E". Returns null if `kind` is out of
 * range. */
static inline const char* lauka_counters_kind_name(const lauka_counters* counters, unsigned kind);

/* Ends counting and frees `counters`, which may be null. */
static inline void lauka_counters_end(lauka_counters* counters);

#if !((defined(__linux__) || defined(__APPLE__)) && defined(__GNUC__))
#error "lauka/counters.h is for gcc and clang on Linux and macOS"
#endif

/* lauka's own tests define this on Linux, too, and give the system's functions other names. */
#if defined(__APPLE__) && !defined(LAUKA_COUNTERS_AS_ON_MACOS_)
#define LAUKA_COUNTERS_AS_ON_MACOS_ 1
#endif

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if !defined(LAUKA_COUNTERS_AS_ON_MACOS_)
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

#ifdef __cplusplus
#define LAUKA_COUNTERS_C_ extern "C"
#define LAUKA_COUNTERS_CAST_(type, value) static_cast<type>(value)
#define LAUKA_COUNTERS_NULL_ nullptr
#if __cplusplus < 201103L
#undef LAUKA_COUNTERS_NULL_
#define LAUKA_COUNTERS_NULL_ NULL
#endif
#else
#define LAUKA_COUNTERS_C_ extern
#define LAUKA_COUNTERS_CAST_(type, value) ((type)(value))
#define LAUKA_COUNTERS_NULL_ NULL
#endif

/* The counters of one kind of core. */
struct lauka_counters_group_ {
  char name[32];
  int cycles; /* the leader; -1: not open */
  int instructions;
  void* pages[2]; /* of cycles and instructions; null: they are read by a system call */
};

struct lauka_counters {
  pthread_t thread;
  uint64_t began_ns;
  uint64_t began_cpu_ns;
  int is_user_only;
  unsigned kinds;  /* number of kinds of core; 0 if they are not told apart */
  unsigned groups; /* number of open groups; 0 on macOS */
  struct lauka_counters_group_ group[LAUKA_COUNTERS_MOST_KINDS];
  struct lauka_reading then; /* macOS: what the kernel had recorded when counting began */
  uint64_t thread_id;        /* macOS */
  char why_not[160];         /* empty if everything is counted */
};

static inline void lauka_counters_refuse_(lauka_counters* counters, const char* why) {
  snprintf(counters->why_not, sizeof counters->why_not, "%s", why);
}

#if defined(LAUKA_COUNTERS_AS_ON_MACOS_)

/* Functions of libSystem. No header declares the first one, and strict C99 or POSIX hides the
 * others. */
#if !defined(LAUKA_COUNTERS_SYMBOL_)
#define LAUKA_COUNTERS_SYMBOL_(name) __asm__("_" name)
#define LAUKA_COUNTERS_OPTIONAL_ __attribute__((weak_import))
#endif
LAUKA_COUNTERS_C_ int lauka_counters_self_counts_(uint32_t kind, void* counts, size_t size)
    LAUKA_COUNTERS_SYMBOL_("thread_selfcounts") LAUKA_COUNTERS_OPTIONAL_;
#define LAUKA_COUNTERS_INSTRUCTIONS_AND_CYCLES_ 1U
LAUKA_COUNTERS_C_ uint64_t lauka_counters_clock_(unsigned clock)
    LAUKA_COUNTERS_SYMBOL_("clock_gettime_nsec_np");
#define LAUKA_COUNTERS_UPTIME_RAW_ 8U
#define LAUKA_COUNTERS_THREAD_TIME_ 16U
LAUKA_COUNTERS_C_ int lauka_counters_thread_id_(void* thread, uint64_t* id)
    LAUKA_COUNTERS_SYMBOL_("pthread_threadid_np");
LAUKA_COUNTERS_C_ int lauka_counters_pidinfo_(int process, int flavour, uint64_t argument,
                                              void* buffer, int size)
    LAUKA_COUNTERS_SYMBOL_("proc_pidinfo");
#define LAUKA_COUNTERS_PIDTHREADCOUNTS_ 34
LAUKA_COUNTERS_C_ int lauka_counters_sysctl_(const char* name, void* old, size_t* old_size,
                                             void* now, size_t now_size)
    LAUKA_COUNTERS_SYMBOL_("sysctlbyname");
LAUKA_COUNTERS_C_ int lauka_counters_timebase_(uint32_t fraction[2])
    LAUKA_COUNTERS_SYMBOL_("mach_timebase_info");

static inline uint64_t lauka_counters_wall_(void) {
  return lauka_counters_clock_(LAUKA_COUNTERS_UPTIME_RAW_);
}

static inline uint64_t lauka_counters_cpu_(void) {
  return lauka_counters_clock_(LAUKA_COUNTERS_THREAD_TIME_);
}

/* PROC_PIDTHREADCOUNTS. Source: XNU bsd/sys/proc_info_private.h. Times are mach units. */
struct lauka_counters_level_ {
  uint64_t instructions;
  uint64_t cycles;
  uint64_t user_time;
  uint64_t system_time;
  uint64_t energy_nj;
};
struct lauka_counters_levels_ {
  uint16_t levels;
  uint16_t reserved_0;
  uint32_t reserved_1;
  struct lauka_counters_level_ level[LAUKA_COUNTERS_MOST_KINDS];
};

/* Reads what the kernel has recorded about this thread since the thread began to exist. */
static inline void lauka_counters_accounts_(const lauka_counters* counters,
                                            struct lauka_reading* reading) {
  uint64_t counts[2] = {0, 0};
  uint32_t base[2] = {1, 1};
  struct lauka_counters_levels_ read;
  int bytes;
  unsigned i;
  memset(&read, 0, sizeof read);
  memset(reading, 0, sizeof *reading);
  if (lauka_counters_self_counts_ != LAUKA_COUNTERS_NULL_ &&
      lauka_counters_self_counts_(LAUKA_COUNTERS_INSTRUCTIONS_AND_CYCLES_, counts, sizeof counts) ==
          0 &&
      counts[1] != 0) { /* a virtual machine has zeros */
    reading->has_counts = 1;
    reading->all.instructions = counts[0];
    reading->all.cycles = counts[1];
  }
  bytes =
      lauka_counters_pidinfo_(LAUKA_COUNTERS_CAST_(int, getpid()), LAUKA_COUNTERS_PIDTHREADCOUNTS_,
                              counters->thread_id, &read, LAUKA_COUNTERS_CAST_(int, sizeof read));
  if (bytes < 8 || read.levels < 2 || read.levels > LAUKA_COUNTERS_MOST_KINDS ||
      LAUKA_COUNTERS_CAST_(unsigned, bytes) < 8U + 40U * read.levels)
    return;
  lauka_counters_timebase_(base);
  reading->kinds = read.levels;
  for (i = 0; i < reading->kinds; ++i) {
    const struct lauka_counters_level_* level = &read.level[i];
    reading->kind[i].cpu_ns = (level->user_time + level->system_time) * base[0] / base[1];
    reading->kind[i].cycles = level->cycles;
    reading->kind[i].instructions = level->instructions;
  }
}

static inline void lauka_counters_open_(lauka_counters* counters) {
  unsigned i;
  lauka_counters_thread_id_(LAUKA_COUNTERS_NULL_, &counters->thread_id);
  lauka_counters_accounts_(counters, &counters->then);
  counters->kinds = counters->then.kinds;
  for (i = 0; i < counters->kinds; ++i) {
    char key[32];
    char name[32] = "";
    size_t size = sizeof name - 1;
    snprintf(key, sizeof key, "hw.perflevel%u.name", i);
    if (lauka_counters_sysctl_(key, name, &size, LAUKA_COUNTERS_NULL_, 0) != 0 || name[0] == '\0')
      snprintf(name, sizeof name, "level %u", i);
    if (strcmp(name, "Performance") == 0 || strcmp(name, "Efficiency") == 0) name[1] = '\0';
    memcpy(counters->group[i].name, name, sizeof name);
  }
  if (lauka_counters_self_counts_ == LAUKA_COUNTERS_NULL_)
    lauka_counters_refuse_(counters, "this macOS does not tell a thread its counts");
  else if (!counters->then.has_counts)
    lauka_counters_refuse_(counters, "the kernel counts nothing here, as in a virtual machine");
}

static inline void lauka_counters_close_(lauka_counters* counters) {
  LAUKA_COUNTERS_CAST_(void, counters);
}

static inline void lauka_counters_count_(lauka_counters* counters, struct lauka_reading* reading) {
  struct lauka_reading now;
  unsigned i;
  lauka_counters_accounts_(counters, &now);
  if (counters->then.has_counts && now.has_counts) {
    reading->has_counts = 1;
    reading->all.cycles = now.all.cycles - counters->then.all.cycles;
    reading->all.instructions = now.all.instructions - counters->then.all.instructions;
  }
  if (now.kinds != counters->kinds) return;
  reading->kinds = now.kinds;
  for (i = 0; i < now.kinds; ++i) {
    reading->kind[i].cpu_ns = now.kind[i].cpu_ns - counters->then.kind[i].cpu_ns;
    reading->kind[i].cycles = now.kind[i].cycles - counters->then.kind[i].cycles;
    reading->kind[i].instructions = now.kind[i].instructions - counters->then.kind[i].instructions;
  }
}

#else

struct lauka_counters_time_ {
  long seconds;
  long nanoseconds;
};

/* Declared here, because the headers of strict C99 do not declare them. */
LAUKA_COUNTERS_C_ int lauka_counters_clock_(int clock, struct lauka_counters_time_* time) __asm__(
    "clock_gettime");
LAUKA_COUNTERS_C_ long lauka_counters_syscall_(long number, ...) __asm__("syscall");
#define LAUKA_COUNTERS_MONOTONIC_ 1
#define LAUKA_COUNTERS_THREAD_TIME_ 3

/* lauka's tests define these differently. */
#if !defined(LAUKA_COUNTERS_PERF_EVENT_OPEN_)
#define LAUKA_COUNTERS_DEVICES_ "/sys/bus/event_source/devices"
#define LAUKA_COUNTERS_PERF_EVENT_OPEN_(attributes, group) \
  lauka_counters_syscall_(__NR_perf_event_open, attributes, 0, -1, group, 8UL /* close on exec */)
#endif

static inline uint64_t lauka_counters_now_(int clock) {
  struct lauka_counters_time_ time = {0, 0};
  lauka_counters_clock_(clock, &time);
  return LAUKA_COUNTERS_CAST_(uint64_t, time.seconds) * 1000000000U +
         LAUKA_COUNTERS_CAST_(uint64_t, time.nanoseconds);
}

static inline uint64_t lauka_counters_wall_(void) {
  return lauka_counters_now_(LAUKA_COUNTERS_MONOTONIC_);
}

static inline uint64_t lauka_counters_cpu_(void) {
  return lauka_counters_now_(LAUKA_COUNTERS_THREAD_TIME_);
}

static inline void lauka_counters_close_(lauka_counters* counters) {
  const size_t size = LAUKA_COUNTERS_CAST_(size_t, sysconf(_SC_PAGESIZE));
  unsigned i;
  int k;
  for (i = 0; i < counters->groups; ++i) {
    struct lauka_counters_group_* group = &counters->group[i];
    for (k = 0; k < 2; ++k)
      if (group->pages[k] != LAUKA_COUNTERS_NULL_) munmap(group->pages[k], size);
    if (group->instructions >= 0) close(group->instructions);
    if (group->cycles >= 0) close(group->cycles);
  }
  counters->groups = 0;
}

static inline void lauka_counters_explain_(lauka_counters* counters, int error) {
  switch (error) {
    case EACCES:
      lauka_counters_refuse_(counters,
                             "the system denies users all counters; sudo sysctl "
                             "kernel.perf_event_paranoid=2 allows those of user space");
      return;
    case EPERM:
      lauka_counters_refuse_(counters,
                             "perf_event_open is blocked, as in most containers; start the "
                             "container with --cap-add PERFMON; an older Podman needs "
                             "--security-opt seccomp=unconfined, too");
      return;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      lauka_counters_refuse_(counters, "there is no PMU here, as in most virtual machines");
      return;
    case ENOSYS:
      lauka_counters_refuse_(counters, "this kernel has no perf_event_open");
      return;
    default:
      snprintf(counters->why_not, sizeof counters->why_not, "perf_event_open: %s", strerror(error));
  }
}

/* Finds the PMU of each kind of core: a PMU that has a file "cpus". Returns the number of PMUs. */
static inline unsigned lauka_counters_find_pmus_(lauka_counters* counters,
                                                 uint32_t types[LAUKA_COUNTERS_MOST_KINDS]) {
  DIR* devices = opendir(LAUKA_COUNTERS_DEVICES_);
  const struct dirent* entry;
  unsigned found = 0;
  if (devices == LAUKA_COUNTERS_NULL_) return 0;
  while ((entry = readdir(devices)) != LAUKA_COUNTERS_NULL_) {
    char path[400];
    FILE* file;
    unsigned type = 0;
    unsigned place = found;
    const int is_fast = strcmp(entry->d_name, "cpu_core") == 0;
    snprintf(path, sizeof path, "%s/%s/cpus", LAUKA_COUNTERS_DEVICES_, entry->d_name);
    if (access(path, R_OK) != 0) continue;
    snprintf(path, sizeof path, "%s/%s/type", LAUKA_COUNTERS_DEVICES_, entry->d_name);
    file = fopen(path, "r");
    if (file == LAUKA_COUNTERS_NULL_) continue;
    if (fscanf(file, "%u", &type) == 1 && found < LAUKA_COUNTERS_MOST_KINDS) {
      if (is_fast && found > 0) { /* it comes first */
        counters->group[found] = counters->group[0];
        types[found] = types[0];
        place = 0;
      }
      snprintf(counters->group[place].name, sizeof counters->group[place].name, "%.31s",
               is_fast                                  ? "P"
               : strcmp(entry->d_name, "cpu_atom") == 0 ? "E"
                                                        : entry->d_name);
      types[place] = type;
      ++found;
    }
    fclose(file);
  }
  closedir(devices);
  return found;
}

static inline void lauka_counters_describe_(struct perf_event_attr* attributes, int of_kind,
                                            uint32_t type, int is_instructions, int is_user_only) {
  memset(attributes, 0, sizeof *attributes);
  attributes->size = PERF_ATTR_SIZE_VER0;
  attributes->type = PERF_TYPE_HARDWARE;
  attributes->config = is_instructions ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES;
#if defined(__aarch64__) || defined(__arm__)
  if (of_kind) { /* INST_RETIRED, CPU_CYCLES of every Arm PMU */
    attributes->type = type;
    attributes->config = is_instructions ? 0x08 : 0x11;
  }
#else
  if (of_kind) attributes->config |= LAUKA_COUNTERS_CAST_(uint64_t, type) << 32U;
#endif
  attributes->read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
  attributes->exclude_hv = 1;
  attributes->exclude_kernel = is_user_only ? 1 : 0;
  attributes->pinned = is_instructions ? 0 : 1; /* on all the time, or in error: never shared */
  attributes->disabled = is_instructions ? 0 : 1;
}

/* Returns 0, or errno. */
static inline int lauka_counters_open_groups_(lauka_counters* counters, unsigned pmus,
                                              const uint32_t* types) {
  const unsigned groups = pmus > 1 ? pmus : 1;
  struct perf_event_attr attributes;
  unsigned i;
  for (i = 0; i < groups; ++i) {
    struct lauka_counters_group_* group = &counters->group[i];
    group->instructions = -1;
    lauka_counters_describe_(&attributes, pmus > 1, types[i], 0, counters->is_user_only);
    group->cycles = LAUKA_COUNTERS_CAST_(int, LAUKA_COUNTERS_PERF_EVENT_OPEN_(&attributes, -1));
    counters->groups = i + 1;
    if (group->cycles < 0) return errno;
    lauka_counters_describe_(&attributes, pmus > 1, types[i], 1, counters->is_user_only);
    group->instructions =
        LAUKA_COUNTERS_CAST_(int, LAUKA_COUNTERS_PERF_EVENT_OPEN_(&attributes, group->cycles));
    if (group->instructions < 0) return errno;
  }
  return 0;
}

/* Maps the pages through which the kernel shows two counters. Without them, lauka_counters_read
 * uses a system call. */
static inline void lauka_counters_map_(struct lauka_counters_group_* group) {
  const size_t size = LAUKA_COUNTERS_CAST_(size_t, sysconf(_SC_PAGESIZE));
  int k;
  for (k = 0; k < 2; ++k) {
    void* page = mmap(LAUKA_COUNTERS_NULL_, size, PROT_READ, MAP_SHARED,
                      k == 0 ? group->cycles : group->instructions, 0);
    group->pages[k] = page == MAP_FAILED ? LAUKA_COUNTERS_NULL_ : page;
  }
}

static inline void lauka_counters_open_(lauka_counters* counters) {
  uint32_t types[LAUKA_COUNTERS_MOST_KINDS] = {0, 0, 0, 0};
  const unsigned pmus = lauka_counters_find_pmus_(counters, types);
  unsigned i;
  int error = lauka_counters_open_groups_(counters, pmus, types);
  if (error == EACCES) { /* perf_event_paranoid hides the kernel from users */
    lauka_counters_close_(counters);
    counters->is_user_only = 1;
    error = lauka_counters_open_groups_(counters, pmus, types);
  }
  if (error != 0) {
    lauka_counters_close_(counters);
    lauka_counters_explain_(counters, error);
    return;
  }
  if (pmus > 1) counters->kinds = pmus;
  if (counters->groups == 1) lauka_counters_map_(&counters->group[0]);
  for (i = 0; i < counters->groups; ++i)
    if (ioctl(counters->group[i].cycles, PERF_EVENT_IOC_ENABLE, 0) != 0) error = errno;
  if (error != 0) {
    lauka_counters_close_(counters);
    lauka_counters_explain_(counters, error);
  }
}

/* Returns a count: the kernel's sum plus `width` bits of the counter, which may be below it. */
static inline uint64_t lauka_counters_sum_(int64_t offset, uint64_t counter, unsigned width) {
  const unsigned unused = 64U - width;
  const uint64_t sign = LAUKA_COUNTERS_CAST_(uint64_t, 1) << (width - 1U);
  counter = counter << unused >> unused;
  return LAUKA_COUNTERS_CAST_(uint64_t, offset) + ((counter ^ sign) - sign);
}

#if defined(__x86_64__)

#if !defined(LAUKA_COUNTERS_RDPMC_)
#define LAUKA_COUNTERS_RDPMC_(counter, low, high) \
  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter))
#endif

/* Returns false if the event is not on a counter now, or if programs may not read counters. Source:
 * the comment of perf_event_mmap_page in linux/perf_event.h. */
static inline int lauka_counters_look_(void* memory, uint64_t* count) {
  const volatile struct perf_event_mmap_page* page =
      LAUKA_COUNTERS_CAST_(const volatile struct perf_event_mmap_page*, memory);
  uint32_t lock;
  if (memory == LAUKA_COUNTERS_NULL_) return 0;
  do {
    uint32_t low;
    uint32_t high;
    uint32_t index;
    lock = page->lock;
    __asm__ volatile("" ::: "memory");
    index = page->index;
    if (!page->cap_user_rdpmc || index == 0 || page->pmc_width == 0) return 0;
    LAUKA_COUNTERS_RDPMC_(index - 1U, low, high);
    *count = lauka_counters_sum_(page->offset, LAUKA_COUNTERS_CAST_(uint64_t, high) << 32U | low,
                                 page->pmc_width);
    __asm__ volatile("" ::: "memory");
  } while (page->lock != lock);
  return 1;
}

#else

static inline int lauka_counters_look_(void* memory, uint64_t* count) {
  LAUKA_COUNTERS_CAST_(void, memory);
  LAUKA_COUNTERS_CAST_(void, count);
  return 0;
}

#endif

static inline void lauka_counters_count_(lauka_counters* counters, struct lauka_reading* reading) {
  uint64_t running = 0;
  uint64_t enabled = ~LAUKA_COUNTERS_CAST_(uint64_t, 0);
  unsigned i;
  if (counters->groups == 0) return;
  if (counters->groups == 1 &&
      lauka_counters_look_(counters->group[0].pages[0], &reading->all.cycles) &&
      lauka_counters_look_(counters->group[0].pages[1], &reading->all.instructions)) {
    reading->has_counts = 1;
    return;
  }
  reading->all.cycles = reading->all.instructions = 0;
  for (i = 0; i < counters->groups; ++i) {
    uint64_t words[5] = {0, 0, 0, 0, 0}; /* number, enabled, running, cycles, instructions */
    const long bytes =
        LAUKA_COUNTERS_CAST_(long, read(counters->group[i].cycles, words, sizeof words));
    /* A group that got no counter is in an error state. Reading it then gives the end of file. */
    if (bytes != LAUKA_COUNTERS_CAST_(long, sizeof words) || words[0] != 2) {
      enabled = ~LAUKA_COUNTERS_CAST_(uint64_t, 0);
      running = 0;
      break;
    }
    running += words[2];
    if (words[1] < enabled) enabled = words[1];
    reading->kind[i].cpu_ns = words[2];
    reading->kind[i].cycles = words[3];
    reading->kind[i].instructions = words[4];
    reading->all.cycles += words[3];
    reading->all.instructions += words[4];
  }
  /* Each group stops while the thread runs on another kind of core. Their clocks differ slightly.
   */
  if (running + (counters->groups > 1 ? 100000U + enabled / 1000U : 0U) >= enabled) {
    reading->has_counts = 1;
    reading->kinds = counters->kinds;
  } else {
    lauka_counters_refuse_(counters,
                           "other programs used the counters; sudo sysctl kernel.nmi_watchdog=0 "
                           "frees one on x86");
    reading->all.cycles = reading->all.instructions = 0;
  }
  if (reading->kinds == 0) memset(reading->kind, 0, sizeof reading->kind);
}

#endif

static inline lauka_counters* lauka_counters_begin(void) {
  lauka_counters* counters =
      LAUKA_COUNTERS_CAST_(lauka_counters*, calloc(1, sizeof(lauka_counters)));
  if (counters == LAUKA_COUNTERS_NULL_) return counters;
  counters->thread = pthread_self();
  lauka_counters_open_(counters);
  counters->began_ns = lauka_counters_wall_();
  counters->began_cpu_ns = lauka_counters_cpu_();
  return counters;
}

static inline int lauka_counters_read(lauka_counters* counters, struct lauka_reading* reading) {
  memset(reading, 0, sizeof *reading);
  if (!pthread_equal(counters->thread, pthread_self())) return 0;
  lauka_counters_count_(counters, reading);
  reading->is_user_only = counters->is_user_only && reading->has_counts;
  reading->all.cpu_ns = lauka_counters_cpu_() - counters->began_cpu_ns;
  reading->wall_ns = lauka_counters_wall_() - counters->began_ns;
  return 1;
}

static inline const char* lauka_counters_why_not(const lauka_counters* counters) {
  return counters->why_not[0] == '\0' ? LAUKA_COUNTERS_NULL_ : counters->why_not;
}

static inline const char* lauka_counters_kind_name(const lauka_counters* counters, unsigned kind) {
  return kind < counters->kinds ? counters->group[kind].name : LAUKA_COUNTERS_NULL_;
}

static inline void lauka_counters_end(lauka_counters* counters) {
  if (counters == LAUKA_COUNTERS_NULL_) return;
  lauka_counters_close_(counters);
  free(counters);
}

#endif

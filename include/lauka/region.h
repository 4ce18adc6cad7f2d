/* lauka/region.h marks the part of a program that `lauka --region` measures.
 *
 *   #include <lauka/region.h>
 *
 *   lauka_region_begin();
 *   work();
 *   lauka_region_end();
 *
 * The header works in C99 and C++, with gcc and clang, on Linux and macOS. On other systems both
 * calls do nothing. The header needs no library. Without lauka, each call costs one load and one
 * branch. The first call in a source file also looks at the environment.
 *
 * The region is open from the first begin to the last end of all threads and processes of a run.
 * You may nest the calls, and enter the region as often as you like. Do not make the calls in a
 * signal handler.
 *
 * On macOS lauka counts only the threads that make the calls, each from its first begin to its last
 * end. A thread that begins must end what it began.
 *
 * Names that end with an underscore are internal. Do not use them.
 *
 * SPDX-License-Identifier: MIT (the terms of lauka itself, see its file LICENSE).
 */
#ifndef LAUKA_REGION_H
#define LAUKA_REGION_H

#include <stdint.h>

#if (defined(__linux__) || defined(__APPLE__)) && defined(__GNUC__)

/* lauka's own tests define this on Linux, too, and give the system's functions other names. */
#if defined(__APPLE__) && !defined(LAUKA_REGION_AS_ON_MACOS_)
#define LAUKA_REGION_AS_ON_MACOS_ 1
#endif

#include <sched.h>
#include <stdlib.h>
#if !defined(LAUKA_REGION_AS_ON_MACOS_)
#include <sys/ioctl.h>
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __cplusplus
#define LAUKA_REGION_C_ extern "C"
#define LAUKA_REGION_CAST_(type, value) static_cast<type>(value)
#define LAUKA_REGION_NULL_ nullptr
#if __cplusplus < 201103L
#undef LAUKA_REGION_NULL_
#define LAUKA_REGION_NULL_ NULL
#endif
#else
#define LAUKA_REGION_C_ extern
#define LAUKA_REGION_CAST_(type, value) ((type)(value))
#define LAUKA_REGION_NULL_ NULL
#endif

/* "LAUKAREG", and the version of what follows it. */
#define LAUKA_REGION_MAGIC_ \
  (LAUKA_REGION_CAST_(uint64_t, 0x4c41554bU) << 32U | LAUKA_REGION_CAST_(uint64_t, 0x41524547U))
#define LAUKA_REGION_VERSION_ 2U
#define LAUKA_REGION_MOST_COUNTERS_ 16
#define LAUKA_REGION_MOST_THREADS_ 64

/* A thread that is in the region. Used only on macOS, where each thread is counted by itself. */
struct lauka_region_thread_ {
  uint64_t id; /* 0: this place is free */
  uint64_t depth;
  uint64_t instructions; /* since the thread began to exist, read when it entered the region */
  uint64_t cycles;
};

/* The memory that lauka shares with all processes of a run. It is a file of this size in memory.
 * LAUKA_REGION contains the number of its descriptor. */
struct lauka_region_page_ {
  uint64_t magic;
  uint32_t version;
  uint32_t counters; /* number of groups of counters that a region switches on */
  int32_t descriptors[LAUKA_REGION_MOST_COUNTERS_]; /* of the leaders of these groups */

  uint32_t lock;  /* 0: free */
  uint32_t depth; /* number of begins that have no end yet; the region is open if it is above 0 */
  uint64_t began_ns;
  uint64_t time_ns;  /* time of all entries that have ended */
  uint64_t entries;  /* number of entries that have begun */
  uint64_t stray;    /* number of ends without a begin */
  uint64_t failures; /* number of switches that the system refused; from bit 32 on: lost locks */

  /* Used only on macOS, where each thread reads its own counts. */
  uint32_t counts_threads; /* not 0 if lauka wants the counts */
  uint32_t uncounted;      /* number of times that the counts of a thread were not known */
  uint64_t instructions;   /* of all threads that have left the region */
  uint64_t cycles;
};

/* The page and the places of all threads. */
struct lauka_region_memory_ {
  struct lauka_region_page_ page;
  struct lauka_region_thread_ threads[LAUKA_REGION_MOST_THREADS_];
};

#if defined(LAUKA_REGION_AS_ON_MACOS_)

/* Functions of libSystem. No header declares the first one, and strict C99 or POSIX hides the
 * others. If a system lacks the first one, there are no counts. */
#if !defined(LAUKA_REGION_SYMBOL_)
#define LAUKA_REGION_SYMBOL_(name) __asm__("_" name)
#define LAUKA_REGION_OPTIONAL_ __attribute__((weak_import))
#endif
LAUKA_REGION_C_ int lauka_region_self_counts_(uint32_t kind, void* counts, size_t size)
    LAUKA_REGION_SYMBOL_("thread_selfcounts") LAUKA_REGION_OPTIONAL_;
#define LAUKA_REGION_INSTRUCTIONS_AND_CYCLES_ 1U
LAUKA_REGION_C_ uint64_t lauka_region_clock_(unsigned clock)
    LAUKA_REGION_SYMBOL_("clock_gettime_nsec_np");
#define LAUKA_REGION_UPTIME_RAW_ 8U
LAUKA_REGION_C_ int lauka_region_thread_id_(void* thread, uint64_t* id)
    LAUKA_REGION_SYMBOL_("pthread_threadid_np");

static inline uint64_t lauka_region_now_(void) {
  return lauka_region_clock_(LAUKA_REGION_UPTIME_RAW_);
}

/* Returns true if a descriptor may be lauka's memory. On macOS, shared memory has no file type, and
 * its size is a multiple of the page size. */
static inline int lauka_region_is_page_(const struct stat* file) {
  const int has_type = (file->st_mode & 0170000) != 0; /* S_IFMT, which a strict C99 hides */
  return (!has_type || S_ISREG(file->st_mode)) && file->st_size <= 65536 &&
         LAUKA_REGION_CAST_(uint64_t, file->st_size) >= sizeof(struct lauka_region_memory_);
}

/* Returns the place of the thread with that id, or a free place if `id` is 0. Returns null if there
 * is none. */
static inline struct lauka_region_thread_* lauka_region_place_(struct lauka_region_page_* page,
                                                               uint64_t id) {
  struct lauka_region_memory_* memory =
      LAUKA_REGION_CAST_(struct lauka_region_memory_*, LAUKA_REGION_CAST_(void*, page));
  int i;
  for (i = 0; i < LAUKA_REGION_MOST_THREADS_; ++i)
    if (memory->threads[i].id == id) return &memory->threads[i];
  return LAUKA_REGION_NULL_;
}

/* Reads the counts of this thread. Returns false if they are not known. */
static inline int lauka_region_read_(uint64_t counts[2]) {
  return lauka_region_self_counts_ != LAUKA_REGION_NULL_ &&
         lauka_region_self_counts_(LAUKA_REGION_INSTRUCTIONS_AND_CYCLES_, counts,
                                   2 * sizeof(uint64_t)) == 0;
}

static __attribute__((noinline, unused)) void lauka_region_thread_enters_(
    struct lauka_region_page_* page) {
  uint64_t id = 0;
  uint64_t counts[2] = {0, 0};
  struct lauka_region_thread_* place;
  if (page->counts_threads == 0) return;
  lauka_region_thread_id_(LAUKA_REGION_NULL_, &id);
  place = lauka_region_place_(page, id);
  if (place == LAUKA_REGION_NULL_) place = lauka_region_place_(page, 0);
  if (place == LAUKA_REGION_NULL_ || id == 0) {
    ++page->uncounted;
    return;
  }
  place->id = id;
  if (place->depth++ != 0) return;
  if (!lauka_region_read_(counts)) ++page->uncounted;
  place->instructions = counts[0];
  place->cycles = counts[1];
}

static __attribute__((noinline, unused)) void lauka_region_thread_leaves_(
    struct lauka_region_page_* page) {
  uint64_t id = 0;
  uint64_t counts[2] = {0, 0};
  struct lauka_region_thread_* place;
  int is_read;
  if (page->counts_threads == 0) return;
  is_read = lauka_region_read_(counts); /* first, so that little of this is counted */
  lauka_region_thread_id_(LAUKA_REGION_NULL_, &id);
  place = id == 0 ? LAUKA_REGION_NULL_ : lauka_region_place_(page, id);
  if (place == LAUKA_REGION_NULL_) {
    ++page->uncounted;
    return;
  }
  if (--place->depth != 0) return;
  place->id = 0;
  if (!is_read) ++page->uncounted;
  page->instructions += counts[0] - place->instructions;
  page->cycles += counts[1] - place->cycles;
}

static inline void lauka_region_switch_on_(struct lauka_region_page_* page) {
  LAUKA_REGION_CAST_(void, page);
}

static inline void lauka_region_switch_off_(struct lauka_region_page_* page) {
  LAUKA_REGION_CAST_(void, page);
}

#else

struct lauka_region_time_ {
  long seconds;
  long nanoseconds;
};

/* Declared here, because the headers of strict C99 do not declare clock_gettime. */
LAUKA_REGION_C_ int lauka_region_clock_(int clock,
                                        struct lauka_region_time_* time) __asm__("clock_gettime");
#define LAUKA_REGION_MONOTONIC_ 1

static inline uint64_t lauka_region_now_(void) {
  struct lauka_region_time_ time = {0, 0};
  lauka_region_clock_(LAUKA_REGION_MONOTONIC_, &time);
  return LAUKA_REGION_CAST_(uint64_t, time.seconds) * 1000000000U +
         LAUKA_REGION_CAST_(uint64_t, time.nanoseconds);
}

/* Returns true if a descriptor may be lauka's memory. */
static inline int lauka_region_is_page_(const struct stat* file) {
  return S_ISREG(file->st_mode) &&
         LAUKA_REGION_CAST_(uint64_t, file->st_size) == sizeof(struct lauka_region_memory_);
}

/* Switches all groups of counters on or off. It is enough to switch the leader of a group, because
 * the members follow it. The call also reaches the copies that threads and children have. */
static inline void lauka_region_switch_(struct lauka_region_page_* page, unsigned long request) {
  uint32_t i;
  for (i = 0; i < page->counters && i < LAUKA_REGION_MOST_COUNTERS_; ++i)
    if (ioctl(page->descriptors[i], request, 0) != 0) ++page->failures;
}

static inline void lauka_region_switch_on_(struct lauka_region_page_* page) {
  lauka_region_switch_(page, _IO('$', 0)); /* PERF_EVENT_IOC_ENABLE */
}

static inline void lauka_region_switch_off_(struct lauka_region_page_* page) {
  lauka_region_switch_(page, _IO('$', 1)); /* PERF_EVENT_IOC_DISABLE */
}

static inline void lauka_region_thread_enters_(struct lauka_region_page_* page) {
  LAUKA_REGION_CAST_(void, page);
}

static inline void lauka_region_thread_leaves_(struct lauka_region_page_* page) {
  LAUKA_REGION_CAST_(void, page);
}

#endif

/* lauka_region_known_ is the page of this run, or null if lauka is missing. Until the first call
 * has found out, it points to lauka_region_unknown_. */
static struct lauka_region_page_ lauka_region_unknown_;
static struct lauka_region_page_* lauka_region_known_ = &lauka_region_unknown_;

/* Returns the page of this run. Returns null if lauka is missing, if it does not measure a region,
 * or if a program in between has closed its descriptors. Does not change another file that has the
 * same number. */
static inline struct lauka_region_page_* lauka_region_find_(void) {
  const char* text = getenv("LAUKA_REGION");
  struct stat file;
  struct lauka_region_page_* page;
  const size_t size = sizeof(struct lauka_region_memory_);
  void* memory;
  int descriptor;
  if (text == LAUKA_REGION_NULL_ || *text == '\0') return LAUKA_REGION_NULL_;
  if (getuid() != geteuid() || getgid() != getegid()) return LAUKA_REGION_NULL_;
  descriptor = atoi(text);
  if (descriptor <= 2 || fstat(descriptor, &file) != 0) return LAUKA_REGION_NULL_;
  if (!lauka_region_is_page_(&file)) return LAUKA_REGION_NULL_;
  memory = mmap(LAUKA_REGION_NULL_, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return LAUKA_REGION_NULL_;
  page = LAUKA_REGION_CAST_(struct lauka_region_page_*, memory);
  if (page->magic == LAUKA_REGION_MAGIC_ && page->version == LAUKA_REGION_VERSION_ &&
      page->counters <= LAUKA_REGION_MOST_COUNTERS_)
    return page;
  munmap(memory, size);
  return LAUKA_REGION_NULL_;
}

static __attribute__((noinline, unused)) struct lauka_region_page_* lauka_region_attach_(void) {
  struct lauka_region_page_* page = lauka_region_find_();
  __atomic_store_n(&lauka_region_known_, page, __ATOMIC_RELEASE);
  return page;
}

/* The lock makes entering and leaving single steps for all threads and processes. If a process is
 * killed while it holds the lock, another one takes the lock after a second, and lauka learns of
 * it. */
static __attribute__((noinline, unused)) void lauka_region_wait_(struct lauka_region_page_* page) {
  const uint64_t deadline = lauka_region_now_() + 1000000000U;
  while (__atomic_exchange_n(&page->lock, 1U, __ATOMIC_ACQUIRE) != 0) {
    if (lauka_region_now_() > deadline) {
      __atomic_add_fetch(&page->failures, LAUKA_REGION_CAST_(uint64_t, 1) << 32U, __ATOMIC_RELAXED);
      return;
    }
    sched_yield();
  }
}

static inline void lauka_region_lock_(struct lauka_region_page_* page) {
  if (__atomic_exchange_n(&page->lock, 1U, __ATOMIC_ACQUIRE) != 0) lauka_region_wait_(page);
}

static inline void lauka_region_unlock_(struct lauka_region_page_* page) {
  __atomic_store_n(&page->lock, 0U, __ATOMIC_RELEASE);
}

static __attribute__((noinline, unused)) void lauka_region_enter_(struct lauka_region_page_* page) {
  if (page == &lauka_region_unknown_) page = lauka_region_attach_();
  if (page == LAUKA_REGION_NULL_) return;
  lauka_region_lock_(page);
  if (page->depth++ == 0) {
    ++page->entries;
    page->began_ns = lauka_region_now_();
    lauka_region_switch_on_(page); /* last, so that little of this is counted */
  }
  lauka_region_thread_enters_(page);
  lauka_region_unlock_(page);
}

static __attribute__((noinline, unused)) void lauka_region_leave_(struct lauka_region_page_* page) {
  if (page == &lauka_region_unknown_) page = lauka_region_attach_();
  if (page == LAUKA_REGION_NULL_) return;
  lauka_region_lock_(page);
  lauka_region_thread_leaves_(page);
  if (page->depth == 0) {
    ++page->stray;
  } else if (--page->depth == 0) {
    lauka_region_switch_off_(page); /* first, for the same reason as above */
    page->time_ns += lauka_region_now_() - page->began_ns;
  }
  lauka_region_unlock_(page);
}

static inline void lauka_region_begin(void) {
  struct lauka_region_page_* page = __atomic_load_n(&lauka_region_known_, __ATOMIC_ACQUIRE);
  if (page != LAUKA_REGION_NULL_) lauka_region_enter_(page);
}

static inline void lauka_region_end(void) {
  struct lauka_region_page_* page = __atomic_load_n(&lauka_region_known_, __ATOMIC_ACQUIRE);
  if (page != LAUKA_REGION_NULL_) lauka_region_leave_(page);
}

#else

static inline void lauka_region_begin(void) {}
static inline void lauka_region_end(void) {}

#endif

#endif

/* The tightest loop that runs a program again and again: vfork, three dup2, execve, wait4. What a
   benchmark tool adds is measured against it. Medians are in nanoseconds, by both definitions of a
   run's start; with --end waitid the end is seen by waitid(WNOWAIT) before wait4 reaps, as tools do
   that want the time before the reaping. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#define vfork fork /* which it is there, under a name that is to go */
#endif

extern char** environ;

/* Written by the child, in memory that it shares with the loop even where vfork is fork. */
struct child_says {
  uint64_t execve_at;
  int exec_error;
};

struct loop {
  char** words;
  int null_device;
  int end_by_waitid;
  volatile struct child_says* child_says;
};

struct run {
  uint64_t from_vfork, from_execve;
  long maxrss;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* One run; never inlined, since vfork returns twice into its frame. 0: it exited with 0. */
__attribute__((noinline)) static int run_once(const struct loop* loop, struct run* run) {
  volatile struct child_says* const says = loop->child_says;
  says->exec_error = 0;
  const uint64_t vfork_at = now();
  const pid_t child = vfork();
  if (child == 0) {
    dup2(loop->null_device, 0);
    dup2(loop->null_device, 1);
    dup2(loop->null_device, 2);
    says->execve_at = now();
    execve(loop->words[0], loop->words, environ);
    says->exec_error = errno;
    _exit(127);
  }
  if (child < 0) {
    return -errno;
  }
  uint64_t end = 0;
  if (loop->end_by_waitid) {
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    end = now();
  }
  int status = 0;
  struct rusage usage;
  wait4(child, &status, 0, &usage);
  if (!loop->end_by_waitid) {
    end = now();
  }
  run->from_vfork = end - vfork_at;
  run->from_execve = end - says->execve_at;
  run->maxrss = usage.ru_maxrss;
  return says->exec_error != 0 ? -says->exec_error : status;
}

static int compare(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a;
  const uint64_t right = *(const uint64_t*)b;
  return left < right ? -1 : left > right;
}

static uint64_t median(uint64_t* values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* 0: all runs were made, and are printed. */
static int measure(const struct loop* loop, size_t runs, uint64_t* from_vfork,
                   uint64_t* from_execve) {
  long maxrss = 0;
  const uint64_t begin = now();
  for (size_t i = 0; i < runs; ++i) {
    struct run run = {0, 0, 0};
    const int status = run_once(loop, &run);
    if (status != 0) {
      fprintf(stderr, "bare_loop: %s: %s\n", loop->words[0],
              status < 0 ? strerror(-status) : "did not exit with status 0");
      return 1;
    }
    from_vfork[i] = run.from_vfork;
    from_execve[i] = run.from_execve;
    maxrss = run.maxrss > maxrss ? run.maxrss : maxrss;
  }
  const uint64_t whole = now() - begin;
  printf("from_vfork_ns %llu\n", (unsigned long long)median(from_vfork, runs));
  printf("from_execve_ns %llu\n", (unsigned long long)median(from_execve, runs));
  printf("runs_per_second %.1f\n", (double)runs * 1e9 / (double)whole);
  printf("largest_maxrss %ld\n", maxrss);
  return 0;
}

static int report(const struct loop* loop, size_t runs) {
  uint64_t* const both = calloc(2 * runs, sizeof *both);
  if (both == NULL) {
    fputs("bare_loop: not enough memory\n", stderr);
    return 1;
  }
  const int status = measure(loop, runs, both, both + runs);
  free(both);
  return status;
}

static int refuse(void) {
  fputs("usage: bare_loop [--end wait4|waitid] RUNS PROGRAM [ARGUMENT...]   (PROGRAM: a path)\n",
        stderr);
  return 2;
}

int main(int argc, char** argv) {
  struct loop loop = {NULL, -1, 0, NULL};
  int next = 1;
  if (argc > 2 && strcmp(argv[1], "--end") == 0) {
    loop.end_by_waitid = strcmp(argv[2], "waitid") == 0;
    if (!loop.end_by_waitid && strcmp(argv[2], "wait4") != 0) {
      return refuse();
    }
    next = 3;
  }
  if (argc < next + 2) {
    return refuse();
  }
  char* end = NULL;
  const long runs = strtol(argv[next], &end, 10);
  if (*end != '\0' || runs < 1 || runs > 100000000) {
    return refuse();
  }
  loop.words = argv + next + 1;
  loop.null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (loop.null_device < 0) {
    perror("bare_loop: /dev/null");
    return 1;
  }
  loop.child_says =
      mmap(NULL, sizeof *loop.child_says, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
  if (loop.child_says == MAP_FAILED) {
    perror("bare_loop: shared memory");
    return 1;
  }
  return report(&loop, (size_t)runs);
}

#pragma once

/* lauka/region.h and lauka/counters.h as on macOS, on functions that have other names than the
 * system's. */
#define LAUKA_REGION_AS_ON_MACOS_ 1
#define LAUKA_COUNTERS_AS_ON_MACOS_ 1
#ifdef __APPLE__
#define LAUKA_REGION_OPTIONAL_ __attribute__((weak_import))
#define LAUKA_REGION_SYMBOL_(name) __asm__("_lauka_model_" name)
#else
#define LAUKA_REGION_OPTIONAL_ __attribute__((weak))
#define LAUKA_REGION_SYMBOL_(name) __asm__("lauka_model_" name)
#endif
#define LAUKA_COUNTERS_OPTIONAL_ LAUKA_REGION_OPTIONAL_
#define LAUKA_COUNTERS_SYMBOL_(name) LAUKA_REGION_SYMBOL_(name)

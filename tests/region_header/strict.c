/* lauka/region.h and lauka/counters.h in the strictest C that they are for: that this compiles
 * without a warning is the test. */
#include <lauka/counters.h>
#include <lauka/region.h>

int lauka_region_header_in_c(void);

int lauka_region_header_in_c(void) {
  lauka_region_begin();
  lauka_region_end();
  return 0;
}

int lauka_counters_header_in_c(struct lauka_reading* reading);

int lauka_counters_header_in_c(struct lauka_reading* reading) {
  lauka_counters* counters = lauka_counters_begin();
  const int read = counters != NULL && lauka_counters_read(counters, reading);
  const int is_named = read && lauka_counters_kind_name(counters, 0) != NULL;
  const int counts = read && lauka_counters_why_not(counters) == NULL;
  lauka_counters_end(counters);
  return is_named + counts;
}

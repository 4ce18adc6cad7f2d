/* Whoever includes lauka/region.h or lauka/counters.h and uses nothing of it is not warned. */
#include <lauka/counters.h>
#include <lauka/region.h>

int lauka_region_header_is_unused(void);

int lauka_region_header_is_unused(void) {
  return 0;
}

/* Including lauka/region.h or lauka/counters.h without using it gives no warning. */
#include <lauka/counters.h>
#include <lauka/region.h>

int lauka_region_header_is_unused(void);

int lauka_region_header_is_unused(void) {
  return 0;
}

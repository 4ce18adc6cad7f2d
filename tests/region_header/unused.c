/* Whoever includes lauka/region.h and uses nothing of it is not warned. */
#include <lauka/region.h>

int lauka_region_header_is_unused(void);

int lauka_region_header_is_unused(void) {
  return 0;
}
